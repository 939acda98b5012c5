#include "optimize/opaque_question.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "onnx/node_model.h"
#include "onnx/proto.h"
#include "onnx/scope.h"
#include "optimize/random_inputs.h"

namespace rewright {
namespace {

using namespace model;

std::string key_of(const OpaqueQuestion& question, std::string_view type) {
  std::string key = fmt::format("|{}|", type);
  for (const TensorType& in : question.in) key += fmt::format("{}:{}", static_cast<int>(in.element), in.shape);
  const XXH128_hash_t hash = XXH3_128bits(question.model.data(), question.model.size());
  return key + "#" + to_string(Hash128{hash.low64, hash.high64});
}

/// The node alone on inputs and weights of its own, named as the model names them.
Result<Graph> alone(const Graph& graph, const Node& node, const NodeModel& model) {
  GraphBuilder builder;
  std::map<std::string, Port> made;
  std::vector<Port> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string& name = model.inputs[i];
    if (!made.contains(name)) {
      const Node& maker = graph.node(node.inputs[i].node);
      const auto kind = maker.constant() != nullptr ? InputKind::kWeight : InputKind::kData;
      REWRIGHT_TRY(made[name], builder.input(name, graph.type(node.inputs[i]), kind, maker.constant()));
    }
    operands.push_back(made[name]);
  }
  for (const Port port : builder.opaque(*node.opaque(), std::move(operands), node.outputs)) builder.output(port);
  return builder.finish();
}

/// Makes weights of those inputs that are known.
Result<std::string> with_weights(const std::string& serialized, const Graph& alone) {
  ModelProto model;
  if (!model.ParseFromString(serialized))
    return make_error(ErrorCode::kInternal, "a node's model cannot be read again");
  GraphProto& graph = *model.mutable_graph();
  for (const NodeId id : alone.inputs()) {
    const Node& node = alone.node(id);
    if (node.constant() == nullptr) continue;
    *graph.add_initializer() = to_proto(*node.constant(), node.name);
    auto& inputs = *graph.mutable_input();
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(), [&](const auto& in) { return in.name() == node.name; }),
                 inputs.end());
  }
  return model.SerializeAsString();
}

Status add_model(const Graph& graph, const Node& node, OpaqueQuestion& question) {
  if (node.opaque()->frame == nullptr)
    return make_error(ErrorCode::kUnsupported, "it is not known which version of ONNX its model is of");
  REWRIGHT_TRY(const NodeModels models, NodeModels::create(*node.opaque()->frame));
  std::vector<ElementType> elements;
  for (const TensorType& type : question.in) elements.push_back(type.element);
  REWRIGHT_TRY(const NodeModel written, models.write(node.opaque()->serialized, elements, false));
  REWRIGHT_TRY(const Graph single, alone(graph, node, written));
  REWRIGHT_TRY(question.model, with_weights(written.model, single));
  REWRIGHT_TRY(question.inputs, random_inputs(single, 1));
  return {};
}

}  // namespace

bool has_graphs(const OpaqueNode& node) {
  NodeProto proto;
  if (!proto.ParseFromString(node.serialized)) return false;
  bool found = false;
  for_each_subgraph(proto, [&](const GraphProto&) { found = true; });
  return found;
}

Result<OpaqueQuestion> opaque_question(const Graph& graph, NodeId id, bool runs) {
  const Node& node = graph.node(id);
  OpaqueQuestion question;
  for (const Port port : node.inputs) question.in.push_back(graph.type(port));
  question.out = node.outputs;
  if (runs) REWRIGHT_CHECK(add_model(graph, node, question));
  question.key = key_of(question, node.opaque()->type);
  return question;
}

}  // namespace rewright
