// Other ways to compute an operator, by name, for single nodes of a graph: equations of axioms/algorithms.smt2.
//
//   winograd-2, winograd-4   a convolution of 3 x 3 taps, stride 1, one group, by tiles of 2 x 2 and 4 x 4 outputs:
//                            slice(winograd_output(broadcast_matmul(winograd_input(pad(x)), winograd_weight(w))))
//   sparse                   a convolution whose weight has more zeros than other numbers, without what is multiplied
//                            with 0: the same node, its kernel in another form (compile/sparse_weights.h)
//
// What depends on weights alone is computed before (known_weights.h). Results differ in their last digits: sums are
// taken in another order, and by the factors of the transforms some digits are lost (Lavin & Gray, CVPR 2016).
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rewright::compile {

/// Weights that are to be sparse where their kernel lets them, and how many of their elements are not 0.
using SparseWeights = std::map<Port, std::int64_t>;

/// Names of algorithms, by names of nodes.
using Algorithms = std::map<std::string, std::string>;

[[nodiscard]] REWRIGHT_API const std::vector<std::string>& algorithm_names();

/// Named applications that an algorithm fits.
[[nodiscard]] REWRIGHT_API std::vector<std::string> nodes_for(std::string_view algorithm, const Graph& graph);

/// The graph with these nodes computed so. New nodes are called after the node, a slash and what they do, but the last,
/// which has its name. Errors: kUsage, a node that is not there, or that the algorithm does not fit; kNotFound, an
/// operator that is not loaded.
[[nodiscard]] REWRIGHT_API Result<Graph> with_algorithms(const Graph& graph, const Algorithms& algorithms,
                                                         const Registry& registry);

/// Those of the nodes that are computed so, in a graph made with the algorithms: what scheduled() takes.
[[nodiscard]] REWRIGHT_API SparseWeights sparse_weights(const Graph& graph, const Algorithms& algorithms);

}  // namespace rewright::compile
