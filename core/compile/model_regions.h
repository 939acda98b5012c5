// Parts of a model that one operator can stand for, and the model in which they are such operators.
//
// A node can be compiled if it alone, at its sizes, has loops (compile/kernels.h). The level of a node is the highest
// of the nodes that it reads, and one more where those are of the other kind. Connected nodes of one level that can be
// compiled are a region: levels only grow, so no path leaves a region and comes back. Stored tensors, Constant nodes
// among them, have no level; a region has its own.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "onnx/imported_model.h"

namespace rewright::compile {

struct ModelRegion {
  std::vector<int> nodes;                    ///< Of the model's graph, ascending.
  std::vector<std::string> inputs, outputs;  ///< Tensors of the model, each once.
  std::string model;                         ///< Of these nodes alone, serialized; all sizes are known.
};

/// Of a model whose inputs have these types; those of the most nodes first. Nodes in bodies and in functions are in no
/// region. Errors: kParse.
[[nodiscard]] REWRIGHT_API Result<std::vector<ModelRegion>> regions_of(const std::string& model,
                                                                       const std::map<std::string, TensorType>& inputs,
                                                                       const std::string& directory,
                                                                       const Registry& registry);

/// A region, and the operator of domain "rewright" that computes it.
struct RegionOperator {
  const ModelRegion* region;
  std::string name;
};

/// The model with a node for each region; what nothing reads any longer is gone. Errors: kParse.
[[nodiscard]] REWRIGHT_API Result<std::string> with_operators(const std::string& model,
                                                              std::span<const RegionOperator> regions);

}  // namespace rewright::compile
