// What graphs of a pool cost: the same sum as GraphCost makes, over whole numbers, so that it does not depend on the
// order in which it is made.
//
// Units   2^-30 us. A graph's cost is exact up to one unit for each of its nodes; above 2^52 units (70 minutes) it is
//         as much as that.
#pragma once

#include <rewright/result.h>

#include <cstdint>
#include <span>
#include <vector>

#include "optimize/search_engine.h"
#include "rule/node_pool.h"

namespace rewright {

class PoolCosts {
 public:
  /// Borrows both.
  PoolCosts(SearchEngineContent& engine, NodePool& pool) : engine_(engine), pool_(pool) {}

  [[nodiscard]] static double to_us(std::int64_t units);
  /// Of the graph that consists of these nodes. Errors: of the cost model.
  [[nodiscard]] Result<std::int64_t> of(std::span<const std::uint32_t> nodes, std::span<const Port> outputs);
  /// True where GraphCost says the same of the graph: its cost is a sum over its nodes. Otherwise of() asks it for
  /// whole graphs from then on.
  [[nodiscard]] Result<bool> adopt(std::span<const std::uint32_t> nodes, std::span<const Port> outputs);

  /// Of one application.
  [[nodiscard]] Result<std::int64_t> of_signature(SignatureId signature);

 private:
  [[nodiscard]] bool is_concat(std::uint32_t node) const;
  [[nodiscard]] Result<std::int64_t> of_concats();
  void append_operands(std::uint32_t node, std::vector<Port>& ports) const;
  [[nodiscard]] bool absorbed(std::uint32_t node) const;

  SearchEngineContent& engine_;
  NodePool& pool_;
  bool is_sum_ = true;
  std::vector<std::int64_t> known_;   ///< By signature; -1: not asked for yet.
  std::vector<std::int8_t> concats_;  ///< By label: is it a concat? -1: not looked at yet.
  std::vector<std::uint32_t> live_concats_;
  struct Use {
    std::uint32_t count = 0;
    bool by_equal_concat = false;
  };
  std::vector<Use> uses_;  ///< By position in live_concats_.
};

}  // namespace rewright
