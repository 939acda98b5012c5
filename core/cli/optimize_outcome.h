// What `rewright optimize` found out, for people, machines and browsers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "optimize/comparison.h"
#include "optimize/equivalence.h"
#include "optimize/optimizer.h"
#include "report/optimization.h"

namespace rewright::cli {

/// What a run found out, for people and machines.
struct OptimizeOutcome {
  OptimizeReport report;
  Equivalence equivalence;
  std::string model;                   ///< What is to be written.
  std::optional<std::size_t> culprit;  ///< Position in the path of the rewrite that broke equality.
  std::optional<TimeComparison> times;
  bool interrupted = false;
  bool slower = false;  ///< Measured, and slower than the original, which is what is written then.
};

void print_outcome(const OptimizeArguments& arguments, const OptimizeOutcome& outcome);
[[nodiscard]] Json to_json(const OptimizeArguments& arguments, const OptimizeOutcome& outcome);
/// What report/optimization.h makes a page of. Borrows `before` and the outcome.
[[nodiscard]] OptimizationStory story_of(const OptimizeArguments& arguments, const OptimizeOutcome& outcome,
                                         const Graph& before, const std::vector<Rule>& rules);

}  // namespace rewright::cli
