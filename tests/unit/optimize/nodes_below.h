#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "rewrite/node_pool.h"

namespace rewright::testing {

/// The nodes that these tensors are made from, ascending: operands first.
inline std::vector<std::uint32_t> nodes_below(const NodePool& pool, const std::vector<Port>& ports) {
  std::set<std::uint32_t> found;
  std::vector<std::uint32_t> open;
  for (const Port port : ports) open.push_back(port.node.value);
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (!found.insert(node).second) continue;
    for (const Port port : pool.operands(node)) open.push_back(port.node.value);
  }
  return {found.begin(), found.end()};
}

}  // namespace rewright::testing
