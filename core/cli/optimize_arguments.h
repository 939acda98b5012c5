// What `rewright optimize` is told, read into what it works with.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/program.h"
#include "optimize/look_log.h"
#include "optimize/optimizer.h"
#include "optimize/random_inputs.h"

namespace rewright::cli {

struct OptimizeArguments {
  std::string input;
  std::string output;
  std::vector<std::string> rules;
  std::string trust = "certificate";
  std::string search = "auto";
  std::string cost = "flops";
  std::vector<std::string> search_options;
  std::vector<std::string> cost_options;
  std::optional<double> alpha;
  std::uint64_t steps = 1000;
  std::optional<std::uint64_t> candidates;  ///< None: as many as the model's size suggests (candidate_bound).
  bool steps_given = false;
  std::optional<double> seconds;  ///< None: a minute, unless another limit is given.
  int threads = 0;                ///< 0: one for each core; one where kernels are measured, which others would disturb.
  std::size_t region_size = 0;
  std::string layout = "none";
  std::uint64_t seed = 1;
  std::string runtime = "onnxruntime";
  std::vector<std::string> dims;
  std::vector<std::string> inputs;
  std::string cost_cache;
  std::string checkpoint;
  bool resume = false;
  bool strict = false;
  bool fast_math = false;
  bool measure = false;
  bool no_measure = false;
  bool simplify_only = false;
  bool freeze = false;
  bool no_record = false;
  bool explain = false;
  std::string report;
};

/// What the search is made of, once everything that was named exists.
struct OptimizeSetting {
  std::unique_ptr<SearchStrategy> search;
  std::unique_ptr<CostModel> model;
  std::unique_ptr<CostCache> cache;
  const Runtime* runtime = nullptr;  ///< Null: there is none that works here.
  std::string runtime_trouble;
};

/// Errors: what is not there or not loaded; an option that is none.
[[nodiscard]] Result<OptimizeSetting> make_setting(const OptimizeArguments& arguments, const Registry& registry);
/// "none", "only", "sequential" or "joint". Errors: any other.
/// Texts NAME=VALUE that were given to `option`.
[[nodiscard]] Result<Options> read_options(const std::vector<std::string>& texts, std::string_view option);
[[nodiscard]] Result<LayoutUse> read_layout(const std::string& name);
/// The rules of all sources that are trusted enough and of the classes asked for (rule/rule_class.h), each once; of
/// families and axioms those that the program asks for. None where axioms fit nothing or all are of other classes.
[[nodiscard]] Result<std::vector<Rule>> read_rules(const OptimizeArguments& arguments, const Registry& registry,
                                                   const Graph& program, bool quiet);
/// "NAME=SIZE" each.
[[nodiscard]] Result<std::map<std::string, std::int64_t>> read_dims(const std::vector<std::string>& texts);
/// "NAME=SOURCE" each: uniform(LOW,HIGH), normal(MEAN,DEVIATION), integers(LOW,HIGH), numbers with commas between, or a
/// file with a serialized ONNX TensorProto.
[[nodiscard]] Result<GivenInputs> read_inputs(const std::vector<std::string>& texts);
/// Where the search keeps its answers, if anywhere; `model` is the file's content. Errors: a file that is there unless
/// it is resumed, one of another search, one that cannot be written.
[[nodiscard]] Result<std::unique_ptr<LookLog>> open_checkpoint(const OptimizeArguments& arguments,
                                                               const OptimizeSetting& setting, const std::string& model,
                                                               const std::vector<Rule>& rules);
/// The model that `rewright optimize` would write, and how many rewrites made it; what it says is not printed. The file
/// `arguments.output` is written, too.
struct OptimizedBefore {
  std::string bytes;
  std::size_t rewrites = 0;
  double cost_us = 0;  ///< By the cost model of the search.
};
[[nodiscard]] Result<OptimizedBefore> optimize_before(const OptimizeArguments& arguments, const Settings& settings);
/// Refuses, before the search, outputs that could not be written after it.
[[nodiscard]] Status check_outputs(const OptimizeArguments& arguments);

}  // namespace rewright::cli
