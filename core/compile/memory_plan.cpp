#include "compile/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace rewright::compile {
namespace {

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> buffers) {
  MemoryPlan plan;
  plan.offsets.resize(buffers.size());
  std::vector<std::size_t> order(buffers.size()), placed;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return buffers[i].bytes; });
  for (const std::size_t i : order) {
    std::int64_t offset = 0;
    for (const std::size_t other : placed) {  // By ascending offset.
      if (!meet(buffers[i], buffers[other])) continue;
      if (offset + buffers[i].bytes <= plan.offsets[other]) break;
      offset = std::max(offset, aligned(plan.offsets[other] + buffers[other].bytes));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, aligned(offset + buffers[i].bytes));
    placed.insert(std::ranges::upper_bound(placed, offset, {}, [&](std::size_t p) { return plan.offsets[p]; }), i);
  }
  return plan;
}

}  // namespace rewright::compile
