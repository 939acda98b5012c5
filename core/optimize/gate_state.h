// What the equivalence gate knows of the original: its outputs in every setting, and how far each may be off.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "optimize/gate_setting.h"
#include "optimize/gate_types.h"
#include "optimize/noise_floor.h"
#include "optimize/reference.h"

namespace rewright {

/// One of the original's outputs in one setting.
struct ExpectedOutput {
  ReferenceTensor tensor = {};  ///< In exact arithmetic, or as the runtime gives it; missing where neither does.
  bool is_exact = false;
  NoiseFloor floor = NoiseFloor(ElementType::kUnknown);
  double noise_share = 0;   ///< Of types without a fraction: how many elements rounding changes.
  double finite_share = 1;  ///< Of the elements: the least of all ways of computing it.
  bool has_own = false;     ///< Is there an output in the model's own arithmetic?
  /// Where that overflows: numbers that are finite where it and the exact ones are; else empty.
  std::vector<Real> own_overflown = {};
  /// The same of the runtime, by level.
  std::vector<std::vector<Real>> overflown;
};

/// The original in one setting.
struct Expected {
  GateSetting setting;
  std::vector<RuntimeTensor> inputs;
  std::vector<ExpectedOutput> outputs = {};
  std::vector<bool> ran = {};  ///< By level: did the original run?
};

/// A way of running models in the runtime: with all of its optimisations, or none.
struct Level {
  bool optimise = false;
  bool is_loaded = false;    ///< The runtime reads the original.
  bool is_usable = false;    ///< The original runs, and gives what its operators mean.
  std::string trouble = {};  ///< Why not.
};

struct GateState {
  std::vector<GateCase> cases;
  EquivalenceOptions options;
  GivenInputs given;  ///< The caller's, and what the model has by default.
  std::map<std::string, ConstantData> defaults;
  std::string reason;  ///< Why nothing can be compared.
  std::string runtime_version;
  std::vector<Level> levels;  ///< None without a runtime.
  std::unique_ptr<Reference> reference;
  bool holds_much = false;    ///< Does the original, so that at most one session's memory is held?
  bool is_evaluated = false;  ///< Is evaluation within its budget?
  /// Also with the model's own weights? Not where the model is large and repeats one number in them: then the run with
  /// random weights is the one that is evaluated.
  bool is_evaluated_as_given = false;
  std::vector<Expected> expected;
  std::set<std::string> uniform;  ///< Weights of one repeated number.
  /// Random values for them by name, where they are kept: they would be drawn again for every graph.
  std::map<std::string, std::shared_ptr<const ConstantData>> random_weights;
  std::optional<Expected> randomised;  ///< The original with random weights in their place.
  std::vector<std::uint64_t> structures;

  [[nodiscard]] const Graph& original() const { return *cases.front().graph; }
  [[nodiscard]] Result<std::string> model_of(const Graph& graph) const;
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load(const std::string& model, bool optimise) const;
  /// Fills `random_weights`, unless they take much.
  void keep_random_weights();
  /// The graph with random values in uniform weights; the same for every graph that has weights of these names.
  [[nodiscard]] Result<Graph> with_random_weights(const Graph& graph) const;
  /// The inputs of an evaluation: those that are given at each run, and the model's defaults.
  [[nodiscard]] Result<ReferenceInputs> reference_inputs(const Expected& expected) const;
};

/// "y", or "number 2".
[[nodiscard]] std::string output_name(const Graph& graph, std::size_t i);

/// One tensor per output. Errors: what the runtime says; an output that is no tensor of numbers.
[[nodiscard]] Result<std::vector<ReferenceTensor>> run_session(RuntimeSession& session,
                                                               std::span<const RuntimeTensor> inputs);

/// Runs the original in every setting that the budget allows; sets `reason` where no result could be compared with it.
/// Errors: kUsage, given inputs that do not fit.
[[nodiscard]] Status run_original(GateState& state);

}  // namespace rewright
