#include "optimize/hash_slopes.h"

namespace rewright {

void HashSlopes::open(std::span<const std::uint32_t> nodes, std::span<const Port> outputs) {
  if (first_.size() < pool_.size()) first_.resize(pool_.size());
  std::uint32_t tensors = 0;
  for (const std::uint32_t node : nodes) {
    first_[node] = tensors;
    tensors += static_cast<std::uint32_t>(pool_.signature(node).out.size());
  }
  slopes_.assign(tensors, Field());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    slopes_[first_[outputs[i].node.value] + outputs[i].output] += NodePool::output_slope(i);
  for (std::size_t i = nodes.size(); i-- > 0;) {  // Users before what they use.
    const std::uint32_t node = nodes[i];
    Field slope;
    for (std::size_t output = 0; output < pool_.signature(node).out.size(); ++output)
      slope += slopes_[first_[node] + output];
    const auto operands = pool_.operands(node);
    for (std::size_t k = 0; k < operands.size(); ++k)
      slopes_[first_[operands[k].node.value] + operands[k].output] +=
          pool_.hash_slope(pool_.node(node).label, k) * slope;
  }
  hash_ = pool_.hash_of(outputs);
}

Field HashSlopes::after(std::span<const std::pair<Port, Port>> replaced) const {
  Field hash = hash_;
  for (const auto& [before, now] : replaced)
    hash += slopes_[first_[before.node.value] + before.output] * (pool_.hash_of(now) - pool_.hash_of(before));
  return hash;
}

}  // namespace rewright
