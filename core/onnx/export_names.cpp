// Names of a graph that is written as it stands: weights keep theirs, and what an application makes gets its name.
#include "onnx/exporter.h"

namespace rewright {

using namespace model;

/// Of weights, and of applications where they are not taken: "name", or "name.0", "name.1" for several outputs.
void Exporter::reserve_wishes() {
  for (const NodeId id : graph_.inputs()) taken_.insert(graph_.node(id).name);
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const Node& node = graph_.nodes()[i];
    if (!node.application() || node.name.empty()) continue;
    for (std::uint32_t output = 0; output < node.outputs.size(); ++output) {
      std::string name = node.outputs.size() == 1 ? node.name : fmt::format("{}.{}", node.name, output);
      const bool is_output = graph_.outputs().size() == graph_.output_names().size() &&
                             std::ranges::find(graph_.output_names(), name) != graph_.output_names().end();
      if (!is_output && taken_.insert(name).second) wishes_.emplace(Port{NodeId{i}, output}, std::move(name));
    }
  }
}

/// Tensors that an operator passes through keep the names that they have.
void Exporter::wish_names(NodeId id) {
  for (std::uint32_t i = 0; i < graph_.node(id).outputs.size(); ++i) {
    const auto wish = wishes_.find(Port{id, i});
    if (wish == wishes_.end()) continue;
    const std::string& name = names_.at(wish->first);
    if (own_tensors_.contains(name)) wished_.insert_or_assign(name, wish->second);
  }
}

void Exporter::grant_wishes() {
  rename(wished_);
  for (const auto& [before, now] : wished_) {
    own_tensors_.erase(before);
    own_tensors_.insert(now);
  }
}

/// Its name was reserved for it.
std::string Exporter::weight_as_written(const Node& node) {
  taken_.erase(node.name);
  return initializer(*node.constant(), node.name);
}

}  // namespace rewright
