// A model with fewer nodes that computes the same, to the last bit, at every size that the model takes.
//
//   known        a node whose results are known before the run becomes initializers (known_values.h)
//   constant If  the branch that is always taken takes the place of the If
//   nothing      Identity, Dropout that does not drop, Cast to the same type, Pad by 0, Transpose in order, Reshape,
//                Expand, Slice and Tile to the same sizes, Concat of one, x*1, x/1, x-0, x+(-0), Squeeze of Unsqueeze
//   chains       Cast of a Cast that loses nothing, Reshape of Reshape, Transpose of Transpose, also with functions of
//                single elements between
//   shared       equal nodes and equal initializers are one, unless nodes are random or may have a state
//   unused       what no output needs goes
//
// Sizes   What is left open stays open, and only what is known with open sizes counts, unless they are frozen.
// Names   Tensors and nodes that stay keep their names, attributes and order.
// Not     x+0: it makes -0 into 0. Graphs inside nodes are left as they are.
#pragma once

#include <rewright/export.h>
#include <rewright/result.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "onnx/import.h"

namespace rewright {

struct Simplified {
  std::string model;                         ///< A serialized ModelProto; empty where no node goes.
  std::map<std::string, std::size_t> steps;  ///< How often, by kind as above.
};

/// `options`: of its sizes only what is frozen counts. Errors: those of import_model.
[[nodiscard]] REWRIGHT_API Result<Simplified> simplify_model(std::span<const std::byte> model,
                                                             const ImportOptions& options = {});

}  // namespace rewright
