// What the equivalence gate is told, and what it says.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx/imported_model.h"
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
  /// A model that repeats one number in its weights is compared with random ones in their place too.
  bool draws_weights = true;
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
/// "Equal to the original in ...".
[[nodiscard]] REWRIGHT_API std::string sentence_of_equality(const Equivalence& equivalence);

}  // namespace rewright
