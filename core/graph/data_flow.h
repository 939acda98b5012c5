// Graphs as Boost.Graph sees them: DataFlow models BidirectionalGraph, AdjacencyGraph, VertexListGraph and
// EdgeListGraph, so that Boost.Graph's algorithms run on a Graph as it is.
//
//     DataFlow flow(graph);
//     std::vector<std::size_t> order;
//     boost::topological_sort(flow, std::back_inserter(order));
//
// Vertices are node ids. There is an edge per operand, from the node that makes it to the node that uses it; a node
// that uses a tensor twice has two parallel edges. The index of edges is built once, in linear time; the graph itself
// is neither copied nor needed afterwards.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <boost/graph/adjacency_iterator.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>

#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rewright {

class REWRIGHT_API DataFlow {
 public:
  using Vertex = std::size_t;  ///< NodeId::value, as wide as Boost.Graph's own vertices.
  struct Edge {
    Vertex from = 0;
    Vertex to = 0;
    std::uint32_t output = 0;   ///< Of `from`.
    std::uint32_t operand = 0;  ///< Position among the operands of `to`.
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  explicit DataFlow(const Graph& graph);

  [[nodiscard]] Vertex vertex_count() const { return static_cast<Vertex>(first_in_.size() - 1); }
  /// All edges, by user and operand.
  [[nodiscard]] std::span<const Edge> all() const { return in_; }
  /// In the order of operands.
  [[nodiscard]] std::span<const Edge> into(Vertex vertex) const { return part(in_, first_in_, vertex); }
  /// In the order of users.
  [[nodiscard]] std::span<const Edge> out_of(Vertex vertex) const { return part(out_, first_out_, vertex); }

 private:
  static std::span<const Edge> part(const std::vector<Edge>& edges, const std::vector<std::uint32_t>& first, Vertex v) {
    return std::span(edges).subspan(first[v], first[v + 1] - first[v]);
  }

  std::vector<Edge> in_;
  std::vector<Edge> out_;
  std::vector<std::uint32_t> first_in_;
  std::vector<std::uint32_t> first_out_;
};

}  // namespace rewright

namespace boost {

template <>
struct graph_traits<rewright::DataFlow> {
  struct traversal_category : public bidirectional_graph_tag,
                              public adjacency_graph_tag,
                              public vertex_list_graph_tag,
                              public edge_list_graph_tag {};
  using vertex_descriptor = rewright::DataFlow::Vertex;
  using edge_descriptor = rewright::DataFlow::Edge;
  using directed_category = bidirectional_tag;
  using edge_parallel_category = allow_parallel_edge_tag;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  using vertex_iterator = counting_iterator<vertex_descriptor>;
  using edge_iterator = const edge_descriptor*;
  using out_edge_iterator = const edge_descriptor*;
  using in_edge_iterator = const edge_descriptor*;
  using adjacency_iterator =
      adjacency_iterator_generator<rewright::DataFlow, vertex_descriptor, out_edge_iterator>::type;
  static constexpr vertex_descriptor null_vertex() { return static_cast<vertex_descriptor>(-1); }
};

template <>
struct property_map<rewright::DataFlow, vertex_index_t> {
  using type = typed_identity_property_map<rewright::DataFlow::Vertex>;
  using const_type = type;
};

}  // namespace boost

namespace rewright {

// Found by Boost.Graph through their argument.
using FlowTraits = boost::graph_traits<DataFlow>;

inline std::pair<FlowTraits::vertex_iterator, FlowTraits::vertex_iterator> vertices(const DataFlow& flow) {
  return {FlowTraits::vertex_iterator(0), FlowTraits::vertex_iterator(flow.vertex_count())};
}
inline FlowTraits::vertices_size_type num_vertices(const DataFlow& flow) { return flow.vertex_count(); }

namespace detail {
inline std::pair<const DataFlow::Edge*, const DataFlow::Edge*> bounds(std::span<const DataFlow::Edge> edges) {
  return {edges.data(), edges.data() + edges.size()};
}
}  // namespace detail

inline auto edges(const DataFlow& flow) { return detail::bounds(flow.all()); }
inline FlowTraits::edges_size_type num_edges(const DataFlow& flow) { return flow.all().size(); }
inline auto out_edges(DataFlow::Vertex vertex, const DataFlow& flow) { return detail::bounds(flow.out_of(vertex)); }
inline auto in_edges(DataFlow::Vertex vertex, const DataFlow& flow) { return detail::bounds(flow.into(vertex)); }
inline FlowTraits::degree_size_type out_degree(DataFlow::Vertex v, const DataFlow& flow) {
  return flow.out_of(v).size();
}
inline FlowTraits::degree_size_type in_degree(DataFlow::Vertex v, const DataFlow& flow) { return flow.into(v).size(); }
inline FlowTraits::degree_size_type degree(DataFlow::Vertex v, const DataFlow& flow) {
  return in_degree(v, flow) + out_degree(v, flow);
}
inline DataFlow::Vertex source(const DataFlow::Edge& edge, const DataFlow&) { return edge.from; }
inline DataFlow::Vertex target(const DataFlow::Edge& edge, const DataFlow&) { return edge.to; }
inline std::pair<FlowTraits::adjacency_iterator, FlowTraits::adjacency_iterator> adjacent_vertices(
    DataFlow::Vertex vertex, const DataFlow& flow) {
  const auto [first, last] = out_edges(vertex, flow);
  return {FlowTraits::adjacency_iterator(first, &flow), FlowTraits::adjacency_iterator(last, &flow)};
}
inline boost::typed_identity_property_map<DataFlow::Vertex> get(boost::vertex_index_t, const DataFlow&) { return {}; }
inline DataFlow::Vertex get(boost::vertex_index_t, const DataFlow&, DataFlow::Vertex vertex) { return vertex; }

}  // namespace rewright
