#include "onnx/annotations.h"

#include <algorithm>

namespace rewright::model {
namespace {

std::set<std::string> tensors_of(const GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const NodeProto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

}  // namespace

std::set<std::string> annotating_tensors(const GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& annotation : graph.quantization_annotation())
    for (const auto& parameter : annotation.quant_parameter_tensor_names()) names.insert(parameter.value());
  return names;
}

void drop_stale_annotations(GraphProto& graph) {
  if (graph.quantization_annotation_size() == 0) return;
  const std::set<std::string> there = tensors_of(graph);
  auto& annotations = *graph.mutable_quantization_annotation();
  const auto is_stale = [&](const auto& annotation) {
    return !there.contains(annotation.tensor_name()) ||
           std::ranges::any_of(annotation.quant_parameter_tensor_names(),
                               [&](const auto& parameter) { return !there.contains(parameter.value()); });
  };
  annotations.erase(std::remove_if(annotations.begin(), annotations.end(), is_stale), annotations.end());
}

}  // namespace rewright::model
