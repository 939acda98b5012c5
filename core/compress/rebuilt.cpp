#include "compress/rebuilt.h"

#include <utility>

namespace rewright::compress {

Result<Rebuilt> rebuild(const Graph& graph, const Replacements& replacements) {
  GraphBuilder builder;
  std::vector<NodeId> now;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back({now[port.node.value], port.output});
    if (const auto found = replacements.constants.find({i}); found != replacements.constants.end()) {
      REWRIGHT_TRY(const Port port, builder.input(node.name, found->second->type, InputKind::kWeight, found->second));
      now.push_back(port.node);
    } else if (node.is_input()) {
      REWRIGHT_TRY(const Port port,
                   builder.input(node.name, node.outputs[0], node.input()->kind, node.input()->constant));
      now.push_back(port.node);
    } else if (const auto params = replacements.params.find({i}); params != replacements.params.end()) {
      REWRIGHT_TRY(const auto ports,
                   builder.apply(*node.application()->op, params->second, std::move(operands), node.name));
      now.push_back(ports[0].node);
    } else {
      REWRIGHT_TRY(const auto ports, builder.copy(node, std::move(operands)));
      now.push_back(ports[0].node);
    }
  }
  for (std::size_t k = 0; k < graph.outputs().size(); ++k) {
    const Port port = graph.outputs()[k];
    builder.output({now[port.node.value], port.output},
                   k < graph.output_names().size() ? graph.output_names()[k] : std::string());
  }
  Graph rebuilt = builder.finish();
  if (rebuilt.nodes().size() != graph.nodes().size())
    return make_error(ErrorCode::kInternal, "a compressed graph has {} nodes, and the original {}",
                      rebuilt.nodes().size(), graph.nodes().size());
  return Rebuilt{std::move(rebuilt), std::move(now)};
}

}  // namespace rewright::compress
