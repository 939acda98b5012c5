// Choosing a graph from an e-graph.
#pragma once

#include <rewright/optimize/program_egraph.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace rewright::egraph_search {

/// By class, the application that gives it; -1: none is needed, or there is none.
using Selection = std::vector<std::int32_t>;

/// The cheapest application of each class if nothing were shared:
///   cost(class) = least over its applications of  own cost + sum of cost(operand)
/// Classes that cannot be computed stay at -1.
[[nodiscard]] Selection choose_greedily(const ProgramEGraph& egraph);

struct ExactLimits {
  int nodes = 1000;  ///< Of the search tree.
};
struct ExactChoice {
  Selection selection;
  bool optimal = false;  ///< Proved; otherwise the best that was found within the limit.
};
/// The cheapest selection, what is shared counted once, by integer programming:
///   minimise    sum over applications a of  cost(a) * x(a),  x binary
///   such that   y(c) = 1                                      for each output c
///               sum over a that give c of x(a)  >=  y(c)      for each class c
///               y(c)  >=  x(a)                                for each application a and each of its operands c
/// There are no constraints against circles: the e-graph has none. `known` is a selection to start from. `keep_going`
/// is asked at least ten times a second; false ends it with the best so far. Nothing where the solver found none.
/// Errors: as minimise.
[[nodiscard]] Result<std::optional<ExactChoice>> choose_exactly(const ProgramEGraph& egraph, const Selection& known,
                                                                const ExactLimits& limits,
                                                                const std::function<bool()>& keep_going);

}  // namespace rewright::egraph_search
