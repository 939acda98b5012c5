// rewright graph show FILE, and the group of what is done to graphs
#include <rewright/graph/graph.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/graph_compare.h"
#include "cli/graph_convert.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/reading.h"
#include "graph/graph_file.h"
#include "onnx/import.h"
#include "report/dot.h"

namespace rewright::cli {
namespace {

struct GraphArguments {
  std::string file;
  std::vector<std::string> dims;
  std::string format = "text";
};

Json to_json(const Graph& graph) {
  Json inputs = Json::array();
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    inputs.push_back({{"name", node.name}, {"shape", node.outputs.front().shape.dims()}, {"weight", node.is_weight()}});
  }
  return {{"inputs", std::move(inputs)},
          {"operators", graph.operator_count()},
          {"outputs", graph.outputs().size()},
          {"text", to_text(graph)}};
}

/// A graph, and what its model was read as where it comes from one.
struct ReadGraph {
  Graph graph;
  bool is_model = false;
  std::vector<CarriedNode> carried;
  std::size_t nodes = 0;
};

Result<ReadGraph> read_graph(const GraphArguments& arguments, const Registry& registry) {
  const std::string& file = arguments.file;
  ReadGraph read;
  if (file.ends_with(".onnx")) {
    ImportOptions options;
    REWRIGHT_TRY(options.dimensions, read_dims(arguments.dims));
    options.leave_external = true;
    REWRIGHT_TRY(ImportedModel model, import_model_file(file, registry, std::move(options)));
    read = {std::move(model.graph), true, std::move(model.carried), model.origin.nodes.size()};
    return read;
  }
  if (!arguments.dims.empty())
    return make_error(ErrorCode::kUsage,
                      "--dim {}: '{}' is no ONNX model (*.onnx); graphs in the text form leave no size open",
                      arguments.dims.front(), file);
  REWRIGHT_TRY(read.graph, read_graph_file(file, registry));
  return read;
}

Result<ExitCode> show_graph(const Settings& settings, const GraphArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const ReadGraph read, read_graph(arguments, registry));
  if (settings.json) {
    Json json = to_json(read.graph);
    if (read.is_model) add_reading(json, read.carried, read.nodes);
    print_json(json);
  } else if (arguments.format == "dot") {
    print(to_dot(read.graph));
  } else if (arguments.format == "svg") {
    REWRIGHT_TRY(const std::string svg, render_svg(to_dot(read.graph)));
    print(svg);
  } else {
    print(to_text(read.graph));
  }
  const std::string reading = sentence_of_reading(read.carried, read.nodes);
  if (!settings.json && !reading.empty()) note(reading, settings.quiet);
  return ExitCode::kDone;
}

}  // namespace

void add_graph(Program& program) {
  const Command group = program.group("graph", "Graphs: operator applications over named input tensors");
  auto arguments = std::make_shared<GraphArguments>();
  const Command show = program.command(
      group, "show", "Shows a graph, from an ONNX model or from the text form",
      {"rewright graph show model.onnx", "rewright graph show model.onnx --dim batch=2",
       "rewright graph show pattern.graph --json", "rewright graph show model.onnx --format svg > model.svg"},
      [arguments](const Settings& settings) { return show_graph(settings, *arguments); });
  show.add_option("FILE", arguments->file, "An ONNX model (.onnx), or a file in the text form").required();
  show.add_option("--format", arguments->format, "text; dot, for Graphviz; or svg, drawn by Graphviz")
      .check(one_of({"text", "dot", "svg"}));
  show.add_option("--dim", arguments->dims, "NAME=SIZE: a size that the model leaves open (repeatable)").repeatable();
  add_graph_convert(program, group);
  add_graph_compare(program, group);
}

}  // namespace rewright::cli
