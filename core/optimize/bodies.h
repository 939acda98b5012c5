// A search in a model's graph and in the bodies of its nodes: the branches of an If, the body of a Loop or a Scan.
//
// Each body is a graph of its own (onnx/import.h), searched like the model's, the innermost first. What is found there
// takes the body's place in its node, so that a rewrite in a body is a step from one graph of the model to the next.
//
//   cost(model) = cost(graph) + sum of cost(model) over its bodies
//
// Each body counts once, however often it runs, but for a branch that is not taken at these sizes.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <functional>
#include <set>
#include <string>

#include "onnx/import.h"
#include "optimize/optimizer.h"

namespace rewright {

/// What is done with one graph, of the model or a body.
struct GraphSearch {
  /// `share`: of all the model's operators, those of this graph; above 0, at most 1.
  std::function<Result<OptimizeReport>(const Graph& graph, double share, bool is_body)> search;
  /// Writes a graph as a model after its origin; `taken` are names that nothing new may get. Errors: kUnsupported where
  /// it cannot be written, or not without loss. A body is then searched up to there.
  std::function<Result<std::string>(const Graph& graph, const ImportedModel& origin, bool exact,
                                    const std::set<std::string>& taken)>
      write;
};

/// Errors: of the search, and of writing but kUnsupported.
[[nodiscard]] REWRIGHT_API Result<OptimizeReport> search_with_bodies(const ImportedModel& model,
                                                                     const GraphSearch& search);
/// The cost of the model as it is.
[[nodiscard]] REWRIGHT_API Result<double> cost_with_bodies(const ImportedModel& model, GraphCost& cost);
/// The graphs of the model and all its bodies beside each other, as one: for what is asked of all of them.
[[nodiscard]] REWRIGHT_API Result<Graph> side_by_side(const ImportedModel& model);

}  // namespace rewright
