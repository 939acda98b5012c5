#include "onnx/unused.h"

namespace rewright::model {

Result<Graph> without_unused_weights(const Graph& graph) {
  std::vector<bool> used(graph.nodes().size(), false);
  for (const Node& node : graph.nodes()) {
    for (const Port& port : node.inputs) used[port.node.value] = true;
  }
  for (const Port& port : graph.outputs()) used[port.node.value] = true;

  GraphBuilder builder;
  std::vector<std::vector<Port>> ports(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back(ports[port.node.value][port.output]);
    if (node.is_weight() && !used[i]) continue;
    REWRIGHT_TRY(ports[i], builder.copy(node, std::move(operands)));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Port port = graph.outputs()[i];
    builder.output(ports[port.node.value][port.output], graph.output_names()[i]);
  }
  return builder.finish();
}

}  // namespace rewright::model
