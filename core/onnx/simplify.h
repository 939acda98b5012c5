// A model with fewer nodes that computes the same at every size that the model takes.
//
// To the last bit:
//   known        a node whose results are known before the run becomes stored tensors (known_values.h)
//   constant If  the branch that is always taken takes the place of the If
//   nothing      Identity, Dropout that does not drop, Cast to the same type, Pad by 0, Transpose in order, Reshape,
//                Expand, Slice and Tile to the same sizes, Concat of one, x*1, x/1, x-0, x+(-0), Squeeze of Unsqueeze
//   chains       Cast of a Cast that loses nothing, Reshape of Reshape, Transpose of Transpose, also with functions of
//                single elements between; a shape that copies sizes of what it shapes says so with 0
//   shared       equal nodes and equal initializers are one, unless nodes are random or may have a state
//   unused       what no output needs goes
//
// Of real numbers, unless SimplifyLevel::kExact (with weights that change only at kWeights):
//   fused        Conv and ConvTranspose with what scales and shifts channels behind them (simplify_fuse.cpp), Pad by 0
//                before them, MatMul and Add as Gemm, Relu before a Clip from 0
//   x+0          which makes -0 into 0
//   nothing      Neg of Neg, Not of Not, Relu, Abs, Sign and roundings again: exact, and left to the rules of a search
//
// Graphs  in If, Loop and Scan are simplified like the model's.
// Sizes   What is left open stays open, and only what is known with open sizes counts, unless they are frozen.
// Names   Tensors and nodes that stay keep their names, attributes and order.
// Stored  tensors that are made are initializers, or, before IR 4, where these must be inputs, Constant nodes.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "onnx/imported_model.h"
#include "onnx/simplify_level.h"

namespace rewright {

struct Simplified {
  std::string model;                         ///< A serialized ModelProto; empty where no node goes.
  std::map<std::string, std::size_t> steps;  ///< How often, by kind as above.

  /// No step of those that are right of real numbers alone.
  [[nodiscard]] bool is_exact() const { return !steps.contains("fused") && !steps.contains("x+0"); }
};

/// `options`: of its sizes only what is frozen counts. Errors: those of import_model.
[[nodiscard]] REWRIGHT_API Result<Simplified> simplify_model(std::span<const std::byte> model,
                                                             const ImportOptions& options = {},
                                                             SimplifyLevel level = SimplifyLevel::kExact);

}  // namespace rewright
