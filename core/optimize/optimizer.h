// Making a graph cheaper: rules, a search over the graphs that they reach, a cost to compare them by.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/look_log.h"

namespace rewright {

/// What is done about data layouts (layouts.h).
enum class LayoutUse : std::uint8_t {
  kNone,        ///< Nothing: all tensors are in order.
  kOnly,        ///< They are chosen for the graph as it is; rules are not applied.
  kSequential,  ///< First the search, with tensors in order; then layouts for what it found.
  kJoint,       ///< The search compares graphs in their best layouts.
};

/// "none", "only", "sequential", "joint"; nothing for another word.
[[nodiscard]] REWRIGHT_API std::optional<LayoutUse> layout_use(std::string_view name);

/// Called before each kernel that the cost model is asked about, since no cache knows it: is a search going on, about
/// how many was it asked so far. False: it is asked about no more, everything ends, and what was found by then is the
/// result.
using MeasureProgress = std::function<bool(bool, std::uint64_t)>;

struct OptimizeOptions {
  std::uint64_t steps = 1000;  ///< At most; what a step is, the search says.
  std::uint64_t seed = 1;
  /// Serves the normal form that the search starts from (normal_form.h); null: it starts from the graph as it is.
  const Registry* registry = nullptr;
  /// The strategies that there are, for one that uses others; null: those of `registry`.
  const Registry* strategies = nullptr;
  std::uint64_t candidates = 0;  ///< Graphs looked at, at most; 0: any number.
  double seconds = 0;            ///< After so many the search ends with its best so far; 0: never.
  int threads = 1;               ///< No result depends on it.
  /// Graphs of more operators are cut into regions of at most this many (regions.h); 0: never.
  std::size_t region_size = 0;
  LayoutUse layout = LayoutUse::kNone;
  GraphCost* in_layouts = nullptr;  ///< What graphs cost in their best layouts; needed where layouts are used.
  LookLog* looks = nullptr;         ///< Where answers are kept and taken from; null: nowhere (look_log.h).
  MeasureProgress measuring = {};
  /// Nothing but the rules changes the graph: the normal form adds and multiplies in another order.
  bool exact = false;
};

/// Steps done, candidates seen, best cost in microseconds. False stops the search, which then gives its best so far.
using OptimizeProgress = std::function<bool(std::uint64_t, std::uint64_t, double)>;

/// What the first step of a path is called if it is the normal form.
inline constexpr const char* kNormalFormStep = "normal form";
/// And the step from tensors in order to the layouts that are best: the first of a joint path, otherwise the last.
inline constexpr const char* kLayoutStep = "data layouts";

struct OptimizeReport {
  SearchResult search;  ///< `best` and the path's graphs have chains of binary concats and splits; see chain_form.h.
  bool exact = false;   ///< As OptimizeOptions::exact.
  Graph best;           ///< The result, chains joined, layouts written as far as ONNX can say them.
  std::size_t reordered = 0;  ///< Tensors of the result that do not lie in order.
  double seconds = 0;
  double cpu_seconds = 0;             ///< Of all threads.
  bool out_of_time = false;           ///< OptimizeOptions::seconds ended the search.
  std::vector<std::string> unusable;  ///< Sentences: rules that can never be applied.
  std::vector<RefusedRule> refused;
  double spread_us = 0;  ///< Of the cost of `best` (Estimate::spread); 0 where the model gives none.
  std::map<std::string, std::string> without_cost;  ///< Types of opaque nodes that count as nothing, and why.
};

/// A graph of a search as it is to be written: chains joined and, unless it is to stay exact, biases beside their
/// convolutions.
[[nodiscard]] REWRIGHT_API Result<Graph> written_form(const Graph& graph, bool exact);

/// Errors: what the cost model or the search cannot do. Same input, same output.
[[nodiscard]] REWRIGHT_API Result<OptimizeReport> optimize(const Graph& graph, std::vector<Rule> rules,
                                                           SearchStrategy& search, GraphCost& cost,
                                                           const OptimizeOptions& options = {},
                                                           const OptimizeProgress& progress = {});

}  // namespace rewright
