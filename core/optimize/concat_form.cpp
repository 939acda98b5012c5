#include "optimize/concat_form.h"

#include <utility>
#include <vector>

#include "optimize/rebuild.h"

namespace rewright {
namespace {

using Ports = std::vector<Port>;
bool is_concat(const Node& node) { return node.op != nullptr && node.op->name() == "concat"; }

}  // namespace

Result<Graph> split_concats(const Graph& graph) {
  return rebuild(graph, [&](GraphBuilder& builder, NodeId id, Ports operands) -> Result<Ports> {
    const Node& node = graph.node(id);
    if (!is_concat(node) || operands.size() <= 2)
      return builder.apply(*node.op, node.params, std::move(operands), node.name);
    Ports joined = {operands[0]};
    for (std::size_t k = 1; k < operands.size(); ++k) {
      REWRIGHT_TRY(joined, builder.apply(*node.op, node.params, {joined[0], operands[k]},
                                         k + 1 == operands.size() ? node.name : std::string()));
    }
    return joined;
  });
}

Result<Graph> join_concats(const Graph& graph) {
  std::vector<int> uses(graph.nodes().size(), 0);
  for (const Node& node : graph.nodes())
    for (Port operand : node.inputs) ++uses[operand.node.value];
  for (Port port : graph.outputs()) ++uses[port.node.value];

  std::vector<Ports> parts(graph.nodes().size());  // Of each concat: its operands in the new graph, chains written out.
  return rebuild(graph, [&](GraphBuilder& builder, NodeId id, Ports operands) -> Result<Ports> {
    const Node& node = graph.node(id);
    if (!is_concat(node)) return builder.apply(*node.op, node.params, std::move(operands), node.name);
    Ports& all = parts[id.value];
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const NodeId maker = node.inputs[k].node;
      const bool chained =
          is_concat(graph.node(maker)) && graph.node(maker).params == node.params && uses[maker.value] == 1;
      if (chained) {
        all.insert(all.end(), parts[maker.value].begin(), parts[maker.value].end());
      } else {
        all.push_back(operands[k]);
      }
    }
    return builder.apply(*node.op, node.params, all, node.name);  // What was made of its parts is dropped by finish().
  });
}

}  // namespace rewright
