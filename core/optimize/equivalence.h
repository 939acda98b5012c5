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
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/import.h"
#include "optimize/random_inputs.h"

namespace rewright {

/// The original at one assignment of its open sizes.
struct GateCase {
  std::string name = {};         ///< "batch=2, tokens=12"; empty where the model leaves no size open.
  const Graph* graph = nullptr;  ///< Borrowed.
};

struct EquivalenceOptions {
  const Runtime* runtime = nullptr;  ///< Null: by the operators' meaning alone.
  int trials = 2;                    ///< Random inputs per kind of run.
  std::uint64_t seed = 1;
  /// Floating-point operations that one check may spend on evaluation in double precision.
  double reference_flops = 2e11;
  /// Writes a graph as a model. Empty: export_model without an origin.
  std::function<Result<std::string>(const Graph&)> to_model = {};
  /// Imports a written model at the sizes of a case, so that what is evaluated is what was written, its rounded weights
  /// among it. Empty: the candidate's graph is evaluated, at the first case alone.
  std::function<Result<Graph>(const std::string& model, std::size_t case_index)> from_model = {};
  /// What made the candidate of the original, where it computed weights: the original with random weights is given to
  /// it, as the candidate's can no longer be replaced. Empty: weights of the original's names are the original's.
  std::function<Result<Graph>(const Graph& original)> simplify = {};
  /// The original's model, as it was given; empty: what `to_model` makes of the original.
  std::string original_model = {};
  std::string directory = {};  ///< Where external data of models lies.
  /// Serves graphs inside nodes; null: these are not evaluated, but run in the runtime.
  const Registry* registry = nullptr;
  /// Weights whose values the graphs do not hold; null: there are none. Borrowed.
  const std::map<std::string, ExternalWeight>* external = nullptr;
  GivenInputs inputs = {};  ///< Those that are not drawn as the gate sees fit.
};

enum class GateVerdict : std::uint8_t {
  kEqual,
  kDifferent,
  kNotComparable,  ///< Neither could be shown.
};

struct Equivalence {
  GateVerdict verdict = GateVerdict::kNotComparable;
  double max_abs_error = 0;             ///< Greatest |a - b| over all outputs of all runs.
  double tolerance = 0;                 ///< The noise floor of the element in which it occurred.
  std::vector<std::string> runs;        ///< What was compared: "ONNX Runtime 1.30.0, 2 random inputs".
  std::vector<std::size_t> cases = {};  ///< At which it was compared.
  std::string difference;               ///< Different: one sentence.
  bool is_rounding = false;    ///< Different, and equal in double precision: in the model's own arithmetic alone.
  std::size_t case_index = 0;  ///< Different at this case, and at none before it.
  std::string reason;          ///< Not comparable: one sentence.
  [[nodiscard]] bool equal() const { return verdict == GateVerdict::kEqual; }
};

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
