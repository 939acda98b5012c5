// What an optimisation did to a model, as a page that is read in a browser: the rewrites one at a time, each with its
// rule and with both graphs in one drawing; the whole graphs; how the best cost fell.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/rule/rule.h>

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
    std::string rule_class = {};   ///< What it does to floating-point numbers.
    const Rule* drawn = nullptr;   ///< The rule; null: a step that is none.
    const Graph* after = nullptr;  ///< The graph after it; null: not known.
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

}  // namespace rewright
