// A version of an artefact: of which model it is, and what its user knows of it.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compile/kernels.h"
#include "onnx/imported_model.h"

namespace rewright::compile {

/// A tensor of the model's own, as its user knows it.
struct NamedTensor {
  std::string name;
  Port port;
  TensorType type;
};

/// Sizes that stay open, by name.
using OpenSizes = std::map<std::string, std::int64_t>;

/// A graph at its sizes, and its kernels. Borrows all.
struct ModelVersion {
  const Graph* graph;
  const std::map<std::string, ExternalWeight>* external;
  const Kernels* kernels;
  OpenSizes sizes = {};  ///< Of those that stay open; none: it is the only version.
};

struct ArtefactVersion {
  OpenSizes sizes;
  std::vector<NamedTensor> inputs, outputs;
  std::int64_t memory_bytes = 0;
};

}  // namespace rewright::compile
