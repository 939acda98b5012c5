#include "compile/known_weights.h"

#include <memory>
#include <set>
#include <vector>

#include "onnx/fold.h"

namespace rewright::compile {

Result<Graph> with_known_weights(const Graph& graph, const ImportedModel& model) {
  const ExportOptions options;
  model::Folder folder(graph, model, options);
  const std::size_t count = graph.nodes().size();
  std::vector<bool> is_needed(count, false), is_folded(count, false);
  for (const Port& port : graph.outputs()) is_needed[port.node.value] = true;
  for (std::size_t i = count; i-- > 0;) {
    const NodeId id{static_cast<std::uint32_t>(i)};
    if (!is_needed[i]) continue;
    if (folder.is_known(id)) {
      REWRIGHT_TRY(is_folded[i], folder.fold(id));
    }
    if (is_folded[i]) continue;
    for (const Port& port : graph.node(id).inputs) is_needed[port.node.value] = true;
  }
  GraphBuilder builder;
  std::set<std::string> taken;
  for (const Node& node : graph.nodes())
    if (node.is_input()) taken.insert(node.name);
  std::vector<std::vector<Port>> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = graph.nodes()[i];
    if (!is_needed[i] && !node.is_data()) continue;
    if (!is_folded[i]) {
      std::vector<Port> operands;
      for (const Port& port : node.inputs) operands.push_back(made[port.node.value][port.output]);
      REWRIGHT_TRY(made[i], builder.copy(node, std::move(operands)));
      continue;
    }
    for (std::uint32_t k = 0; k < node.outputs.size(); ++k) {
      const ConstantData& value = folder.values().at({{static_cast<std::uint32_t>(i)}, k});
      std::string name = node.name.empty() ? "known" : node.name;
      while (!taken.insert(name).second) name += '_';
      REWRIGHT_TRY(const Port port, builder.input(std::move(name), node.outputs[k], InputKind::kWeight,
                                                  std::make_shared<const ConstantData>(value)));
      made[i].push_back(port);
    }
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Port port = graph.outputs()[i];
    builder.output(made[port.node.value][port.output],
                   graph.output_names().empty() ? std::string() : graph.output_names()[i]);
  }
  return builder.finish();
}

}  // namespace rewright::compile
