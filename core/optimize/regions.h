// A large graph cut into regions that are searched by themselves, and put together again.
//
// A cut splits the operators in two so that all data flows from the first part to the second and few tensors cross: the
// minimum cut between the first and the last third of a topological order, each tensor counted once and those that
// depend on weights alone not at all. Parts are cut again until they are small enough.
//
// Source  Jia et al.: TASO, SOSP 2019, section 6 (cutting the graph by maximum flow). Boykov, Kolmogorov: An
// Experimental
//         Comparison of Min-Cut/Max-Flow Algorithms, IEEE TPAMI 26(9), 2004 (Boost.Graph's implementation).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/optimize/search.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rewright {

struct Region {
  Graph graph;                ///< Inputs: what it takes from outside. Outputs: what others or the whole graph need.
  std::vector<Port> inputs;   ///< By input of the region: the whole graph's tensor.
  std::vector<Port> outputs;  ///< By output of the region, likewise.
};

/// Regions of at most `most` operators, in an order in which each takes from earlier ones and the graph's inputs alone.
/// Those with weights alone are not counted. A tensor that depends on weights alone is a weight of the region.
[[nodiscard]] REWRIGHT_API Result<std::vector<Region>> cut_into_regions(const Graph& graph, std::size_t most);

/// The whole graph with other graphs, of the same inputs and outputs, in the place of its regions.
[[nodiscard]] REWRIGHT_API Result<Graph> put_together(const Graph& graph, const std::vector<Region>& regions,
                                                      const std::vector<const Graph*>& contents);

/// Searches the regions side by side and gives the result for the whole graph.
[[nodiscard]] Result<SearchResult> search_regions(const SearchProblem& problem, SearchStrategy& search,
                                                  std::size_t most_operators);

}  // namespace rewright
