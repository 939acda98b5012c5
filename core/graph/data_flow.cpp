#include "graph/data_flow.h"

namespace rewright {

DataFlow::DataFlow(const Graph& graph) : first_in_{0} {
  std::vector<std::uint32_t> uses(graph.nodes().size() + 1, 0);
  for (std::uint32_t user = 0; user < graph.nodes().size(); ++user) {
    const auto& operands = graph.nodes()[user].inputs;
    for (std::uint32_t i = 0; i < operands.size(); ++i) {
      in_.push_back({operands[i].node.value, user, operands[i].output, i});
      ++uses[operands[i].node.value + 1];
    }
    first_in_.push_back(static_cast<std::uint32_t>(in_.size()));
  }
  for (std::size_t i = 1; i < uses.size(); ++i) uses[i] += uses[i - 1];
  first_out_ = uses;
  out_.resize(in_.size());
  for (const Edge& edge : in_) out_[uses[edge.from]++] = edge;
}

}  // namespace rewright
