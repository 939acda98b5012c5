// Attention, softmax(s) v, by tiles of keys: the scores of one tile are there at a time, and never all. For each query
// the greatest score so far, the sum of exponentials and that of weighted values go from tile to tile:
//
//   m' = max(m, max s_t);  p = exp(s_t - m');  l' = exp(m - m') l + sum p;  o' = exp(m - m') o + p v_t;  y = o / l
//
// by attention-with-late-quotient, weighted-values-shifted and the axioms of concat. What makes scores element by
// element, and the product behind, is computed for each tile.
//
// Source  Milakov & Gimelshein, Online normalizer calculation for softmax, 2018; Rabe & Staats, Self-attention does not
//         need O(n^2) memory, 2021; Dao et al., FlashAttention, NeurIPS 2022.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>

#include <optional>
#include <string>
#include <vector>

namespace rewright::compile {

/// Why the node cannot be computed so; nothing where it can: a product of a softmax along its last axis, which nothing
/// else reads, of two tiles of keys or more.
[[nodiscard]] REWRIGHT_API std::optional<std::string> reason_against_tiles(const Graph& graph, const Node& node);
/// Names of the nodes that are gone when it is.
[[nodiscard]] REWRIGHT_API std::vector<std::string> nodes_within_tiles(const Graph& graph, const Node& node);
/// The node's result. `made`: what the graph's nodes before it have become.
[[nodiscard]] REWRIGHT_API Result<Port> by_tiles_of_keys(GraphBuilder& builder, const Graph& graph, const Node& node,
                                                         const std::vector<std::vector<Port>>& made);

}  // namespace rewright::compile
