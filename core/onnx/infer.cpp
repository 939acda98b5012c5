#include "onnx/infer.h"

#include <onnx/shape_inference/implementation.h>

#include "onnx/element.h"
#include "onnx/opset.h"
#include "onnx/scope.h"

namespace rewright::model {
namespace {

namespace inference = ::onnx::shape_inference;
using Integers = std::unordered_map<std::string, ::onnx::TensorShapeProto>;

// A question is a model of one node: the types of what it uses are the graph's inputs, known values its initializers,
// known integers (as the sizes of a shape, which is how ONNX's library keeps them) its value_info. In the answer, the
// types of what the node makes are the graph's outputs, integers again its value_info.

void add_integers(GraphProto& graph, const std::string& name, const ::onnx::TensorShapeProto& values) {
  auto& info = *graph.add_value_info();
  info.set_name(name);
  *info.mutable_type()->mutable_tensor_type()->mutable_shape() = values;
}

/// What the question's node and values are, in the containers that ONNX's library wants.
struct Context {
  explicit Context(ModelProto& model) : node(*model.mutable_graph()->mutable_node(0)) {
    GraphProto& graph = *model.mutable_graph();
    symbols.addFromGraph(graph);
    for (auto& input : *graph.mutable_input()) types[input.name()] = input.mutable_type();
    for (const auto& tensor : graph.initializer()) values[tensor.name()] = &tensor;
    for (const auto& info : graph.value_info()) integers[info.name()] = info.type().tensor_type().shape();
    for (const auto& import : model.opset_import()) {
      opsets[normal_domain(import.domain())] = static_cast<int>(import.version());
    }
    ir_version = static_cast<int>(model.ir_version());
  }

  NodeProto& node;
  std::unordered_map<std::string, TypeProto*> types;
  std::unordered_map<std::string, const TensorProto*> values;
  std::unordered_map<std::string, const ::onnx::SparseTensorProto*> sparse;
  Integers integers;
  std::unordered_map<std::string, int> opsets;
  inference::SymbolTableImpl symbols;
  inference::ModelLocalFunctionsMap functions;
  int ir_version = 0;
};

void answer_types(Context& context, const ::onnx::OpSchema& schema, GraphProto& answer) {
  inference::GraphInferenceContext graphs(context.types, context.opsets, &context.symbols, context.functions,
                                          ::onnx::OpSchemaRegistry::Instance(), &context.integers, context.ir_version);
  inference::InferenceContextImpl node(context.node, context.types, context.values, context.sparse, &context.integers,
                                       &graphs);
  schema.GetTypeAndShapeInferenceFunction()(node);
  for (int i = 0; i < context.node.output_size(); ++i) {
    const TypeProto& type = node.allOutputTypes_[static_cast<std::size_t>(i)];
    if (context.node.output(i).empty() || type.value_case() == TypeProto::VALUE_NOT_SET) continue;
    auto& output = *answer.add_output();
    output.set_name(context.node.output(i));
    *output.mutable_type() = type;
  }
}

void answer_integers(Context& context, const ::onnx::OpSchema& schema, GraphProto& answer) {
  if (!schema.has_data_propagation_function()) return;
  inference::DataPropagationContextImpl node(context.node, context.types, context.values, context.integers);
  schema.GetDataPropagationFunction()(node);
  for (const std::string& name : context.node.output()) {
    const auto found = context.integers.find(name);
    if (found != context.integers.end()) add_integers(answer, name, found->second);
  }
}

/// Runs in the sandbox. Inference throws where it cannot follow a node as well as where one is wrong: neither says a
/// type, and types that were said before integers could not be followed stand.
std::string answer(const std::string& request) {
  ModelProto model;
  GraphProto result;
  if (!model.ParseFromString(request)) return {};
  Context context(model);
  const std::string domain = normal_domain(context.node.domain());
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(context.node.op_type(), context.opsets[domain], domain);
  try {
    schema->Verify(context.node);  // Inference takes it for granted.
    answer_types(context, *schema, result);
    answer_integers(context, *schema, result);
  } catch (const std::exception&) {
  }
  return result.SerializeAsString();
}

}  // namespace

TypeInference::TypeInference(const ModelProto& model) : opset_(opset_of(model)), sandbox_(answer) {
  versions_.set_ir_version(model.ir_version());
  *versions_.mutable_opset_import() = model.opset_import();
}

ModelProto TypeInference::question(const NodeProto& node) const {
  ModelProto asked = versions_;
  GraphProto& graph = *asked.mutable_graph();
  *graph.add_node() = node;
  std::vector<std::string> names = captures(node);
  names.insert(names.end(), node.input().begin(), node.input().end());
  for (const std::string& name : names) {
    if (const auto known = types_.find(name); known != types_.end()) {
      auto& input = *graph.add_input();
      input.set_name(name);
      *input.mutable_type() = known->second;
    }
    if (const auto known = values_.find(name); known != values_.end()) {
      *graph.add_initializer() = known->second;
      graph.mutable_initializer(graph.initializer_size() - 1)->set_name(name);
    }
    if (const auto known = followed_.find(name); known != followed_.end()) add_integers(graph, name, known->second);
  }
  return asked;
}

void TypeInference::infer(const NodeProto& node) {
  if (inference_outdated(node, opset_)) return;
  const std::string domain = normal_domain(node.domain());
  std::int64_t version = 0;
  for (const auto& import : versions_.opset_import()) {
    if (normal_domain(import.domain()) == domain) version = import.version();
  }
  if (::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(version), domain) == nullptr) return;
  const auto answered = sandbox_.ask(question(node).SerializeAsString());
  GraphProto known;
  if (!answered || !known.ParseFromString(*answered)) return;
  for (auto& output : *known.mutable_output()) set_type(output.name(), std::move(*output.mutable_type()));
  for (auto& info : *known.mutable_value_info()) {
    followed_[info.name()] = std::move(*info.mutable_type()->mutable_tensor_type()->mutable_shape());
  }
}

const TypeProto* TypeInference::type(const std::string& name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : &found->second;
}

std::optional<TensorType> TypeInference::static_type(const std::string& name) const {
  const TypeProto* found = type(name);
  return found == nullptr ? std::nullopt : model::static_type(*found);
}

std::shared_ptr<const ConstantData> TypeInference::integers(const std::string& name) const {
  const auto found = followed_.find(name);
  const auto type = static_type(name);
  if (found == followed_.end() || !type || type->element != ElementType::kInt64 || type->shape.rank() > 1 ||
      type->shape.elements() != found->second.dim_size()) {
    return nullptr;
  }
  std::vector<std::int64_t> values;
  for (const auto& dim : found->second.dim()) {
    if (!dim.has_dim_value()) return nullptr;
    values.push_back(dim.dim_value());
  }
  return std::make_shared<const ConstantData>(integers_of_shape(type->shape, values));
}

}  // namespace rewright::model
