// Types of tensors by ONNX's own shape inference, one node at a time, and the integer values that it can follow
// (the shape that Shape, Gather, Concat and their like compute).
//
// ONNX's inference trusts models: an axis out of range makes it read past an array. So it runs in a process of its
// own, and a node over which it crashes has no inferred type.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "onnx/proto.h"
#include "onnx/sandbox.h"

namespace rewright::model {

class TypeInference {
 public:
  explicit TypeInference(const ModelProto& model);

  void set_type(const std::string& name, TypeProto type) { types_[name] = std::move(type); }
  /// A tensor whose value inference may look at; kept by copy, so small ones only.
  void set_value(const std::string& name, TensorProto value) { values_[name] = std::move(value); }

  /// Sets what follows for the node's outputs; a node that ONNX's library cannot say anything about sets nothing.
  void infer(const NodeProto& node);

  [[nodiscard]] const TypeProto* type(const std::string& name) const;
  /// The type where all of it is known.
  [[nodiscard]] std::optional<TensorType> static_type(const std::string& name) const;
  /// The integers that a tensor is known to hold.
  [[nodiscard]] std::shared_ptr<const ConstantData> integers(const std::string& name) const;

 private:
  [[nodiscard]] ModelProto question(const NodeProto& node) const;

  std::int64_t opset_;
  ModelProto versions_;  ///< The model's versions alone.
  Sandbox sandbox_;
  std::unordered_map<std::string, TypeProto> types_;
  std::unordered_map<std::string, TensorProto> values_;
  std::unordered_map<std::string, ::onnx::TensorShapeProto> followed_;  ///< Integers that inference computed.
};

}  // namespace rewright::model
