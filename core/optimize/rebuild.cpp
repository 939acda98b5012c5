#include "optimize/rebuild.h"

#include <string>
#include <utility>

namespace rewright {

Result<Graph> rebuild(const Graph& graph, const RemakeApplication& application, const RemakeConstant& constant) {
  GraphBuilder builder;
  std::vector<std::vector<Port>> made(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<Port> operands;
    for (Port operand : node.inputs) operands.push_back(made[operand.node.value][operand.output]);
    if (node.is_input() && constant) {
      REWRIGHT_TRY(auto value, constant(node));
      REWRIGHT_TRY(const Port port, builder.input(node.name, node.outputs[0], node.input()->kind, std::move(value)));
      made[i] = {port};
    } else if (node.application() && application) {
      REWRIGHT_TRY(made[i], application(builder, NodeId{i}, std::move(operands)));
    } else {
      REWRIGHT_TRY(made[i], builder.copy(node, std::move(operands)));
    }
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Port port = graph.outputs()[i];
    builder.output(made[port.node.value][port.output],
                   graph.output_names().empty() ? std::string() : graph.output_names()[i]);
  }
  return builder.finish();
}

}  // namespace rewright
