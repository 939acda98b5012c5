// What must hold of a model before its graph is read.
#pragma once

#include <string>
#include <vector>

#include "onnx/proto.h"

namespace rewright::model {

/// Versions and domains that can be, names defined once, every tensor that is used defined, no cycle, and each node
/// as its schema wants it, where ONNX's library knows the opset. Gives the nodes' positions in an order in which
/// every tensor is made before it is used (the model's own order, where it is one).
///
/// Errors  kParse; a sentence that names the file and the node or tensor.
[[nodiscard]] Result<std::vector<int>> check_model(const ModelProto& model, const std::string& file);

/// Resize of opsets 11 and 12 with a name where it leaves out the region, which exporters do and its schema does not
/// know.
[[nodiscard]] NodeProto with_region(NodeProto node, std::int64_t opset);

}  // namespace rewright::model
