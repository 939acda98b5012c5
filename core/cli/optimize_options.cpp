#include "cli/optimize_options.h"

#include <cstdint>
#include <string>

#include "cli/commands.h"
#include "cli/program.h"

namespace rewright::cli {
namespace {

/// What the search starts from, and what it writes.
void add_files(const Command& command, OptimizeArguments& arguments) {
  command.add_option("IN", arguments.input, "The model").required();
  command.start_group("Output");
  command.add_option("-o,--output", arguments.output, "Where the result goes, once it was checked").required();
  command.add_flag("--explain", arguments.explain,
                   "List each rewrite with the cost before and after it, and draw both graphs into OUTPUT.html");
  command
      .add_option("--report", arguments.report,
                  "A folder for a page of the same with the best cost over time: DIR/index.html")
      .type_name("DIR");
  command.add_flag("--freeze", arguments.freeze,
                   "Fix the sizes of open dimensions (--dim) in the result, which then takes no others");
  command.add_flag("--no-record", arguments.no_record, "Do not note in the store which rules were used");
}

void add_rules(const Command& command, OptimizeArguments& arguments) {
  command.start_group("Rules");
  command
      .add_option("--rules", arguments.rules,
                  "A campaign's store; a file of rules with proofs; a file with a rule a line; or an axiom file, "
                  "FILE.smt2, whose axioms are rules of this model if they pass the audit (repeatable; default: the "
                  "program's own library)")
      .repeatable();
  command.add_option("--trust", arguments.trust, "Rules are a 'theorem', or proved by a 'certificate', a 'solver', or 'none'")
      .show_default();
  const Argument strict = command.add_flag(
      "--strict", arguments.strict,
      "Exact rules only: the same numbers, to the last digit (default: also sums and products in another order)");
  command
      .add_flag("--fast-math", arguments.fast_math,
                "Also rules that may overflow, underflow or give an ordinary number for an infinite one "
                "(log(exp(x)) = x), and weights that rounding makes 0, subnormal or infinite")
      .excludes(strict);
  command.add_flag(
      "--simplify-only", arguments.simplify_only,
      "No search: only what removes nodes (known values, nodes that do nothing, chains, equal nodes; without "
      "--strict also what weights take in: batch normalisation, factors, sums, bias)");
}

void add_search(const Command& command, OptimizeArguments& arguments) {
  command.start_group("Search");
  command.add_option("--search", arguments.search, "Search strategy; see rewright searches list").show_default();
  command.add_option("--search-option", arguments.search_options, "NAME=VALUE for the search (repeatable)")
      .repeatable();
  command.add_option_function<double>(
      "--alpha",
      [&arguments](double alpha) {
        arguments.alpha = alpha;
        if (arguments.search == "auto") arguments.search = "backtracking";
      },
      "Backtracking: graphs up to this many times the best cost are kept");
  command
      .add_option_function<std::uint64_t>(
          "--steps", [&arguments](std::uint64_t steps) { arguments.steps = steps, arguments.steps_given = true; },
          "Steps of the search at most; see rewright searches list")
      .check(whole_number(0))
      .show_default(std::to_string(arguments.steps));
  command
      .add_option("--candidates", arguments.candidates,
                  "Graphs looked at, at most (default: any number with another limit, otherwise so many that it takes "
                  "seconds)")
      .check(whole_number(1));
  command
      .add_option("--seconds", arguments.seconds,
                  "After so many the search ends with its best so far (default: 60 unless another limit is given). "
                  "The result then depends on the machine's speed")
      .check(positive());
  command
      .add_option("--region-size", arguments.region_size,
                  "Graphs of more operators are cut into regions of at most this many, searched side by side")
      .check(whole_number(1));
  command
      .add_option("--threads", arguments.threads,
                  "Threads; no result depends on it (default: one for each core; 1 where kernels are measured)")
      .check(in_range(1, 4096));
  command.add_option("--seed", arguments.seed, "For the search and the inputs that graphs are compared on")
      .check(whole_number(0))
      .show_default();
  const Argument checkpoint = command.add_option("--checkpoint", arguments.checkpoint,
                                                 "A file for the search's answers, written about every second: after "
                                                 "Ctrl-C or a kill, --resume goes on from there "
                                                 "and ends with the same graph (search egraph starts again)");
  command
      .add_flag("--resume", arguments.resume,
                "Go on with the search in the checkpoint, if it is there; --steps and --candidates may be others")
      .needs(checkpoint);
}

void add_costs(const Command& command, OptimizeArguments& arguments) {
  command.start_group("Costs");
  command.add_option("--cost", arguments.cost, "Cost model; see rewright plugins list").show_default();
  command.add_option("--cost-option", arguments.cost_options, "NAME=VALUE for the cost model (repeatable)")
      .repeatable();
  command.add_option("--cost-cache", arguments.cost_cache, "Where measured costs are kept; otherwise in the store");
  command
      .add_option(
          "--layout", arguments.layout,
          "Data layouts of tensors: 'none', all in order; 'only', chosen for the model as it is, without rules; "
          "'sequential', chosen for what the search found; 'joint', the search compares graphs in their best "
          "layouts")
      .show_default();
}

void add_checks(const Command& command, OptimizeArguments& arguments) {
  command.start_group("Checks");
  command
      .add_option("--dim", arguments.dims,
                  "NAME=SIZE: a size that the model leaves open, for costs and comparison (default: a plausible one). "
                  "The result takes all sizes that the model takes (repeatable)")
      .repeatable();
  command
      .add_option("--input", arguments.inputs,
                  "NAME=SOURCE: what an input holds when models are run: uniform(LOW,HIGH), normal(MEAN,DEVIATION), "
                  "integers(LOW,HIGH), numbers with commas between (one for all elements or one for each), or a file "
                  "with an ONNX TensorProto (repeatable; default: by its use)")
      .repeatable();
  command.add_option("--runtime", arguments.runtime, "What runs models, to compare and to measure").show_default();
  const Argument measure = command.add_flag(
      "--measure", arguments.measure,
      "Measure both whole graphs in turn, many rounds, and write the original if the result is not confirmed to be as "
      "fast. The default, except for costs of another device (--cost-option device=...)");
  command
      .add_flag("--no-measure", arguments.no_measure, "Measure nothing: what the cost model says is cheaper is written")
      .excludes(measure);
}

}  // namespace

void add_options(const Command& command, OptimizeArguments& arguments) {
  add_files(command, arguments);
  add_rules(command, arguments);
  add_search(command, arguments);
  add_costs(command, arguments);
  add_checks(command, arguments);
}

}  // namespace rewright::cli
