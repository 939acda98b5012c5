// What an optimisation did to a model, as a page that is read in a browser: the rewrites in order with the cost before
// and after each, how the best cost fell over time, the graphs before and after with what has changed marked.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

struct OptimizationStory {
  struct Rewrite {
    std::string rule;  ///< Its name.
    std::string text;  ///< Its text form; may be empty.
    double before_us = 0;
    double after_us = 0;
  };
  struct Moment {
    double seconds = 0;
    std::uint64_t candidates = 0;
    double best_us = 0;
  };
  std::string model;
  std::string search;
  std::string cost;
  std::vector<std::pair<std::string, std::string>> facts;  ///< Lines of a table: what, how much.
  std::vector<Rewrite> rewrites;
  std::vector<Moment> curve;  ///< In the order of time; the last stands until the end.
  const Graph* before = nullptr;
  const Graph* after = nullptr;
};

/// One HTML page; it asks for nothing over the network. Without Graphviz it says so in place of the drawings.
/// Errors: Graphviz fails on a drawing.
[[nodiscard]] REWRIGHT_API Result<std::string> optimization_page(const OptimizationStory& story);

/// The graph's run time part as Graphviz DOT: weights and work on them are left out; nodes that are marked are
/// coloured. Where the graph has more than `most` applications, only the marked ones and those up to two operators
/// away are drawn.
[[nodiscard]] REWRIGHT_API std::string changes_as_dot(const Graph& graph, const std::vector<bool>& marked,
                                                      std::size_t most = 150);

}  // namespace rewright
