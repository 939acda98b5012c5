// A node in the form of another opset of ONNX's own operators, up or down.
//
//   convert(node, from, to)  = nodes that compute, under opset `to`, what `node` computes under opset `from`
//
// A node goes from version to version (opset_changes.h); what one step writes goes on with the next. Graphs inside
// (If, Loop, Scan) are converted node by node. Nodes of other domains do not depend on ONNX's opset.
//
// Errors  kUnsupported: what the node means cannot be said under `to`, or an axis, a size, a rank or an element type
//         that its form there must state is not known before the model runs.
// Source  ONNX's changelog of operators: schemas of opset 7 to 17 by the library, those of 18 to 24 by hand.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/conversion_context.h"
#include "onnx/proto.h"

namespace rewright::model {

/// Nodes can be converted between these opsets; from older ones and to them only where they mean the same (opset.h).
inline constexpr std::int64_t kOldestConverted = 7;
inline constexpr std::int64_t kNewestConverted = 24;

/// In order: each node comes after those whose results it reads. The node's outputs keep their names. Where it fails
/// nothing was added to the context.
[[nodiscard]] REWRIGHT_API Result<std::vector<NodeProto>> convert(const NodeProto& node, std::int64_t from,
                                                                  std::int64_t to, const ConversionContext& context);

/// A node and the opset in whose form it is.
struct WrittenNode {
  NodeProto node;
  std::int64_t opset = 0;
};

struct Converted {
  std::int64_t opset = 0;
  std::vector<NodeProto> nodes;
};

/// All nodes under one opset: `own` if every node can be said there, else the least above it. Errors: kUnsupported
/// where there is none up to kNewestConverted; names a node that fails under `own` and one that fails under the last.
/// Where `own` is newer than kNewestConverted, nodes of an older form are written in that of kNewestConverted: what
/// ONNX has changed since is not known here.
[[nodiscard]] REWRIGHT_API Result<Converted> to_one_opset(const std::vector<WrittenNode>& nodes, std::int64_t own,
                                                          const ConversionContext& context);

}  // namespace rewright::model
