// Quantisation annotations: which tensors of a graph are said to be quantised, and with which scales.
#pragma once

#include <set>
#include <string>

#include "onnx/proto.h"

namespace rewright::model {

/// Scales and zero points that annotations name. Often nothing else does.
[[nodiscard]] std::set<std::string> annotating_tensors(const GraphProto& graph);

/// Removes annotations of which the tensor, a scale or a zero point is not in the graph any more.
REWRIGHT_API void drop_stale_annotations(GraphProto& graph);

}  // namespace rewright::model
