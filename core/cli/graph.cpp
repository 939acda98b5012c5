// rewright graph show FILE
#include <rewright/graph.h>

#include <memory>

#include "campaign/files.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "onnx/import.h"
#include "report/dot.h"

namespace rewright::cli {
namespace {

struct Arguments {
  std::string file;
  std::string format = "text";
};

Json to_json(const Graph& graph) {
  Json inputs = Json::array();
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    inputs.push_back({{"name", node.name},
                      {"shape", node.outputs.front().shape.dims()},
                      {"weight", node.input_kind == InputKind::kWeight}});
  }
  return {{"inputs", std::move(inputs)},
          {"operators", graph.operator_count()},
          {"outputs", graph.outputs().size()},
          {"text", to_text(graph)}};
}

Result<Graph> read_graph(const std::string& file, const Registry& registry) {
  if (file.ends_with(".onnx")) {
    REWRIGHT_TRY(ImportedModel model, import_model_file(file, registry));
    return std::move(model.graph);
  }
  REWRIGHT_TRY(const std::string text, read_file(file));
  Result<Graph> graph = parse_graph(text, registry);
  if (!graph) return make_error(graph.error().code, "'{}': {}", file, graph.error().message);
  return graph;
}

Result<ExitCode> show_graph(const Settings& settings, const Arguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const Graph graph, read_graph(arguments.file, registry));
  if (settings.json) {
    print_json(to_json(graph));
  } else if (arguments.format == "dot") {
    print(to_dot(graph));
  } else if (arguments.format == "svg") {
    REWRIGHT_TRY(const std::string svg, render_svg(to_dot(graph)));
    print(svg);
  } else {
    print(to_text(graph));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_graph(Program& program) {
  CLI::App& group = program.group("graph", "Graphs: operator applications over named input tensors");
  auto arguments = std::make_shared<Arguments>();
  CLI::App& show = program.command(group, "show", "Shows a graph, from an ONNX model or from the text form",
                                   {"rewright graph show model.onnx", "rewright graph show pattern.graph --json",
                                    "rewright graph show model.onnx --format svg > model.svg"},
                                   [arguments](const Settings& settings) { return show_graph(settings, *arguments); });
  show.add_option("FILE", arguments->file, "An ONNX model (.onnx), or a file in the text form")->required();
  show.add_option("--format", arguments->format, "text; dot, for Graphviz; or svg, drawn by Graphviz")
      ->check(CLI::IsMember({"text", "dot", "svg"}));
}

}  // namespace rewright::cli
