// What is fused of a graph, by simulated annealing over what kernels cost: measured, modelled or learned.
//
//   a choice    the joints (compile/grouping.h) whose results are stored; the usual one stores none
//   its cost    the sum over kernels of operators; those with carried nodes cost the same in all choices
//   a move      one joint, to be stored or not; dearer by d it is taken with probability exp(-d / T),
//               T = start cost * 0.02 * (1 / 200)^(moves done / all moves)
//
// Source: the autotuner of Kaufman et al., A Learned Performance Model for the Tensor Processing Unit, 2020, section 6.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/optimize/cost.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace rewright::compile {

struct FusionOptions {
  std::int64_t moves = 2000;
  bool from_random = false;  ///< The start stores each joint with a chance of a half; else none.
  std::size_t best = 3;      ///< Choices that are kept, at most.
  std::uint64_t seed = 1;
  std::function<bool(std::int64_t moves)> goes_on = {};  ///< False ends it, with what was found so far.
};

struct FusionChoice {
  std::set<Port> stored;
  std::size_t kernels = 0;
  double us = 0;  ///< Of its kernels of operators.
};

struct FusionReport {
  std::size_t joints = 0;
  std::int64_t moves = 0;
  std::size_t asked = 0;           ///< Kernels that the cost model was asked about.
  FusionChoice usual, start;       ///< All that can be is fused; where the search began.
  std::vector<FusionChoice> best;  ///< The cheapest that it looked at, with different kernels; the usual one is none.
};

/// The graph as it will be compiled. A kernel that the model cannot price costs infinitely much. Errors: of
/// Grouping; kUnsupported, nothing can be fused, or the usual choice cannot be priced.
[[nodiscard]] REWRIGHT_API Result<FusionReport> search_fusion(const Graph& graph, const Registry& registry,
                                                              CostModel& costs, const FusionOptions& options);

/// So many choices, drawn: of each joint a share is stored that differs from choice to choice. Without costs. Errors:
/// as search_fusion.
[[nodiscard]] REWRIGHT_API Result<FusionReport> random_fusions(const Graph& graph, const Registry& registry,
                                                               std::size_t count, std::uint64_t seed);

}  // namespace rewright::compile
