#include "study/network_layers.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "compile/known_weights.h"
#include "compile/node_algorithms.h"
#include "onnx/graph_model.h"
#include "optimize/model_run.h"

namespace rewright::study {
namespace {

/// What the node is a step of: "c" of "c/windows".
std::string whole_of(const std::string& name) { return name.substr(0, name.find('/')); }

/// How many elements of its weights are not 0, where they are known.
std::int64_t nonzeros_of(const Graph& graph, const Node& node) {
  std::int64_t count = 0;
  for (const Port& port : node.inputs) count += compile::nonzeros_of(graph, port).value_or(0);
  return count;
}

/// The node alone: what it reads that is no weight is given.
Result<Graph> graph_of(const Graph& graph, const Node& node, const Registry& registry) {
  GraphBuilder builder(&registry);
  std::vector<Port> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Node& operand = graph.node(node.inputs[i].node);
    REWRIGHT_TRY(const Port port, builder.input(fmt::format("in{}", i), graph.type(node.inputs[i]),
                                                operand.is_weight() ? InputKind::kWeight : InputKind::kData,
                                                operand.is_weight() ? operand.constant() : nullptr));
    operands.push_back(port);
  }
  REWRIGHT_TRY(const std::vector<Port> made, builder.copy(node, std::move(operands)));
  builder.output(made[0], "y");
  return builder.finish();
}

}  // namespace

std::vector<LayerTime> layers_of(const nlohmann::ordered_json& profile) {
  std::vector<LayerTime> layers;
  double before = 0;  // Of kernels without a name.
  for (const auto& kernel : profile) {
    const std::string result = kernel.value("result", "");
    before += kernel.value("us", 0.0);
    if (result.empty()) continue;
    layers.push_back({result, kernel.value("nodes", std::vector<std::string>()), before});
    before = 0;
  }
  if (before > 0) layers.push_back({"others", {}, before});
  // Steps go to the layer that computes the whole of them.
  std::vector<LayerTime> whole;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = whole_of(layers[i].layer);
    const auto is_for = [&](const LayerTime& later) {
      return std::ranges::find(later.nodes, name) != later.nodes.end();
    };
    const auto later = std::find_if(layers.begin() + static_cast<std::ptrdiff_t>(i) + 1, layers.end(), is_for);
    if (name != layers[i].layer && later != layers.end()) {
      later->us += layers[i].us;
    } else {
      whole.push_back(layers[i]);
    }
  }
  return whole;
}

Result<std::vector<LoneLayer>> lone_convolutions(const std::string& file, const Registry& registry) {
  ModelSource source;
  source.file = "'" + file + "'";
  const std::string parent = std::filesystem::path(file).parent_path().string();
  source.directory = parent.empty() ? "." : parent;
  source.freeze = true;
  REWRIGHT_TRY(source.bytes, read_file(file));
  REWRIGHT_TRY(OpenedModel opened, open_model(source, registry, nullptr));
  simplify(opened);
  REWRIGHT_TRY(const Graph graph, compile::with_known_weights(opened.start().graph, opened.start()));
  std::map<std::string, std::set<std::string>> fitting;
  for (const std::string& algorithm : compile::algorithm_names())
    for (const std::string& node : compile::nodes_for(algorithm, graph)) fitting[node].insert(algorithm);
  std::vector<LoneLayer> layers;
  for (const Node& node : graph.nodes()) {
    const auto algorithms = node.is_input() ? fitting.end() : fitting.find(node.name);
    if (algorithms == fitting.end() || node.application() == nullptr) continue;
    REWRIGHT_TRY(const Graph alone, graph_of(graph, node, registry));
    REWRIGHT_TRY(GraphAsModel made, graph_as_model(alone));
    std::string sizes;
    for (const Port& port : node.inputs) sizes += rewright::to_string(graph.shape(port)) + " ";
    layers.push_back({node.name,
                      fmt::format("{}{}, {} not 0", sizes, to_string(*node.application()), nonzeros_of(graph, node)),
                      std::move(made.model), algorithms->second});
  }
  return layers;
}

}  // namespace rewright::study
