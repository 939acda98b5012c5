#include "onnx/graph_model.h"

#include <rewright/base/mixing.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "onnx/element.h"
#include "onnx/export.h"
#include "onnx/proto.h"

namespace rewright {
namespace {

/// The graph with each node replaced by what `change` makes of it.
Graph with_each_node(const Graph& graph, const std::function<void(NodeId, Node&)>& change,
                     const std::vector<std::string>& output_names) {
  GraphBuilder builder;
  std::vector<std::vector<Port>> now;
  const auto moved = [&](Port port) { return now[port.node.value][port.output]; };
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    Node node = graph.nodes()[i];
    change(NodeId{i}, node);
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back(moved(port));
    auto ports = builder.copy(node, std::move(operands));
    if (!ports) fail(ports.error().message);  // It is a node of a graph.
    now.push_back(*std::move(ports));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    builder.output(moved(graph.outputs()[i]), i < output_names.size() ? output_names[i] : "");
  return builder.finish();
}

/// What the model calls the tensor that each node makes; nothing for nodes that make several.
std::map<std::uint32_t, std::string> names_in(const ImportedModel& model) {
  std::map<std::uint32_t, std::string> names;
  for (const OriginNode& node : model.origin.nodes) {
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const auto& port = node.outputs[k];
      if (!port || model.graph.node(port->node).outputs.size() != 1) continue;
      names.emplace(port->node.value, node.output_names[k]);
    }
  }
  return names;
}

std::vector<std::string> output_names_of(const Graph& graph) {
  return {graph.output_names().begin(), graph.output_names().end()};
}

/// Numbers that no step of a network carries far away.
ConstantData draw(const TensorType& type, std::uint64_t seed) {
  Random random(seed);
  const bool is_matrix = type.shape.rank() > 1;
  const auto summed = static_cast<double>(
      is_matrix ? type.shape.elements() / std::max<std::int64_t>(1, *std::ranges::max_element(type.shape)) : 1);
  std::vector<double> numbers(static_cast<std::size_t>(type.shape.elements()));
  for (double& number : numbers)
    number = is_matrix ? (2 * random.fraction() - 1) / std::sqrt(std::max(summed, 1.0)) : 0.5 + random.fraction();
  return {type, model::encode(type.element, numbers)};
}

std::uint64_t seed_for(const std::string& name, std::uint64_t seed) {
  return std::accumulate(name.begin(), name.end(), mix(seed),
                         [](std::uint64_t hash, char c) { return mix(hash, static_cast<unsigned char>(c)); });
}

bool has_fixed_size(const TensorType& type) { return element_size(type.element) > 0; }

Status check_content(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.is_input() && !has_fixed_size(node.outputs.front()))
      return make_error(ErrorCode::kUnsupported, "input '{}' is of type {}, which a model cannot declare without more",
                        node.name, name_of(node.outputs.front().element));
    if (node.is_weight() && !node.constant() && !is_floating(node.outputs.front().element))
      return make_error(ErrorCode::kUsage,
                        "weight '{}' of {} has no values, and only floating-point numbers are drawn: write them behind "
                        "its type, as in [0, 1, 2]",
                        node.name, name_of(node.outputs.front().element));
    if (node.opaque() && node.opaque()->serialized.empty())
      return make_error(
          ErrorCode::kUsage,
          "the text does not say what the opaque node '{}' is: rewright graph convert writes that, rewright "
          "graph show does not",
          node.opaque()->type);
  }
  return {};
}

/// Unnamed outputs get the name of the node that makes them, where nothing else has it.
std::vector<std::string> names_of_outputs(const Graph& graph) {
  std::set<std::string> taken(graph.output_names().begin(), graph.output_names().end());
  for (const NodeId id : graph.inputs()) taken.insert(graph.node(id).name);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Node& node = graph.node(graph.outputs()[i].node);
    std::string name = i < graph.output_names().size() ? graph.output_names()[i] : "";
    if (name.empty() && !node.name.empty()) {
      std::string wish =
          node.outputs.size() == 1 ? node.name : fmt::format("{}.{}", node.name, graph.outputs()[i].output);
      if (taken.insert(wish).second) name = std::move(wish);
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::size_t count_unused_weights(const Graph& graph) {
  std::vector<bool> is_used(graph.nodes().size(), false);
  for (const Node& node : graph.nodes())
    for (const Port& port : node.inputs) is_used[port.node.value] = true;
  for (const Port& port : graph.outputs()) is_used[port.node.value] = true;
  return static_cast<std::size_t>(std::ranges::count_if(
      graph.inputs(), [&](NodeId id) { return graph.node(id).is_weight() && !is_used[id.value]; }));
}

/// What the opaque nodes' model has around its graph.
ImportedModel origin_of(const Graph& graph) {
  model::ModelProto skeleton;
  for (const Node& node : graph.nodes()) {
    if (!node.opaque() || !node.opaque()->frame) continue;
    skeleton.ParseFromString(*node.opaque()->frame);
    break;
  }
  skeleton.set_producer_name("rewright");
  skeleton.mutable_graph()->set_name("graph");
  ImportedModel origin;
  origin.skeleton = skeleton.SerializeAsString();
  return origin;
}

/// What two reshapes behind each other leave as it was: a bias that Add takes in more dimensions.
Port without_reshapes(const Graph& graph, Port port) {
  const Node& last = graph.node(port.node);
  if (!last.applies("reshape")) return port;
  const Node& first = graph.node(last.inputs[0].node);
  const bool is_back = first.applies("reshape") && graph.shape(first.inputs[0]) == graph.shape(port);
  return is_back ? first.inputs[0] : port;
}

}  // namespace

Result<Graph> graph_alone(const ImportedModel& model) {
  for (const NodeId id : model.graph.inputs()) {
    const Node& node = model.graph.node(id);
    const TensorType& type = node.outputs.front();
    if (!has_fixed_size(type))
      return make_error(ErrorCode::kUnsupported, "input '{}' is of type {}, which the text form cannot say", node.name,
                        type.element == ElementType::kUnknown ? "sequence, map or the like" : name_of(type.element));
    if (node.is_weight() && !node.constant())
      return make_error(ErrorCode::kUnsupported, "the values of weight '{}' are of a kind that a graph cannot hold",
                        node.name);
  }
  const std::map<std::uint32_t, std::string> names = names_in(model);
  return with_each_node(
      model.graph,
      [&](NodeId id, Node& node) {
        if (const auto found = names.find(id.value); found != names.end() && !node.is_input())
          node.name = found->second;
        if (node.applies("bias_add")) node.inputs[1] = without_reshapes(model.graph, node.inputs[1]);
      },
      output_names_of(model.graph));
}

Result<GraphAsModel> graph_as_model(const Graph& graph, std::uint64_t seed) {
  REWRIGHT_CHECK(check_content(graph));
  GraphAsModel result;
  result.left_out = count_unused_weights(graph);
  const Graph complete = with_each_node(
      graph,
      [&](NodeId, Node& node) {
        if (!node.is_weight() || node.constant()) return;
        ++result.drawn;
        node.content =
            InputNode{InputKind::kWeight,
                      std::make_shared<const ConstantData>(draw(node.outputs.front(), seed_for(node.name, seed)))};
      },
      names_of_outputs(graph));
  ExportOptions options;
  options.as_written = true;
  options.exact = true;
  REWRIGHT_TRY(result.model, export_model(complete, origin_of(graph), options));
  return result;
}

}  // namespace rewright
