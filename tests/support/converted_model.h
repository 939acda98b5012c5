// A whole model in the forms of another opset, node by node.
#pragma once

#include <onnx/shape_inference/implementation.h>

#include <map>
#include <set>
#include <string>

#include "onnx/opset.h"
#include "onnx/opset_convert.h"
#include "onnx/scope.h"

namespace rewright {

/// What the model says of its tensors, and what ONNX's shape inference does where it knows the opset.
class ModelFacts {
 public:
  explicit ModelFacts(model::ModelProto model) : model_(std::move(model)) {
    if (model::opset_of(model_) <= model::kNewestKnownOpset) infer();
    const model::GraphProto& graph = model_.graph();
    for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()})
      for (const auto& value : *values) learn(value);
    for (const auto& tensor : graph.initializer()) learn(tensor.name(), tensor);
    for (const auto& node : graph.node()) {
      taken_.insert(node.name());
      taken_.insert(node.output().begin(), node.output().end());
      for (std::string& name : model::inner_names(node)) taken_.insert(std::move(name));
      if (node.op_type() == "Constant" && node.attribute_size() == 1 && node.attribute(0).name() == "value")
        learn(node.output(0), node.attribute(0).t());
    }
  }

  /// `added` takes the new initializers.
  [[nodiscard]] model::ConversionContext context(std::vector<model::TensorProto>& added) {
    model::ConversionContext context;
    context.constant = [this](const std::string& name) -> const model::TensorProto* {
      const auto found = constants_.find(name);
      return found == constants_.end() ? nullptr : found->second;
    };
    context.known = [this](const std::string& name) { return known_[name]; };
    context.add = [&added](model::TensorProto tensor) { added.push_back(std::move(tensor)); };
    context.fresh = [this](std::string_view hint) {
      std::string name(hint);
      for (int i = 1; !taken_.insert(name).second; ++i) name = std::string(hint) + "_" + std::to_string(i);
      return name;
    };
    return context;
  }

 private:
  void infer() {
    try {
      ::onnx::shape_inference::InferShapes(model_);
    } catch (const std::exception&) {
    }
  }
  void learn(const ::onnx::ValueInfoProto& value) {
    taken_.insert(value.name());
    if (!value.type().has_tensor_type()) return;
    model::KnownTensor& known = known_[value.name()];
    known.element = value.type().tensor_type().elem_type();
    if (!value.type().tensor_type().has_shape()) return;
    known.dims.emplace();
    for (const auto& dim : value.type().tensor_type().shape().dim())
      known.dims->push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  }
  void learn(const std::string& name, const model::TensorProto& tensor) {
    taken_.insert(name);
    constants_[name] = &tensor;
    known_[name] = {tensor.data_type(), std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end())};
  }

  model::ModelProto model_;
  std::map<std::string, const model::TensorProto*> constants_;
  std::map<std::string, model::KnownTensor> known_;
  std::set<std::string> taken_;
};

/// Errors: kUnsupported.
inline Result<model::ModelProto> converted(const model::ModelProto& model, std::int64_t to) {
  ModelFacts facts(model);
  std::vector<model::TensorProto> added;
  const model::ConversionContext context = facts.context(added);
  model::ModelProto result = model;
  result.mutable_graph()->clear_node();
  for (const auto& node : model.graph().node()) {
    REWRIGHT_TRY(const auto nodes, model::convert(node, model::opset_of(model), to, context));
    for (const auto& made : nodes) *result.mutable_graph()->add_node() = made;
  }
  for (auto& tensor : added) *result.mutable_graph()->add_initializer() = std::move(tensor);
  for (auto& import : *result.mutable_opset_import())
    if (model::normal_domain(import.domain()).empty()) import.set_version(to);
  // Initializers that are no inputs came with IR 4; some of the older ones are listed.
  result.set_ir_version(std::max<std::int64_t>({result.ir_version(), 4, model::ir_version_for(to)}));
  return result;
}

}  // namespace rewright
