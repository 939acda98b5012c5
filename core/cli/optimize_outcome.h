// What `rewright optimize` found out, for people, machines and browsers.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "onnx/body.h"
#include "optimize/comparison.h"
#include "optimize/equivalence.h"
#include "optimize/model_run.h"
#include "optimize/optimizer.h"
#include "report/optimization.h"
#include "rule/rule_class.h"

namespace rewright::cli {

/// What a run found out, for people and machines.
struct OptimizeOutcome {
  OptimizeReport report;
  JudgedModel judged;
  /// Rules that were left out because of this model's numbers or sizes, and why.
  struct LeftOut {
    std::string rule;
    std::string reason;
  };
  std::vector<LeftOut> left_out;
  std::optional<TimeComparison> times;
  std::map<std::string, RuleClass> classes;  ///< By id: of the rules in the path.
  std::map<Trust, std::size_t> rules;        ///< How many the search had, by what they rest on.
  bool interrupted = false;
  bool nothing_gained = false;  ///< The runtime makes as many nodes of the original, which is written then.
  bool slower = false;          ///< Measured, and not confirmed to be as fast as the original, which is written then.
  std::vector<Sizes> sizes;     ///< Of open dimensions: first what was searched at, then what was compared at, too.
  std::vector<Sizes> refused_sizes;  ///< At which the original does not run.
  bool sizes_are_chosen = false;
  Reading reading;                                     ///< Of the original; in bodies, too.
  std::map<std::string, std::size_t> simplifications;  ///< How often, by kind.
  RuleClass simplification = RuleClass::kExact;        ///< Of all of them.
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
};

/// The classes of the rules that the path names.
[[nodiscard]] std::map<std::string, RuleClass> classes_of(const SearchResult& search, const std::vector<Rule>& rules);

/// What the rules of a search rest on.
void count_rules(std::span<const Rule> rules, OptimizeOutcome& outcome);
void print_outcome(const OptimizeArguments& arguments, const OptimizeOutcome& outcome);
[[nodiscard]] Json to_json(const OptimizeArguments& arguments, const OptimizeOutcome& outcome);
/// What report/optimization.h makes a page of. Borrows `before` and the outcome.
[[nodiscard]] OptimizationStory story_of(const OptimizeArguments& arguments, const OptimizeOutcome& outcome,
                                         const Graph& before, const std::vector<Rule>& rules);

}  // namespace rewright::cli
