// The equivalence gate: does a rewritten graph compute what the original computes?
//
// First the outputs' names, shapes and element types must be equal, at every case. Then both are computed on the same
// seeded inputs (gate_setting.h), each in the ways that there are:
//   exact     in double precision, node by node (reference.h): the original O, the result C. The main judge.
//   own       the same, each tensor rounded to its element type: O', C'.
//   runtime   as models in a Runtime, with its optimisations and without: R(O), R(C).
//
// The noise floor F of an output's elements is measured on the original: what lies between O and O', R(O)
// (noise_floor.h). The result is equal if in all but 1 % of each output's elements
//   |C - O| <= F,   |C' - O| <= 8 F,   |R(C) - O| <= 8 F,
// where an element of C' or R(C) that is infinite or NaN, and finite in O, O' and R(O), is beyond any floor. Where O
// cannot be had (a node that runs nowhere by itself, a model beyond the budget), R(O) without optimisations takes its
// place and 32 F are allowed. Integers must be equal in all but 1 % of the elements, or the share that rounding changes
// in the original. Models that repeat one number in their weights (made for timing) are compared once more with random
// numbers in their place; of large ones O is had of that run alone.
//
// Nothing is equal where nothing was compared. The answer is "not comparable" where the original runs nowhere, differs
// from itself, where fewer than a quarter of an output's elements are finite on every input, or fewer than a tenth of
// all elements change with the inputs; and where the runtime and the operators' meaning differ on the original. A
// runtime that gives something else at one of its levels alone has a fault there, and that level is left out.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "optimize/gate_types.h"

namespace rewright {

/// Runs the original once and compares any number of graphs with it.
class REWRIGHT_API EquivalenceGate {
 public:
  /// Borrows the graphs of `cases`; the first is the one that was searched. An original that cannot be compared with
  /// anything is no error: every check says so. Errors: kUsage, given inputs that do not fit.
  [[nodiscard]] static Result<EquivalenceGate> create(std::span<const GateCase> cases, EquivalenceOptions options);
  [[nodiscard]] static Result<EquivalenceGate> create(const Graph& original, EquivalenceOptions options);
  EquivalenceGate(EquivalenceGate&&) noexcept;
  ~EquivalenceGate();

  /// Why nothing can be compared with the original: one sentence; empty where it can.
  [[nodiscard]] const std::string& reason() const;
  /// `candidate` is at the sizes of the first case. `model`: the candidate as a model; empty: what `to_model` makes of
  /// it.
  [[nodiscard]] Result<Equivalence> check(const Graph& candidate, const std::string& model = {}) const;

 private:
  struct State;
  explicit EquivalenceGate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What brought a difference.
struct Culprit {
  std::optional<std::size_t> rewrite;  ///< The graph before it is equal, the graph after it is not.
  std::string reason;                  ///< No rewrite did: one sentence; the original is to be kept.
};
/// Which of a path's rewrites brought what `end` says of the graph at its end, by bisection. `check` judges the graph
/// after the first n rewrites. Errors: what `check` fails with.
[[nodiscard]] REWRIGHT_API Result<Culprit> find_culprit(std::size_t rewrites,
                                                        const std::function<Result<Equivalence>(std::size_t)>& check,
                                                        const Equivalence& end);

}  // namespace rewright
