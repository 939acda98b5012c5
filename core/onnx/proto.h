// ONNX's messages from and to our values.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/onnx.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "onnx/messages.h"

namespace rewright::model {

/// Errors: kParse.
[[nodiscard]] Result<ModelProto> parse_model(std::span<const std::byte> bytes, const std::string& file);

/// "" and "ai.onnx" are the same domain: ONNX's own.
[[nodiscard]] REWRIGHT_API std::string normal_domain(const std::string& domain);
/// "Conv", "com.microsoft:FusedConv".
[[nodiscard]] std::string qualified_type(const NodeProto& node);
/// For errors: "node 'conv1' (Conv)", by its first output if it has no name.
[[nodiscard]] std::string describe(const NodeProto& node);
/// The opset of ONNX's own operators; 0 if the model imports none.
[[nodiscard]] REWRIGHT_API std::int64_t opset_of(const ModelProto& model);

/// The type if it is a tensor with all sizes known, of at most kMaxRank axes and an element type that Graph names.
[[nodiscard]] REWRIGHT_API std::optional<TensorType> static_type(const TypeProto& type);
[[nodiscard]] TypeProto to_proto(const TensorType& type);

/// The tensor's value. `folder` is where external data lies, "" if there is none. Errors: kParse where the tensor
/// contradicts itself, kIo for external data, kUnsupported where a ConstantData cannot hold it (strings, 4-bit types).
[[nodiscard]] REWRIGHT_API Result<ConstantData> read_tensor(const TensorProto& tensor, const std::string& folder);
[[nodiscard]] TensorProto to_proto(const ConstantData& constant, const std::string& name);

/// Nothing if it is of a kind that OnnxAttribute does not have.
[[nodiscard]] std::optional<OnnxAttribute> read_attribute(const AttributeProto& attribute);
[[nodiscard]] AttributeProto to_proto(const std::string& name, const OnnxAttribute& attribute);

}  // namespace rewright::model
