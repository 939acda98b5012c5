#include "onnx/infer.h"

#include "onnx/element.h"
#include "onnx/opset.h"
#include "onnx/scope.h"

namespace rewright::model {

namespace inference = ::onnx::shape_inference;

TypeInference::TypeInference(const ModelProto& model) : model_(model), opset_(opset_of(model)) {
  for (const auto& import : model.opset_import()) {
    opsets_[normal_domain(import.domain())] = static_cast<int>(import.version());
  }
  symbols_.addFromGraph(model.graph());
}

void TypeInference::set_type(const std::string& name, TypeProto type) {
  type_store_.push_back(std::move(type));
  types_[name] = &type_store_.back();
}

void TypeInference::set_value(const std::string& name, TensorProto value) {
  value_store_.push_back(std::move(value));
  values_[name] = &value_store_.back();
}

void TypeInference::infer(const NodeProto& original) {
  const std::string domain = normal_domain(original.domain());
  const auto version = opsets_.find(domain);
  if (version == opsets_.end() || inference_outdated(original, opset_)) return;
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(original.op_type(), version->second, domain);
  if (schema == nullptr || would_crash(original)) return;
  NodeProto node = original;  // Inference of inner graphs writes into them.
  try {
    schema->Verify(node);  // Inference takes it for granted.
    infer_types(node, *schema);
    propagate(node, *schema);
  } catch (const std::exception&) {
    // Inference refuses what it cannot follow as well as what is wrong: neither says a type.
  }
}

/// ONNX's library reads past the end where a convolution's weight has another rank than its input.
bool TypeInference::would_crash(const NodeProto& node) const {
  static const std::map<std::string, int> kWeight = {
      {"Conv", 1}, {"ConvTranspose", 1}, {"ConvInteger", 1}, {"QLinearConv", 3}};
  const auto weight = kWeight.find(node.op_type());
  if (weight == kWeight.end() || weight->second >= node.input_size()) return false;
  const TypeProto* x = type(node.input(0));
  const TypeProto* w = type(node.input(weight->second));
  return x == nullptr || w == nullptr ||
         x->tensor_type().shape().dim_size() != w->tensor_type().shape().dim_size();
}

void TypeInference::infer_types(NodeProto& node, const ::onnx::OpSchema& schema) {
  std::unique_ptr<inference::GraphInferenceContext> graphs;
  bool has_graphs = false;
  for_each_subgraph(node, [&](const GraphProto&) { has_graphs = true; });
  if (has_graphs) {
    graphs = std::make_unique<inference::GraphInferenceContext>(types_, opsets_, &symbols_, functions_,
                                                                ::onnx::OpSchemaRegistry::Instance(), &propagated_,
                                                                static_cast<int>(model_.ir_version()));
  }
  inference::InferenceContextImpl context(node, types_, values_, sparse_, &propagated_, graphs.get());
  schema.GetTypeAndShapeInferenceFunction()(context);
  for (int i = 0; i < node.output_size(); ++i) {
    const TypeProto& type = context.allOutputTypes_[static_cast<std::size_t>(i)];
    if (!node.output(i).empty() && type.value_case() != TypeProto::VALUE_NOT_SET) set_type(node.output(i), type);
  }
}

void TypeInference::propagate(NodeProto& node, const ::onnx::OpSchema& schema) {
  if (!schema.has_data_propagation_function()) return;
  inference::DataPropagationContextImpl context(node, types_, values_, propagated_);
  schema.GetDataPropagationFunction()(context);
}

const TypeProto* TypeInference::type(const std::string& name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second;
}

std::optional<TensorType> TypeInference::static_type(const std::string& name) const {
  const TypeProto* found = type(name);
  return found == nullptr ? std::nullopt : model::static_type(*found);
}

std::shared_ptr<const ConstantData> TypeInference::integers(const std::string& name) const {
  const auto found = propagated_.find(name);
  const auto type = static_type(name);
  if (found == propagated_.end() || !type || type->element != ElementType::kInt64 || type->shape.rank() > 1 ||
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
