// Work on weights whose values are known, done before the model runs.
#pragma once

#include <rewright/graph.h>

#include <map>
#include <string>
#include <vector>

#include "onnx/export.h"

namespace rewright::model {

struct Folding {
  /// The values of applications that a run needs and need not compute.
  std::map<Port, ConstantData> values;
  /// By node: true for applications that a run computes. Those of `values` and those only they need are not among them.
  std::vector<bool> at_run_time;
};

/// Computes in double precision and rounds once, to the element type. A result of one repeated number is kept as that.
/// What would pass the limits of `options` is left to the run, and noted. Errors: kBudget, kUnsupported from weights
/// that cannot be read as numbers. Weights in `external` are read when they are computed with, and dropped.
[[nodiscard]] Result<Folding> fold(const Graph& graph, const std::map<std::string, ExternalWeight>& external,
                                   const ExportOptions& options);

}  // namespace rewright::model
