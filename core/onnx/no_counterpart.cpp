// The answers of operators without an ONNX counterpart.
#include <rewright/graph/graph.h>
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>

namespace rewright {

Result<std::vector<Port>> Operator::from_onnx(const OnnxNode& node, GraphBuilder&) const {
  return make_error(ErrorCode::kUnsupported, "{}: does not read the ONNX operator {}", name(), node.type);
}

Result<std::vector<std::string>> Operator::to_onnx(const Params&, std::span<const std::string>, std::span<const Shape>,
                                                   OnnxWriter&) const {
  return make_error(ErrorCode::kUnsupported, "{}: has no ONNX counterpart, so a graph with it cannot be exported",
                    name());
}

}  // namespace rewright
