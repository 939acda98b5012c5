// Whether a node means the same under two versions of ONNX's operators.
#pragma once

#include <cstdint>
#include <string>

#include "onnx/proto.h"

namespace rewright::model {

/// The newest opset whose schemas the ONNX library here knows, and the one whose forms operators write.
inline constexpr std::int64_t kNewestKnownOpset = 17;

/// True if `node`, written for opset `from`, is valid under opset `to` and means the same there, the graphs inside it
/// included. Nodes of other domains than ONNX's own do not depend on it. Opsets above 17 equal only themselves.
[[nodiscard]] bool same_meaning(const NodeProto& node, std::int64_t from, std::int64_t to);

/// True where the library's schema of opset 17 infers wrong shapes for the operator's form of opset `opset`.
[[nodiscard]] bool inference_outdated(const NodeProto& node, std::int64_t opset);

/// The least IR version whose readers know the opset.
[[nodiscard]] REWRIGHT_API std::int64_t ir_version_for(std::int64_t opset);

}  // namespace rewright::model
