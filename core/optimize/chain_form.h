// Concatenations and splits of several parts, as chains of binary ones and back.
//
// Patterns join and split two tensors at a time; models do so with many:
//     concat(a, b, c, d)           <->  concat(concat(concat(a, b), c), d)
//     a, b, c = split[k, m, n](x)  <->  p, c = split[k + m, n](x)  and  a, b = split[k, m](p)      all on one axis
// The optimizer searches over the chains, so that what is proved of two parts serves any number of them: a rule takes
// one link after the other. A chain costs what the one operator costs that it is (see GraphCost), and is one operator
// again when the search is done. Rules that have several parts themselves are read in the same way (chain_form in
// <rewright/verify/derivation.h>).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

namespace rewright {

/// Every concat has two operands, every split two parts. Other operators are untouched.
[[nodiscard]] REWRIGHT_API Result<Graph> to_chains(const Graph& graph);
/// Every concat whose only use is a concat on the same axis is part of that one; so is every split that is the only use
/// of a part of a split on the same axis.
[[nodiscard]] REWRIGHT_API Result<Graph> from_chains(const Graph& graph);

/// Does the second operator, an operand or part of whose the first one makes, lie on its chain?
[[nodiscard]] bool are_one_chain(const Node& maker, const Node& user);

}  // namespace rewright
