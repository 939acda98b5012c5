// rewright compress IN.onnx -o OUT.onnx (--zeros SHARE | --channels SHARE): a smaller model, and how far it is off.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/accuracy_program.h"
#include "cli/commands.h"
#include "cli/compress_report.h"
#include "cli/model_files.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "compress/channel_removal.h"
#include "compress/compressed_model.h"
#include "compress/output_error.h"
#include "compress/weight_pruning.h"
#include "onnx/import.h"
#include "optimize/model_run.h"

namespace rewright::cli {
namespace {

struct CompressArguments {
  std::string input;
  std::string output;
  std::optional<double> zeros, channels;
  std::string scope = "layer";
  std::vector<std::string> keep;
  std::vector<std::string> dims, inputs;
  std::string accuracy;
  std::string runtime = "onnxruntime";
  std::uint64_t seed = 1;
};

Result<compress::CompressedGraph> compressed(const CompressArguments& arguments, const ImportedModel& model) {
  if (arguments.zeros.has_value() == arguments.channels.has_value())
    return make_error(ErrorCode::kUsage, "give either --zeros SHARE or --channels SHARE");
  const compress::CompressOptions options{
      .share = arguments.zeros ? *arguments.zeros : *arguments.channels,
      .scope = arguments.scope == "model" ? compress::Scope::kModel : compress::Scope::kLayer,
      .keep = arguments.keep,
      .names = compress::node_names(model)};
  auto result = arguments.zeros ? with_zeros(model.graph, options) : without_channels(model.graph, options);
  if (!result && result.error().code == ErrorCode::kUsage)
    return make_error(ErrorCode::kUsage, "'{}', {}: {}", arguments.input, arguments.zeros ? "--zeros" : "--channels",
                      result.error().message);
  return result;
}

/// Where sizes are left open and not given, at plausible ones, which become those of `options`. The result stays open.
Result<ImportedModel> import_at_sizes(const std::string& model, const Registry& registry, const Runtime* runtime,
                                      ImportOptions& options, bool quiet) {
  const auto bytes = std::as_bytes(std::span(model));
  auto imported = import_model(bytes, registry, options);
  if (imported || imported.error().code != ErrorCode::kUsage) return imported;
  const ModelSource source{model, options.file, options.directory, options.dimensions};
  REWRIGHT_TRY(const OpenedModel opened, open_model(source, registry, runtime));
  options.dimensions = opened.sizes.front();
  options.dimensions.insert(source.sizes.begin(), source.sizes.end());
  note(fmt::format("open sizes: {}, chosen here; --dim NAME=SIZE gives others", rewright::to_text(options.dimensions)),
       quiet);
  return import_model(bytes, registry, options);
}

/// Nodes that no operator reads run there, if it can be used.
Result<const Runtime*> usable(const std::string& name, const Registry& registry) {
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(name));
  return runtime->version() ? runtime : nullptr;
}

Result<std::optional<double>> accuracy(const CompressArguments& arguments, const std::string& file) {
  if (arguments.accuracy.empty()) return std::optional<double>();
  REWRIGHT_TRY(const double number, accuracy_of(arguments.accuracy, file));
  return std::optional(number);
}

Result<ExitCode> run(const Settings& settings, const CompressArguments& arguments) {
  REWRIGHT_CHECK(check_output_path(arguments.output));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  ImportOptions options;
  options.file = "'" + arguments.input + "'";
  const std::string folder = std::filesystem::path(arguments.input).parent_path().string();
  options.directory = folder.empty() ? "." : folder;
  REWRIGHT_TRY(options.dimensions, read_dims(arguments.dims));
  compress::ErrorOptions how;
  REWRIGHT_TRY(how.given, read_inputs(arguments.inputs));
  REWRIGHT_TRY(how.runtime, usable(arguments.runtime, registry));
  how.directory = options.directory;
  how.seed = arguments.seed;

  ModelFiles files{arguments.input, arguments.output, {}, options.directory};
  REWRIGHT_TRY(files.original, read_file(arguments.input));
  REWRIGHT_CHECK(check_output(files));
  REWRIGHT_TRY(const ImportedModel original,
               import_at_sizes(files.original, registry, how.runtime, options, settings.quiet));
  REWRIGHT_CHECK(check_given(original.graph, how.given));
  ProgressLine line(settings.quiet);
  line.show("compress");
  REWRIGHT_TRY(const compress::CompressedGraph made, compressed(arguments, original));
  REWRIGHT_TRY(const std::string bytes, compressed_model(original, made, registry, options));
  REWRIGHT_TRY(const ImportedModel written, import_model(std::as_bytes(std::span(bytes)), registry, options));

  CompressReport report{.zeros = arguments.zeros.has_value(), .made = &made};
  line.show("compare");
  auto errors = output_errors(original, written, registry, how);
  line.clear();
  if (errors) {
    report.errors = *std::move(errors);
  } else {
    note(fmt::format("the error is not known: {}", errors.error().message), settings.quiet);
  }
  REWRIGHT_TRY(report.accuracy_before, accuracy(arguments, arguments.input));
  REWRIGHT_CHECK(write_model(files, bytes));
  const auto after = accuracy(arguments, arguments.output);
  if (!after)
    return make_error(after.error().code, "{}; '{}' is written all the same", after.error().message, arguments.output);
  report.accuracy_after = *after;
  if (settings.json) {
    print_json(to_json(report));
  } else {
    print(to_text(report));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_compress(Program& program) {
  auto arguments = std::make_shared<CompressArguments>();
  const Command command = program.command(
      program.root(), "compress",
      "Sets weights of an ONNX model to zero or removes channels, and says how far it is off",
      {"rewright compress model.onnx -o sparse.onnx --zeros 0.95",
       "rewright compress model.onnx -o sparse.onnx --zeros 0.9 --scope model --keep classifier",
       "rewright compress model.onnx -o narrow.onnx --channels 0.5 --accuracy './top1 --images validation'"},
      [arguments](const Settings& settings) { return run(settings, *arguments); });
  command.add_option("IN", arguments->input, "The model").required();
  command.add_option("-o,--output", arguments->output, "Where the result goes").required();
  command.start_group("What goes");
  const Argument zeros = command.add_option(
      "--zeros", arguments->zeros,
      "The share of the weights of convolutions and products that becomes 0: those that are least in magnitude");
  zeros.type_name("SHARE");
  command
      .add_option("--channels", arguments->channels,
                  "The share of channels that goes, with all that is computed from them alone: those whose filters are "
                  "least in mean magnitude")
      .type_name("SHARE")
      .excludes(zeros);
  command.add_option("--scope", arguments->scope, "The share of each 'layer', or of the whole 'model'")
      .check(one_of({"layer", "model"}))
      .show_default();
  command
      .add_option("--keep", arguments->keep, "A layer that stays as it is: the name of a node or weight (repeatable)")
      .repeatable();
  command.start_group("How far it is off");
  command
      .add_option("--input", arguments->inputs,
                  "NAME=uniform(LOW,HIGH), normal(MEAN,DEVIATION), integers(LOW,HIGH), a tensor file or numbers with "
                  "commas between: what an input holds when both models are run (repeatable)")
      .repeatable();
  command
      .add_option("--dim", arguments->dims,
                  "NAME=SIZE: a size that the model leaves open, for the runs (repeatable; default: a plausible one)")
      .repeatable();
  command.add_option("--seed", arguments->seed, "Of the random inputs").show_default();
  command.add_option("--runtime", arguments->runtime, "Runs nodes that no operator reads; see rewright plugins list")
      .show_default();
  command.add_option("--accuracy", arguments->accuracy,
                     "A shell command that is run with the original's file and the result's; the last line that it "
                     "prints is a number, which is shown for both");
}

}  // namespace rewright::cli
