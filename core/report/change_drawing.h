// Graphs as drawings in which only what a rewrite changed has a colour: DOT for render_parts, whose classes the style
// sheet of pages knows: "gone", "new", "touched"; "data", "weight", "opaque", "op", "rest".
//
// Shapes  Work on weights that is done before the first run is left out, but for what a change takes of it.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <optional>
#include <string>
#include <vector>

#include "report/graph_difference.h"

namespace rewright {

/// One step, both graphs in one drawing: what stays is drawn once, so that it stays where it is. Where both have more
/// than `most` nodes together, changes and what is up to two operators away. Nothing where nothing that is drawn has
/// changed, or too much to be looked at.
[[nodiscard]] REWRIGHT_API std::optional<std::string> step_as_dot(const Graph& before, const Graph& after,
                                                                  const Counterparts& counterparts,
                                                                  std::size_t most = 16);

/// A graph whose marked nodes are "touched". Where it has more than `most` nodes: these and what is up to two operators
/// away.
[[nodiscard]] REWRIGHT_API std::string graph_as_dot(const Graph& graph, const std::vector<bool>& marked,
                                                    std::size_t most = 150);

/// The same for a file of its own, with colours.
[[nodiscard]] REWRIGHT_API std::string changes_as_dot(const Graph& graph, const std::vector<bool>& marked,
                                                      std::size_t most = 150);

}  // namespace rewright
