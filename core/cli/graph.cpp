// rewright graph show FILE
#include "campaign/files.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"

#include <rewright/graph.h>

#include <memory>

namespace rewright::cli {
namespace {

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

Result<ExitCode> show_graph(const Settings& settings, const std::string& file) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::string text, read_file(file));
  const Result<Graph> graph = parse_graph(text, registry);
  if (!graph) return make_error(graph.error().code, "'{}': {}", file, graph.error().message);
  if (settings.json) {
    print_json(to_json(*graph));
  } else {
    print(to_text(*graph));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_graph(Program& program) {
  CLI::App& group = program.group("graph", "Graphs: operator applications over named input tensors");
  auto file = std::make_shared<std::string>();
  CLI::App& show = program.command(group, "show", "Shows a graph that was written in the text form",
                                   {"rewright graph show model.graph", "rewright graph show model.graph --json"},
                                   [file](const Settings& settings) { return show_graph(settings, *file); });
  show.add_option("FILE", *file, "The graph's file")->required();
}

}  // namespace rewright::cli
