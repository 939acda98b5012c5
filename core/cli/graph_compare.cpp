// rewright graph compare ORIGINAL OTHER: does another model compute the same? The gate of `rewright optimize`, for
// models from anywhere.
#include "cli/graph_compare.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/optimize_arguments.h"
#include "cli/optimize_outcome.h"
#include "cli/output.h"
#include "optimize/model_run.h"

namespace rewright::cli {
namespace {

struct CompareArguments {
  std::string original;
  std::string other;
  std::vector<std::string> dims;
  std::vector<std::string> inputs;
  std::string runtime = "onnxruntime";
  std::uint64_t seed = 1;
};

Result<ModelSource> read_source(const CompareArguments& arguments) {
  ModelSource source;
  source.file = "'" + arguments.original + "'";
  const std::string folder = std::filesystem::path(arguments.original).parent_path().string();
  source.directory = folder.empty() ? "." : folder;
  REWRIGHT_TRY(source.sizes, read_dims(arguments.dims));
  REWRIGHT_TRY(source.inputs, read_inputs(arguments.inputs));
  REWRIGHT_TRY(source.bytes, read_file(arguments.original));
  return source;
}

/// The runtime where it can be used; otherwise the operators' meaning alone judges.
Result<const Runtime*> usable_runtime(const std::string& name, const Registry& registry, bool quiet) {
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(name));
  if (const auto version = runtime->version(); !version) {
    note(version.error().message, quiet);
    return nullptr;
  }
  return runtime;
}

Json to_json(const Equivalence& equivalence) {
  return {{"equal", equivalence.equal()},
          {"comparable", equivalence.verdict != GateVerdict::kNotComparable},
          {"max_abs_error", equivalence.max_abs_error},
          {"noise_floor", equivalence.tolerance},
          {"runs", equivalence.runs},
          {"difference", equivalence.difference},
          {"reason", equivalence.reason}};
}

std::string to_sentence(const Equivalence& equivalence) {
  switch (equivalence.verdict) {
    case GateVerdict::kEqual: return sentence_of_equality(equivalence);
    case GateVerdict::kDifferent: return fmt::format("NOT EQUAL: {}.", equivalence.difference);
    case GateVerdict::kNotComparable: break;
  }
  return fmt::format("NOT COMPARABLE: {}.", equivalence.reason);
}

Result<ExitCode> compare(const Settings& settings, const CompareArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const ModelSource source, read_source(arguments));
  REWRIGHT_TRY(const std::string other, read_file(arguments.other));
  EquivalenceOptions options;
  options.seed = arguments.seed;
  REWRIGHT_TRY(options.runtime, usable_runtime(arguments.runtime, registry, settings.quiet));
  REWRIGHT_TRY(const OpenedModel opened, open_model(source, registry, options.runtime));
  REWRIGHT_TRY(const Equivalence found, compare_models(opened, other, "'" + arguments.other + "'", std::move(options)));
  if (settings.json) {
    print_json(to_json(found));
  } else {
    print_line(to_sentence(found));
  }
  return found.equal() ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_graph_compare(Program& program, const Command& group) {
  auto arguments = std::make_shared<CompareArguments>();
  const Command command = program.command(
      group, "compare", "Compares two ONNX models on random inputs; the exit code is 1 unless they are equal",
      {"rewright graph compare model.onnx faster.onnx",
       "rewright graph compare model.onnx faster.onnx --dim batch=2 --input ids=integers(0,999)"},
      [arguments](const Settings& settings) { return compare(settings, *arguments); });
  command.add_option("ORIGINAL", arguments->original, "The model that is right; its rounding is the measure")
      .required();
  command.add_option("OTHER", arguments->other, "A model with inputs and outputs of the same names").required();
  command.add_option("--dim", arguments->dims, "NAME=SIZE: a size that the original leaves open (repeatable)")
      .repeatable();
  command
      .add_option("--input", arguments->inputs,
                  "NAME=uniform(LOW,HIGH), normal(MEAN,DEVIATION), integers(LOW,HIGH), a tensor file or numbers with "
                  "commas between: what an input holds (repeatable)")
      .repeatable();
  command.add_option("--runtime", arguments->runtime, "The runtime that runs both; see rewright plugins list")
      .show_default();
  command.add_option("--seed", arguments->seed, "Of the random inputs").show_default();
}

}  // namespace rewright::cli
