// Making a graph cheaper: rules, a search over the graphs that they reach, a cost to compare them by.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/registry.h>
#include <rewright/result.h>
#include <rewright/rule.h>
#include <rewright/search.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rewright {

struct OptimizeOptions {
  std::uint64_t steps = 1000;  ///< Graphs expanded at most.
  std::uint64_t seed = 1;
  /// Serves the normal form that the search starts from (normal_form.h); null: it starts from the graph as it is.
  const Registry* registry = nullptr;
};

/// Steps done, candidates seen, best cost in microseconds. False stops the search, which then gives its best so far.
using OptimizeProgress = std::function<bool(std::uint64_t, std::uint64_t, double)>;

/// A rule that matched and yet could not be applied: its precondition says less than its target needs.
struct RefusedRule {
  std::string name;
  std::uint64_t times = 0;
  std::string reason;  ///< Of the first time.
};

/// What the first step of a path is called if it is the normal form.
inline constexpr const char* kNormalFormStep = "normal form";

struct OptimizeReport {
  SearchResult search;  ///< `best` and the path's graphs have binary concats; see concat_form.h.
  Graph best;           ///< The result, concats joined.
  double seconds = 0;
  std::vector<std::string> unusable;  ///< Sentences: rules that can never be applied.
  std::vector<RefusedRule> refused;
};

/// Errors: what the cost model or the search cannot do. Same input, same output.
[[nodiscard]] REWRIGHT_API Result<OptimizeReport> optimize(const Graph& graph, std::vector<Rule> rules,
                                                           SearchStrategy& search, GraphCost& cost,
                                                           const OptimizeOptions& options = {},
                                                           const OptimizeProgress& progress = {});

}  // namespace rewright
