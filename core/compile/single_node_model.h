// An artefact as an ONNX model: one node, of an operator of domain "rewright" that is called as the artefact.
#pragma once

#include <span>
#include <string>

#include "compile/artefact_version.h"

namespace rewright::compile {

inline constexpr const char* kOperatorDomain = "rewright";

/// Serialized. A name that is taken gets "_" at its end. Inputs and outputs are those of the original, at the sizes
/// that were compiled; what differs between versions is open, and called as the open size where it is that.
[[nodiscard]] std::string single_node_model(const std::string& name, std::span<const ArtefactVersion> versions);

}  // namespace rewright::compile
