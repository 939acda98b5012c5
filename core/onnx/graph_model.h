// A graph alone as a model, and a model as a graph that stands alone: what `rewright graph convert` does.
//
// Both ways keep what the text form says: inputs, weights and their values, operators, names of tensors and outputs.
// Nothing is simplified, folded or fused but a bias, which Conv and Gemm take as an input and which comes back.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "onnx/imported_model.h"

namespace rewright {

/// The model's graph, its nodes under the names of the tensors that they make. Errors: kUnsupported where the graph
/// does not say all that the model computes with: sequences, strings, weights of a type that a graph cannot hold.
[[nodiscard]] REWRIGHT_API Result<Graph> graph_alone(const ImportedModel& model);

struct GraphAsModel {
  std::string model;         ///< A serialized ModelProto.
  std::size_t drawn = 0;     ///< Weights that had no value.
  std::size_t left_out = 0;  ///< Weights that nothing uses.
};

/// Each weight is an initializer under its name (a ConstantOfShape node if it repeats one number more than 2^20 times).
/// One without a value gets pseudo-random numbers of the seed, other ones for each name: from -1 to 1, divided by the
/// square root of how many are summed; from 0.5 to 1.5 where there is no more than one axis. Errors: as export_model;
/// kUsage from a weight of integers without values, from an opaque node that was read without its content.
[[nodiscard]] REWRIGHT_API Result<GraphAsModel> graph_as_model(const Graph& graph, std::uint64_t seed = 1);

}  // namespace rewright
