// Concatenations of several tensors, as a chain of binary ones and back.
//
// Patterns join two tensors at a time; models join many:
//     concat(a, b, c, d)  <->  concat(concat(concat(a, b), c), d)      all on one axis
// The optimizer searches over the chain, so that rules of binary concat fire, costs it as the one concat that it is
// (see GraphCost), and joins what is left of chains when it is done.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>

namespace rewright {

/// Every concat has two operands. Other operators are untouched.
[[nodiscard]] REWRIGHT_API Result<Graph> split_concats(const Graph& graph);
/// Every concat whose only use is a concat on the same axis is part of that one.
[[nodiscard]] REWRIGHT_API Result<Graph> join_concats(const Graph& graph);

}  // namespace rewright
