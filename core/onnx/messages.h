// ONNX's messages. The only header here that needs ONNX's.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <span>

namespace rewright::model {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::TypeProto;
using ::onnx::ValueInfoProto;

/// No tensor of a model may have more elements.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

/// The number of elements; nothing if a size is negative or the product passes kMostElements.
[[nodiscard]] std::optional<std::int64_t> checked_elements(std::span<const std::int64_t> dims);

}  // namespace rewright::model
