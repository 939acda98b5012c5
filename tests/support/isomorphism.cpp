// Isomorphism and the canonical form. Both rest on a hash of what each node computes, taken over its operands' hashes,
// those of a commutative operator in sorted order.
#include "support/isomorphism.h"

#include "graph/data_flow.h"

#define XXH_INLINE_ALL
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/vf2_sub_graph_iso.hpp>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace rewright {

namespace {

Hash128 hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string text_of(const TensorType& type) {
  return fmt::format("{}{}", static_cast<int>(type.element), to_string(type.shape));
}

std::string text_of(const ConstantData& constant) {
  if (const auto* number = std::get_if<double>(&constant.value)) return fmt::format("all {}", *number);
  const auto& bytes = std::get<std::vector<std::byte>>(constant.value);
  return to_string(hash_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

bool is_commutative(const Node& node) {
  return node.application() && node.application()->op->info().commutative && node.inputs.size() >= 2;
}

// What a node is, its operands aside. `position` among the inputs, where that counts.
std::string label_of(const Node& node, std::optional<std::size_t> position) {
  std::string label;
  if (node.is_input()) {
    label = node.is_weight() ? "weight" : "input";
    if (position) label += fmt::format(" {}", *position);
    if (node.constant()) label += " = " + text_of(*node.constant());
  } else if (const OpaqueNode* opaque = node.opaque()) {
    label = fmt::format("opaque {} {}", opaque->type, to_string(hash_of(opaque->serialized)));
  } else {
    label = rewright::to_string(*node.application());
  }
  label += fmt::format(" {}", node.inputs.size());
  for (const TensorType& type : node.outputs) label += " " + text_of(type);
  return label;
}

std::vector<Hash128> node_hashes(const Graph& graph, InputMatching inputs) {
  std::vector<Hash128> hashes;
  hashes.reserve(graph.nodes().size());
  std::size_t position = 0;
  for (const Node& node : graph.nodes()) {
    std::optional<std::size_t> counted;
    if (node.is_input() && inputs == InputMatching::kByPosition) counted = position++;
    std::vector<std::string> operands;
    for (const Port port : node.inputs)
      operands.push_back(fmt::format("{}.{}", to_string(hashes[port.node.value]), port.output));
    if (is_commutative(node) && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
    hashes.push_back(hash_of(fmt::format("{}({})", label_of(node, counted), fmt::join(operands, ","))));
  }
  return hashes;
}

// --- isomorphism -----------------------------------------------------------------------------------------------

// One vertex per node and per output of the graph, coloured by its hash; parallel edges joined, coloured by all that
// they carry: the operand's position (0 for either operand that may be exchanged) and the output of the node it comes
// from.
struct Coloured {
  using EdgeColour = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  using Net = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                    boost::property<boost::vertex_name_t, Hash128>,
                                    boost::property<boost::edge_name_t, EdgeColour>>;

  static Net net(const Graph& graph, InputMatching inputs) {
    const std::vector<Hash128> hashes = node_hashes(graph, inputs);
    Net net(graph.nodes().size() + graph.outputs().size());
    const auto colour = boost::get(boost::vertex_name, net);
    std::map<std::pair<std::size_t, std::size_t>, EdgeColour> edges;
    for (std::size_t user = 0; user < graph.nodes().size(); ++user) {
      const Node& node = graph.nodes()[user];
      colour[user] = hashes[user];
      for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
        const std::uint32_t place = is_commutative(node) && i < 2 ? 0 : i;
        edges[{node.inputs[i].node.value, user}].emplace_back(place, node.inputs[i].output);
      }
    }
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      const std::size_t vertex = graph.nodes().size() + i;
      colour[vertex] = hash_of(fmt::format("output {}", i));
      edges[{graph.outputs()[i].node.value, vertex}].emplace_back(0, graph.outputs()[i].output);
    }
    for (auto& [ends, carried] : edges) {
      std::sort(carried.begin(), carried.end());
      boost::add_edge(ends.first, ends.second, std::move(carried), net);
    }
    return net;
  }

  static std::vector<Hash128> sorted_colours(const Net& net) {
    std::vector<Hash128> colours;
    for (std::size_t i = 0; i < boost::num_vertices(net); ++i)
      colours.push_back(boost::get(boost::vertex_name, net, i));
    std::sort(colours.begin(), colours.end());
    return colours;
  }
};

}  // namespace

bool isomorphic(const Graph& a, const Graph& b, InputMatching inputs) {
  if (a.nodes().size() != b.nodes().size() || a.inputs().size() != b.inputs().size() ||
      a.outputs().size() != b.outputs().size())
    return false;
  const Coloured::Net left = Coloured::net(a, inputs), right = Coloured::net(b, inputs);
  if (boost::num_edges(left) != boost::num_edges(right)) return false;
  if (Coloured::sorted_colours(left) != Coloured::sorted_colours(right)) return false;
  const auto found = [](const auto&, const auto&) { return false; };  // One is enough.
  return boost::vf2_graph_iso(
      left, right, found, boost::vertex_order_by_mult(left),
      boost::edges_equivalent(
          boost::make_property_map_equivalent(boost::get(boost::edge_name, left), boost::get(boost::edge_name, right)))
          .vertices_equivalent(boost::make_property_map_equivalent(boost::get(boost::vertex_name, left),
                                                                   boost::get(boost::vertex_name, right))));
}

// --- canonical form --------------------------------------------------------------------------------------------

namespace {

// Copies nodes of one graph into another, operands first.
class Copy {
 public:
  explicit Copy(const Graph& from) : from_(from), ports_(from.nodes().size()) {
    for (std::size_t i = 0; i < from.inputs().size(); ++i) {
      const Node& node = from.node(from.inputs()[i]);
      ports_[from.inputs()[i].value] = {
          *builder_.input(fmt::format("x{}", i), node.outputs.front(), node.input()->kind, node.constant())};
    }
  }

  void node(NodeId id, const std::vector<Port>& operands) {
    const Node& node = from_.node(id);
    std::vector<Port> moved;
    for (const Port port : operands) moved.push_back(ports_[port.node.value][port.output]);
    ports_[id.value] = node.opaque() ? builder_.opaque(*node.opaque(), std::move(moved), node.outputs)
                                     : *builder_.apply(*node.application(), std::move(moved));
  }

  Graph finish() {
    for (const Port port : from_.outputs()) builder_.output(ports_[port.node.value][port.output]);
    return builder_.finish();
  }

 private:
  const Graph& from_;
  GraphBuilder builder_;
  std::vector<std::vector<Port>> ports_;
};

Graph with_sorted_operands(const Graph& graph) {
  const std::vector<Hash128> hashes = node_hashes(graph, InputMatching::kByPosition);
  const auto key = [&](Port port) { return std::tuple(hashes[port.node.value], port.output); };
  Copy copy(graph);
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.is_input()) continue;
    std::vector<Port> operands = node.inputs;
    if (is_commutative(node) && key(operands[1]) < key(operands[0])) std::swap(operands[0], operands[1]);
    copy.node(NodeId{i}, operands);
  }
  return copy.finish();
}

struct FinishOrder : boost::default_dfs_visitor {
  explicit FinishOrder(std::vector<NodeId>& order) : order(&order) {}
  template <class Flow>
  void finish_vertex(DataFlow::Vertex vertex, const Flow&) {
    order->push_back(NodeId{static_cast<std::uint32_t>(vertex)});
  }
  std::vector<NodeId>* order;
};

Graph in_reading_order(const Graph& graph) {
  const DataFlow flow(graph);
  const auto upstream = boost::make_reverse_graph(flow);
  std::vector<boost::default_color_type> colours(flow.vertex_count(), boost::white_color);
  const auto colour = boost::make_iterator_property_map(colours.begin(), get(boost::vertex_index, flow));
  std::vector<NodeId> order;
  for (const Port port : graph.outputs()) {
    if (colours[port.node.value] == boost::white_color)
      boost::depth_first_visit(upstream, port.node.value, FinishOrder(order), colour);
  }
  Copy copy(graph);
  for (const NodeId id : order) {
    if (!graph.node(id).is_input()) copy.node(id, graph.node(id).inputs);
  }
  return copy.finish();
}

}  // namespace

Graph canonical(const Graph& graph) { return in_reading_order(with_sorted_operands(graph)); }

}  // namespace rewright
