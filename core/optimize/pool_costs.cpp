#include "optimize/pool_costs.h"

#include <algorithm>
#include <cmath>

namespace rewright {
namespace {

constexpr double kUnitsPerUs = 1 << 30;
constexpr std::int64_t kMost = std::int64_t{1} << 52;

std::int64_t to_units(double us) {
  const double units = us * kUnitsPerUs;
  return units < static_cast<double>(kMost) ? std::llround(units) : kMost;
}

}  // namespace

double PoolCosts::to_us(std::int64_t units) { return static_cast<double>(units) / kUnitsPerUs; }

Result<std::int64_t> PoolCosts::of_signature(SignatureId signature) {
  if (known_.size() <= signature) known_.resize(pool_.signature_count(), -1);
  if (known_[signature] >= 0) return known_[signature];
  const NodePool::Signature& what = pool_.signature_at(signature);
  std::int64_t units = 0;
  if (pool_.label_at(what.label).op != nullptr && !what.weight_only) {
    REWRIGHT_TRY(const Graph graph, pool_.application(what.label, what.in, what.kinds));
    REWRIGHT_TRY(const double us, engine_.cost_us(graph));
    units = to_units(us);
  }
  return known_[signature] = units;
}

bool PoolCosts::is_concat(std::uint32_t node) const {
  const Operator* op = pool_.label(node).op;
  return op != nullptr && op->name() == "concat";
}

Result<std::int64_t> PoolCosts::of(std::span<const std::uint32_t> nodes, std::span<const Port> outputs) {
  if (!is_sum_) {
    REWRIGHT_TRY(const Graph graph, pool_.graph(outputs));
    REWRIGHT_TRY(const double us, engine_.cost_us(graph));
    return to_units(us);
  }
  std::int64_t total = 0;
  live_concats_.clear();
  if (concats_.size() < pool_.label_count()) concats_.resize(pool_.label_count(), -1);
  for (const std::uint32_t node : nodes) {
    const SignatureId signature = pool_.node(node).signature;
    std::int8_t& concat = concats_[pool_.node(node).label];
    if (concat < 0) concat = is_concat(node) ? 1 : 0;
    if (concat == 1 && !pool_.signature(node).weight_only) {
      live_concats_.push_back(node);
    } else if (signature < known_.size() && known_[signature] >= 0) {
      total += known_[signature];
    } else {
      REWRIGHT_TRY(const std::int64_t own, of_signature(signature));
      total += own;
    }
  }
  if (!live_concats_.empty()) {
    std::ranges::sort(live_concats_);
    uses_.assign(live_concats_.size(), {});
    const auto use_of = [&](std::uint32_t node) -> Use* {
      const auto at = std::ranges::lower_bound(live_concats_, node);
      return at != live_concats_.end() && *at == node ? &uses_[static_cast<std::size_t>(at - live_concats_.begin())]
                                                      : nullptr;
    };
    for (const std::uint32_t node : nodes) {
      for (const Port port : pool_.operands(node)) {
        if (concats_[pool_.node(port.node.value).label] != 1) continue;
        if (Use* use = use_of(port.node.value)) {
          ++use->count;
          use->by_equal_concat = use->by_equal_concat || pool_.node(node).label == pool_.node(port.node.value).label;
        }
      }
    }
    for (const Port port : outputs)
      if (Use* use = use_of(port.node.value)) ++use->count;
    REWRIGHT_TRY(const std::int64_t concats, of_concats());
    total += concats;
  }
  return std::min(total, kMost);
}

/// A concat whose only use is an equal one is part of that (see GraphCost).
bool PoolCosts::absorbed(std::uint32_t node) const {
  const auto at = std::ranges::lower_bound(live_concats_, node);
  if (at == live_concats_.end() || *at != node) return false;
  const Use& use = uses_[static_cast<std::size_t>(at - live_concats_.begin())];
  return use.count == 1 && use.by_equal_concat;
}

void PoolCosts::append_operands(std::uint32_t node, std::vector<Port>& ports) const {
  for (const Port port : pool_.operands(node)) {
    if (absorbed(port.node.value)) {
      append_operands(port.node.value, ports);
    } else {
      ports.push_back(port);
    }
  }
}

Result<std::int64_t> PoolCosts::of_concats() {
  std::int64_t total = 0;
  std::vector<Port> ports;
  for (const std::uint32_t node : live_concats_) {
    if (absorbed(node)) continue;
    ports.clear();
    append_operands(node, ports);
    REWRIGHT_TRY(const std::int64_t own, of_signature(pool_.signature_of(pool_.node(node).label, ports)));
    total += own;
  }
  return total;
}

Result<bool> PoolCosts::adopt(std::span<const std::uint32_t> nodes, std::span<const Port> outputs) {
  REWRIGHT_TRY(const std::int64_t sum, of(nodes, outputs));
  REWRIGHT_TRY(const Graph graph, pool_.graph(outputs));
  REWRIGHT_TRY(const double us, engine_.cost_us(graph));
  is_sum_ = std::abs(to_us(sum) - to_us(to_units(us))) <= 1e-9 * std::abs(us) + 1e-6;
  return is_sum_;
}

}  // namespace rewright
