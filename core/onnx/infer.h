// Types of tensors by ONNX's own shape inference, one node at a time, and the integer values that it can follow
// (the shape that Shape, Gather, Concat and their like compute).
#pragma once

#include <onnx/shape_inference/implementation.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "onnx/proto.h"

namespace rewright::model {

class TypeInference {
 public:
  /// Keeps a reference to the model.
  explicit TypeInference(const ModelProto& model);

  void set_type(const std::string& name, TypeProto type);
  /// A tensor whose value inference may look at; kept by copy, so small ones only.
  void set_value(const std::string& name, TensorProto value);

  /// Sets what follows for the node's outputs; a node that ONNX's library cannot say anything about sets nothing.
  void infer(const NodeProto& node);

  [[nodiscard]] const TypeProto* type(const std::string& name) const;
  /// The type where all of it is known.
  [[nodiscard]] std::optional<TensorType> static_type(const std::string& name) const;
  /// The integers that a tensor is known to hold.
  [[nodiscard]] std::shared_ptr<const ConstantData> integers(const std::string& name) const;

 private:
  [[nodiscard]] bool would_crash(const NodeProto& node) const;
  void infer_types(NodeProto& node, const ::onnx::OpSchema& schema);
  void propagate(NodeProto& node, const ::onnx::OpSchema& schema);

  const ModelProto& model_;
  std::int64_t opset_;
  std::unordered_map<std::string, int> opsets_;
  ::onnx::shape_inference::ModelLocalFunctionsMap functions_;
  ::onnx::shape_inference::SymbolTableImpl symbols_;
  std::deque<TypeProto> type_store_;
  std::unordered_map<std::string, TypeProto*> types_;
  std::deque<TensorProto> value_store_;
  std::unordered_map<std::string, const TensorProto*> values_;
  std::unordered_map<std::string, const ::onnx::SparseTensorProto*> sparse_;
  std::unordered_map<std::string, ::onnx::TensorShapeProto> propagated_;
};

}  // namespace rewright::model
