#include <rewright/optimize/kernel.h>

#include <algorithm>
#include <utility>

namespace rewright {

void OwnedKernel::add(Part part) {
  part.sources.resize(part.in.size());
  const Part& kept = *parts_.emplace_back(std::make_unique<const Part>(std::move(part)));
  applications_.push_back({*kept.op, kept.params, kept.in, kept.kinds, kept.orders});
  sources_.insert(sources_.end(), kept.sources.begin(), kept.sources.end());
}

OwnedKernel kernel_of(const Graph& graph, std::span<const NodeId> nodes) {
  OwnedKernel kernel;
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    const ApplicationNode& application = *node.application();
    OwnedKernel::Part part{application.op, application.params, {}, {}};
    for (const Port& port : node.inputs) {
      part.in.push_back(graph.shape(port));
      part.kinds.push_back(graph.node(port.node).is_weight() ? InputKind::kWeight : InputKind::kData);
      const auto maker = std::ranges::find(nodes, port.node);
      const bool is_outside = maker == nodes.end();
      part.sources.push_back(is_outside
                                 ? Kernel::Source{}
                                 : Kernel::Source{static_cast<std::uint32_t>(maker - nodes.begin()), port.output});
    }
    kernel.add(std::move(part));
  }
  return kernel;
}

std::vector<Kernel::Source> chain_sources(std::span<const Application> applications,
                                          std::span<const std::uint32_t> joined) {
  std::vector<Kernel::Source> sources;
  for (std::uint32_t i = 0; i < applications.size(); ++i)
    for (std::size_t k = 0; k < applications[i].in.size(); ++k)
      sources.push_back(i > 0 && joined[i - 1] == k ? Kernel::Source{i - 1, 0} : Kernel::Source{});
  return sources;
}

}  // namespace rewright
