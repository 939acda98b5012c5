// What changed in ONNX's own operators from opset to opset, 8 to 24: attributes that became inputs, attributes that
// came, values that came, and changes of meaning (opset_rewrites.h). An operator without a row only takes more element
// types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnx/opset_step.h"

namespace rewright::model {

/// Takes a node in the form of the opset before `step.version()` to the form of that. Errors: kUnsupported.
[[nodiscard]] Status step_up(NodeProto& node, OpsetStep& step);
/// Takes a node in the form of the opset after `step.version()` to the form of that. Errors: kUnsupported.
[[nodiscard]] Status step_down(NodeProto& node, OpsetStep& step);

/// The opset that brought the operator; nothing if ONNX has none of that name up to kNewestConverted.
[[nodiscard]] std::optional<std::int64_t> first_opset_of(const std::string& type);
/// Refuses element types of the node's tensors that the operator does not take under the opset.
[[nodiscard]] Status check_elements(const NodeProto& node, std::int64_t opset, const ConversionContext& context);

}  // namespace rewright::model
