// An artefact as an ONNX model: one node, of an operator of domain "rewright" that is called as the artefact.
#pragma once

#include <rewright/graph/graph.h>

#include <span>
#include <string>

namespace rewright::compile {

/// A tensor of the model's own, as its user knows it.
struct NamedTensor {
  std::string name;
  Port port;
  TensorType type;
};

/// Serialized. A name that is taken gets "_" at its end. Inputs and outputs are those of the original, at the sizes
/// that were compiled.
[[nodiscard]] std::string single_node_model(const std::string& name, std::span<const NamedTensor> inputs,
                                            std::span<const NamedTensor> outputs);

}  // namespace rewright::compile
