// What simplification knows of ONNX's operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "onnx/proto.h"

namespace rewright::model {

/// Since then operands of arithmetic broadcast as they do now.
inline constexpr std::int64_t kOpsetOfBroadcasting = 7;

using Integers = std::vector<std::int64_t>;

/// An operator of ONNX's own domain.
[[nodiscard]] bool is_own(const NodeProto& node, std::string_view type);
[[nodiscard]] bool has_graphs(const NodeProto& node);
/// One element gives one element, whatever the others are.
[[nodiscard]] bool is_elementwise(const NodeProto& node);
/// The first output has the sizes of the first input.
[[nodiscard]] bool keeps_sizes(const NodeProto& node);
/// Gives the same for the same operands each time.
[[nodiscard]] bool is_function(const NodeProto& node);
/// Every value of the one is a value of the other.
[[nodiscard]] bool loses_nothing(ElementType from, ElementType to);

/// Axis i of the result is axis second[i] of an intermediate result whose axes are first's.
[[nodiscard]] Integers composed(const Integers& first, const Integers& second);
[[nodiscard]] bool is_in_order(const Integers& perm);

}  // namespace rewright::model
