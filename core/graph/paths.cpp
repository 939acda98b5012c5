// Reachability and post-dominators.
#include "graph/data_flow.h"
#include "graph/graph_algorithms.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/transitive_closure.hpp>

namespace rewright {

Reachability::Reachability(const Graph& graph) : nodes_(graph.nodes().size()), bits_(nodes_ * nodes_, false) {
  const DataFlow flow(graph);
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> closure;
  boost::transitive_closure(flow, closure);
  for (auto [edge, end] = boost::edges(closure); edge != end; ++edge)
    bits_[boost::source(*edge, closure) * nodes_ + boost::target(*edge, closure)] = true;
}

std::vector<std::optional<NodeId>> post_dominators(const Graph& graph) {
  // Turned round, with one more vertex that stands for the end and reaches every output.
  using Net = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  const std::size_t end = graph.nodes().size();
  Net net(end + 1);
  const DataFlow flow(graph);
  for (const DataFlow::Edge& edge : flow.all()) boost::add_edge(edge.to, edge.from, net);
  for (const Port port : graph.outputs()) boost::add_edge(end, port.node.value, net);

  std::vector<Net::vertex_descriptor> dominator(end + 1, Net::null_vertex());
  boost::lengauer_tarjan_dominator_tree(
      net, end, boost::make_iterator_property_map(dominator.begin(), boost::get(boost::vertex_index, net)));
  std::vector<std::optional<NodeId>> result(end);
  for (std::size_t i = 0; i < end; ++i) {
    if (dominator[i] != Net::null_vertex() && dominator[i] != end)
      result[i] = NodeId{static_cast<std::uint32_t>(dominator[i])};
  }
  return result;
}

}  // namespace rewright
