#include "optimize/tensor_classes.h"

#include <algorithm>
#include <unordered_map>

namespace rewright {

void TensorClasses::grow() {
  while (first_.size() < pool_->size()) {
    const auto node = static_cast<std::uint32_t>(first_.size());
    first_.push_back(tensor_count());
    for (std::uint32_t output = 0; output < pool_->signature(node).out.size(); ++output) {
      ports_.push_back({{node}, output});
      parent_.push_back(tensor_count());
      makers_.push_back({{node, output}});
    }
    alive_.push_back(true);
    filtered_.push_back(false);
  }
}

bool TensorClasses::unite(Port a, Port b) {
  std::uint32_t older = find(a), newer = find(b);
  if (older == newer) return false;
  if (newer < older) std::swap(older, newer);
  parent_[newer] = older;
  makers_[older].insert(makers_[older].end(), makers_[newer].begin(), makers_[newer].end());
  makers_[newer].clear();
  return true;
}

void TensorClasses::close() {
  std::unordered_map<WordKey, std::uint32_t> nodes;
  WordKey key;
  for (bool joined = true; joined;) {
    joined = false;
    nodes.clear();
    for (std::uint32_t node = 0; node < node_count(); ++node) {
      if (filtered_[node]) continue;
      key.assign(1, static_cast<char32_t>(pool_->node(node).label));
      for (const Port port : pool_->operands(node)) key.push_back(static_cast<char32_t>(find(port)));
      if (pool_->is_commuting(node) && key[2] < key[1]) std::swap(key[1], key[2]);
      const auto [entry, is_new] = nodes.try_emplace(key, node);
      alive_[node] = is_new;
      if (is_new) continue;
      for (std::uint32_t output = 0; output < pool_->signature(node).out.size(); ++output)
        if (unite({{node}, output}, {{entry->second}, output})) joined = true;
    }
  }
  for (std::uint32_t tensor = 0; tensor < tensor_count(); ++tensor) {  // Shorter ways from now on.
    parent_[tensor] = find(tensor);
  }
  makers_.assign(tensor_count(), {});
  for (std::uint32_t tensor = 0; tensor < tensor_count(); ++tensor)
    if (alive_[ports_[tensor].node.value])
      makers_[parent_[tensor]].emplace_back(ports_[tensor].node.value, ports_[tensor].output);
}

}  // namespace rewright
