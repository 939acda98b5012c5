// rewright graph convert FILE -o OUTPUT: the text form as an ONNX model, and back.
#include "cli/graph_convert.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/open_sizes.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "graph/graph_file.h"
#include "onnx/graph_model.h"
#include "onnx/import.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertArguments {
  std::string file;
  std::string output;
  std::vector<std::string> dims;
  std::uint64_t seed = 1;
};

bool is_model(const std::string& file) { return file.ends_with(".onnx"); }

Status check_arguments(const ConvertArguments& arguments) {
  const auto& [file, output, dims, seed] = arguments;
  if (is_model(file) == is_model(output))
    return make_error(ErrorCode::kUsage, "'{}' and '{}' are both {}: one of FILE and -o ends in .onnx", file, output,
                      is_model(file) ? "ONNX models" : "in the text form");
  if (!is_model(file) && !dims.empty())
    return make_error(ErrorCode::kUsage,
                      "--dim {}: '{}' is no ONNX model (*.onnx); graphs in the text form leave no size open",
                      dims.front(), file);
  const fs::path folder = fs::path(output).has_parent_path() ? fs::path(output).parent_path() : fs::path(".");
  if (fs::is_directory(output)) return make_error(ErrorCode::kUsage, "-o: '{}' is a folder", output);
  if (!fs::is_directory(folder))
    return make_error(ErrorCode::kNotFound, "-o: there is no folder '{}' to write '{}' into", folder.string(), output);
  return {};
}

Result<Json> to_model_file(const ConvertArguments& arguments, const Registry& registry, bool quiet) {
  REWRIGHT_TRY(const Graph graph, read_graph_file(arguments.file, registry));
  Result<GraphAsModel> written = graph_as_model(graph, arguments.seed);
  if (!written) return make_error(written.error().code, "'{}': {}", arguments.file, written.error().message);
  REWRIGHT_CHECK(write_file(arguments.output, written->model));
  if (written->drawn > 0)
    note(fmt::format("{} without values in the text: pseudo-random numbers of --seed {}",
                     counted(written->drawn, "weight"), arguments.seed),
         quiet);
  if (written->left_out > 0)
    note(fmt::format("{} left out: nothing uses it", counted(written->left_out, "weight")), quiet);
  return Json{{"drawn", written->drawn}, {"left_out", written->left_out}};
}

Result<Json> to_text_file(const ConvertArguments& arguments, const Registry& registry, bool quiet) {
  ImportOptions options;
  REWRIGHT_TRY(options.dimensions, read_dims(arguments.dims));
  REWRIGHT_TRY(const ImportedModel model, import_model_file(arguments.file, registry, std::move(options)));
  const Result<Graph> graph = graph_alone(model);
  if (!graph) return make_error(graph.error().code, "{}: {}", arguments.file, graph.error().message);
  REWRIGHT_TRY(const std::string weights, write_graph_file(arguments.output, *graph));
  const std::string reading = sentence_of_reading(model.carried, model.origin.nodes.size());
  if (!reading.empty()) note(reading, quiet);
  if (!weights.empty()) note(fmt::format("'{}' holds the weights; keep it beside the text", weights), quiet);
  Json json = {{"weights", weights.empty() ? Json() : Json(weights)}};
  add_reading(json, model.carried, model.origin.nodes.size());
  return json;
}

Result<ExitCode> convert(const Settings& settings, const ConvertArguments& arguments) {
  REWRIGHT_CHECK(check_arguments(arguments));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(Json json, is_model(arguments.output) ? to_model_file(arguments, registry, settings.quiet)
                                                     : to_text_file(arguments, registry, settings.quiet));
  json["output"] = arguments.output;
  if (settings.json) print_json(json);
  return ExitCode::kDone;
}

}  // namespace

void add_graph_convert(Program& program, const Command& group) {
  auto arguments = std::make_shared<ConvertArguments>();
  const Command command = program.command(
      group, "convert", "Converts the text form to an ONNX model, or an ONNX model to the text form, with its weights",
      {"rewright graph convert tiny.graph -o tiny.onnx", "rewright graph convert model.onnx -o model.graph",
       "rewright graph convert model.onnx -o model.graph --dim batch=2"},
      [arguments](const Settings& settings) { return convert(settings, *arguments); });
  command.add_option("FILE", arguments->file, "An ONNX model (.onnx), or a file in the text form").required();
  command
      .add_option("-o,--output", arguments->output,
                  "The other of the two. Values too long for a line of text go to OUTPUT.weights beside it")
      .required();
  command.add_option("--dim", arguments->dims, "NAME=SIZE: a size that the model leaves open (repeatable)")
      .repeatable();
  command.add_option("--seed", arguments->seed, "Of the numbers for weights that have no values in the text")
      .show_default();
}

}  // namespace rewright::cli
