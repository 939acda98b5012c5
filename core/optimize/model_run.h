// A model from its bytes to the bytes of the result: opened at sizes, searched by the caller, written, judged.
//
// Nothing is lost on the way: what no rewrite made cheaper is the original, byte for byte; so is what could not be
// compared. Where the whole path of a search cannot be written, or is not equal, the longest part of it is taken that
// is.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/simplify.h"
#include "optimize/equivalence.h"
#include "optimize/optimizer.h"
#include "optimize/size_choice.h"

namespace rewright {

/// What is known of a model before it is read.
struct ModelSource {
  std::string bytes;        ///< A serialized ModelProto.
  std::string file;         ///< What errors call it.
  std::string directory;    ///< Where files with external data lie.
  Sizes sizes = {};         ///< Given ones, by the dimension's name or by "input.axis".
  bool freeze = false;      ///< The result takes these sizes only.
  GivenInputs inputs = {};  ///< What certain inputs hold when the model is run.
};

struct JudgedModel;

/// A model imported at its first sizes, and at others to compare at. Borrows the source.
struct OpenedModel {
  const ModelSource* source = nullptr;
  const Registry* registry = nullptr;
  ImportedModel imported;
  /// The same, simplified (onnx/simplify.h), at the same sizes; none where that takes no node away.
  std::optional<ImportedModel> simplified;
  std::map<std::string, std::size_t> simplifications;  ///< How often, by kind.
  SimplifyLevel level = SimplifyLevel::kExact;         ///< At which.
  bool is_exact = true;                                ///< The simplified model computes the same to the last bit.
  std::vector<ImportedModel> at_others;
  std::vector<Sizes> sizes;    ///< First those of `imported`, then those of `at_others`; empty ones if none is open.
  std::vector<Sizes> refused;  ///< At which the model does not run.
  bool is_chosen = false;      ///< Some size was not given.
  /// What the original computes, for judge_result: made when it is first asked, or by prepare_gate.
  mutable std::shared_ptr<const EquivalenceGate> gate;
  mutable std::future<Result<EquivalenceGate>> gate_to_come;

  /// What searches start from, and what their results are written after.
  [[nodiscard]] const ImportedModel& start() const { return simplified ? *simplified : imported; }
};

/// What the step from the original to the simplified model is called.
inline constexpr const char* kSimplificationStep = "simplification";

/// Simplifies the model. What cannot be simplified, or not be read again, stays as it is.
REWRIGHT_API void simplify(OpenedModel& model, SimplifyLevel level = SimplifyLevel::kExact);
/// Starts from another model that computes the same at the first sizes. Errors: as import_model.
[[nodiscard]] REWRIGHT_API Status start_from(OpenedModel& model, const std::string& bytes);
/// Once the result was judged: true if what was simplified stands against it, so that it is to be made again: at the
/// level below if `only`, the simplification alone was asked for (at kExact, if nothing can be compared); else without
/// it, also where nothing can be compared and nothing else was found. `reason`: why.
REWRIGHT_API bool simplify_less(OpenedModel& model, const JudgedModel& judged, std::size_t steps, bool only,
                                std::string& reason);
/// Puts the step to the simplified model, whose graph the search began with, before the path.
REWRIGHT_API void enter_simplification(const OpenedModel& model, double original_cost_us, OptimizeReport& report);

/// Where sizes are left open and not given, plausible ones are tried until the model can be imported and, with a
/// runtime, runs; if it runs at none, the first at which it can be imported are taken. Errors: as import_model.
[[nodiscard]] REWRIGHT_API Result<OpenedModel> open_model(const ModelSource& source, const Registry& registry,
                                                          const Runtime* runtime);

/// Why a rewrite is not taken.
enum class Cause : std::uint8_t {
  kWrong,     ///< It computes something else.
  kRounding,  ///< It is right of real numbers, and its rounding or its range are worse.
  kSizes,     ///< It is right at the sizes that were searched at, not at others.
  kWriting,   ///< What it makes cannot be written, or not without loss.
};

/// What is to be written.
struct JudgedModel {
  std::string bytes;
  bool is_original = false;
  std::size_t rewrites = 0;  ///< Of the path, so many are in it.
  Equivalence equivalence;   ///< Of the search's result; equal without runs where there was none.
  /// Position in the path of the rewrite that the result stops before.
  std::optional<std::size_t> culprit;
  Cause cause = Cause::kWrong;  ///< Of that.
  std::string reason;           ///< Why the original is kept although the search found something: one sentence.
};

/// Begins to run the original, as judge_result will ask it to with the same options, beside what the caller does next.
/// The model is not to be moved nor simplified before await_gate.
REWRIGHT_API void prepare_gate(const OpenedModel& model, EquivalenceOptions options);
/// Ends what prepare_gate began; at once where it began nothing. Errors: of the gate.
[[nodiscard]] REWRIGHT_API Status await_gate(const OpenedModel& model);

/// Writes and compares the report's graph; on a difference goes back to before the rewrite that brought it. The gate's
/// model, cases and inputs come from `model`, which keeps the gate: `options` are the same each time. Errors: of the
/// gate; kUnsupported stays inside.
/// `fast_math`: numbers that rounding destroys are no reason to leave a rewrite out. `written`: what write_result gave
/// of the report; empty where it was not asked.
[[nodiscard]] REWRIGHT_API Result<JudgedModel> judge_result(const OpenedModel& model, const OptimizeReport& report,
                                                            EquivalenceOptions options, bool fast_math = false,
                                                            std::string written = {});

/// Compares a model from anywhere with the opened one; `file` is what errors call it. Weights that repeat one number
/// are compared as they are, as it is not known what has become of them. Errors: as import_model; of the gate.
[[nodiscard]] REWRIGHT_API Result<Equivalence> compare_models(const OpenedModel& model, const std::string& other,
                                                              const std::string& file, EquivalenceOptions options);

/// As export_model. Errors also: kUnsupported where rewrites bring work that loses numbers.
[[nodiscard]] REWRIGHT_API Result<std::string> write_graph(const Graph& graph, const ImportedModel& origin,
                                                           ExportOptions options);

/// The report's graph as a model, not compared with anything. Errors: kUnsupported where it cannot be written, or not
/// without loss.
[[nodiscard]] REWRIGHT_API Result<std::string> write_result(const OpenedModel& model, const OptimizeReport& report,
                                                            bool fast_math = false);

/// Nodes of a serialized model, those of graphs inside nodes too. Errors: kParse.
[[nodiscard]] REWRIGHT_API Result<std::size_t> node_count(const std::string& model);

}  // namespace rewright
