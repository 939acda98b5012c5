// The equivalence gate: does a rewritten graph compute what the original computes?
//
// First the outputs' names, shapes and element types must be equal. Then both run on the same seeded random inputs:
//   in a Runtime        as models, the original as it was given, with its weights;
//   again               with random weights in place of those that are one number repeated (models made for timing),
//                       among which a wrong exchange of weights would not show;
//   by the operators'   meaning in double precision, with random weights, if no node is opaque and the work is small.
//
// Tolerance  |a - b| <= 32 * eps * sqrt(n) * s, where eps is the output's element type's spacing at 1 (2^-23 for
//            float32, 2^-52 for the evaluation in double precision), n the sum of the lengths of the sums along the
//            longest way to the output, in whichever graph it is longer (at least one for each operator), and s the
//            greatest magnitude in the original's output. Rounding errors of n additions grow like sqrt(n) * eps
//            (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 2.8); 32 leaves room for
//            intermediates that are larger than the output. Outputs of other types must be equal.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/result.h>
#include <rewright/runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimize/random_inputs.h"

namespace rewright {

struct EquivalenceOptions {
  const Runtime* runtime = nullptr;  ///< Null: by the operators' meaning alone.
  int trials = 2;                    ///< Random inputs per kind of run.
  std::uint64_t seed = 1;
  /// Evaluated in double precision only if both graphs take no more than this, and have no more numbers as inputs and
  /// weights.
  double reference_flops = 1e8;
  /// Writes a graph as a model. Empty: export_model without an origin.
  std::function<Result<std::string>(const Graph&)> to_model = {};
  /// The original's model, as it was given; empty: what `to_model` makes of the original.
  std::string original_model = {};
  std::string directory = {};  ///< Where external data of models lies.
  GivenInputs inputs = {};     ///< Those that are not random.
};

struct Equivalence {
  bool equal = false;
  double max_abs_error = 0;       ///< Greatest |a - b| over all outputs of all runs.
  double tolerance = 0;           ///< Of the output in which it occurred.
  std::vector<std::string> runs;  ///< What was compared: "ONNX Runtime 1.30.0, 2 random inputs".
  std::string difference;         ///< Not equal: one sentence.
};

/// Runs the original once and compares any number of graphs with it.
class REWRIGHT_API EquivalenceGate {
 public:
  /// Borrows `original`. Errors: kUnsupported where nothing can judge this graph, with what is missing.
  [[nodiscard]] static Result<EquivalenceGate> create(const Graph& original, EquivalenceOptions options);
  EquivalenceGate(EquivalenceGate&&) noexcept;
  ~EquivalenceGate();

  /// `model`: the candidate as a model; empty: what `to_model` makes of it.
  [[nodiscard]] Result<Equivalence> check(const Graph& candidate, const std::string& model = {}) const;

 private:
  struct State;
  explicit EquivalenceGate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Which of a path's rewrites brought a difference that was seen at its end, by bisection: the graph before it is
/// equal, the graph after it is not. `is_equal` tells of the graph after the first n rewrites. Errors: no rewrite did
/// (kInternal, with the difference), what `is_equal` fails with.
[[nodiscard]] REWRIGHT_API Result<std::size_t> find_culprit(std::size_t rewrites,
                                                            const std::function<Result<bool>(std::size_t)>& is_equal,
                                                            std::string_view difference);

}  // namespace rewright
