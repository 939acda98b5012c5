// rewright optimize IN.onnx -o OUT.onnx [--rules STORE|FILE]
//
// import -> search -> export -> equivalence gate -> file. Nothing is written that was not checked.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <mutex>
#include <new>
#include <set>
#include <string_view>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_files.h"
#include "cli/optimize_options.h"
#include "cli/optimize_outcome.h"
#include "cli/optimize_writing.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "onnx/body.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "optimize/bodies.h"
#include "optimize/kernel_costs.h"
#include "optimize/reference.h"
#include "optimize/uses.h"
#include "store/store.h"

namespace rewright::cli {
namespace {

/// For how long two models are measured, and if --measure asks for it.
constexpr double kSeconds = 1, kSecondsWhenAsked = 30;
/// A result whose gain may be less than this is not written.
constexpr double kLeastGain = 0.97;
/// Below, the clock says little: what the runtime makes of the model must have no more nodes.
constexpr double kBriefUs = 50;
/// Of a search without limits of the user's: graphs, and operators of all graphs together.
constexpr std::uint64_t kMostCandidates = 100'000, kMostNodesLookedAt = 5'000'000;
/// Of a search without any limit of the user's.
constexpr double kMostSeconds = 60;
/// A gain by the cost model that no measurement shows.
constexpr double kTooSmallGain = 1.005;
/// Models of more operations take longer to compare than to measure.
constexpr double kMeasuredFirstFlops = 2e8;
/// So many rules may be left out of one model, each after a search of its own.
constexpr std::size_t kMostLeftOut = 8;

/// For a graph that has the part `share` of the model's operators. Without limits of the user's a search looks at the
/// fewer graphs the more operators the model has: it takes seconds.
std::uint64_t candidate_bound(const OptimizeArguments& arguments, const Graph& graph, double share) {
  if (arguments.candidates)
    return std::max<std::uint64_t>(1, std::llround(share * static_cast<double>(*arguments.candidates)));
  if (arguments.steps_given || arguments.seconds) return 0;
  const double operators = static_cast<double>(graph.operator_count()) / share;
  return std::min<std::uint64_t>(kMostCandidates,
                                 kMostNodesLookedAt / std::max<std::uint64_t>(std::llround(operators), 1));
}

double second_bound(const OptimizeArguments& arguments, double share) {
  if (arguments.seconds) return share * *arguments.seconds;
  return arguments.candidates || arguments.steps_given ? 0 : kMostSeconds;
}

int thread_count(const OptimizeArguments& arguments, const CostModel& model) {
  if (arguments.threads > 0) return arguments.threads;
  return model.measured() ? 1 : cores();
}

/// What a search that looks at nothing finds.
Result<OptimizeReport> without_search(const Graph& graph, GraphCost& cost) {
  OptimizeReport report;
  REWRIGHT_TRY(const double cost_us, cost.cost_us(graph));
  report.exact = true;
  report.best = report.search.best = graph;
  report.search.cost_before_us = report.search.cost_after_us = cost_us;
  report.search.curve = {{0, 0, 0, cost_us}};
  return report;
}

/// From the simplified model on, where there is one: in its graph and in the bodies of its nodes.
Result<OptimizeReport> search_model(const OpenedModel& opened, const std::vector<Rule>& rules,
                                    const OptimizeArguments& arguments, OptimizeSetting& setting,
                                    const Registry& registry, LookLog* looks, bool quiet) {
  ProgressLine line(quiet);
  REWRIGHT_TRY(const LayoutUse layout, read_layout(arguments.layout));
  REWRIGHT_TRY(const Operator* transpose, registry.get<Operator>("transpose"));
  if (layout != LayoutUse::kNone && !setting.model->knows_layouts())
    return make_error(ErrorCode::kUsage,
                      "--layout {}: cost model {} ({}) tells no layouts apart; see plugins/costs/README.md for those "
                      "that do",
                      arguments.layout, setting.model->name(), setting.model->device());
  GraphCost cost(*setting.model, setting.cache.get());
  GraphCost in_layouts(*setting.model, setting.cache.get(), transpose);
  OptimizeOptions options{.steps = arguments.steps,
                          .seed = arguments.seed,
                          .registry = &registry,
                          .threads = thread_count(arguments, *setting.model),
                          .region_size = arguments.region_size,
                          .layout = layout,
                          .in_layouts = &in_layouts,
                          .exact = arguments.strict};
  std::mutex line_mutex;  // Measurements come from any thread that searches.
  std::uint64_t looked_at = 0;
  double done = 0;
  const auto show_search = [&] { line.show("search", looked_at, "candidates", done); };
  options.measuring = [&](bool searching, std::uint64_t kernels) {
    const std::scoped_lock lock(line_mutex);
    if (searching) {
      show_search();
    } else {
      line.show("measure", kernels, "kernels");
    }
    return !interrupted();
  };
  const auto share = [](std::uint64_t part, std::uint64_t most) {
    return most == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(most);
  };
  const auto progress = [&](std::uint64_t steps, std::uint64_t candidates, double) {
    const std::scoped_lock lock(line_mutex);
    looked_at = candidates;
    done = std::max(share(steps, options.steps), share(candidates, options.candidates));
    show_search();
    return !interrupted();
  };
  GraphSearch each;
  each.search = [&](const Graph& graph, double part, bool is_body) {
    if (arguments.simplify_only) return without_search(graph, cost);
    options.candidates = candidate_bound(arguments, graph, part);
    options.seconds = second_bound(arguments, part);
    options.looks = is_body ? nullptr : looks;
    return optimize(graph, rules, *setting.search, cost, options, progress);
  };
  each.write = [&](const Graph& graph, const ImportedModel& origin, bool exact, const std::set<std::string>& taken) {
    return write_graph(graph, origin, {.exact = exact, .fast_math = arguments.fast_math, .taken = &taken});
  };
  REWRIGHT_TRY(OptimizeReport report, search_with_bodies(opened.start(), each));
  report.without_cost = cost.kernels().without_cost();
  if (!setting.model->measured()) {
    REWRIGHT_TRY(const Estimate best, cost.estimate(report.best));
    report.spread_us = best.spread;
  }
  if (!opened.simplified) return report;
  REWRIGHT_TRY(const double original_us,
               cost_with_bodies(opened.imported, layout == LayoutUse::kJoint ? in_layouts : cost));
  enter_simplification(opened, original_us, report);
  return report;
}

/// Tells the stores which of their rules gained what. A store that cannot be written stays as it is.
void record(const OptimizeArguments& arguments, const std::string& model, const SearchResult& search, bool quiet) {
  UseRecord run;
  run.model = std::filesystem::path(arguments.input).filename().string();
  run.model_hash = content_hash(model);
  run.search = arguments.search;
  run.cost = arguments.cost;
  const std::vector<UseRecord> uses = uses_of(search, run);
  for (const std::string& source : arguments.rules) {
    if (!std::filesystem::is_directory(source)) continue;
    const Status status = record_uses(source, uses);
    if (!status) note(fmt::format("the uses of rules are not recorded: {}", status.error().message), quiet);
  }
}

/// Unless it is asked for: only where costs are those of this machine, and a runtime is there.
bool wants_measure(const OptimizeArguments& arguments, const OptimizeSetting& setting) {
  if (setting.runtime == nullptr || arguments.no_measure) return false;
  if (arguments.measure) return true;
  return std::ranges::none_of(arguments.cost_options, [](const std::string& option) {
    return option.starts_with("device=") && option != "device=cpu";
  });
}

/// Whether the runtime makes more nodes of the result than of the original.
Result<bool> has_grown(const OpenedModel& opened, const Runtime& runtime, const std::string& result) {
  const std::string& directory = opened.source->directory;
  REWRIGHT_TRY(const int before, optimised_node_count(runtime, opened.source->bytes, directory));
  REWRIGHT_TRY(const int after, optimised_node_count(runtime, result, directory));
  return after > before;
}

/// Measures the original and a result, whose bytes these are, in turn. False: it is slower, or may be.
Result<bool> is_fast(const OpenedModel& opened, const Runtime& runtime, const std::string& result, bool asked,
                     bool quiet, OptimizeOutcome& outcome) {
  ProgressLine line(quiet);
  ComparisonOptions options;
  options.seconds = asked ? kSecondsWhenAsked : kSeconds;
  options.directory = opened.source->directory;
  options.inputs = opened.source->inputs;
  options.keep_going = [&](int done, double share) {
    line.show("measure", static_cast<std::uint64_t>(done), "rounds", share);
    return !interrupted();
  };
  outcome.times.reset();
  auto times = compare_times(runtime, opened.imported.graph, opened.source->bytes, result, options);
  if (!times) {
    line.clear();
    note(fmt::format("the models cannot be measured: {}", times.error().message), quiet);
    return false;
  }
  outcome.times = *std::move(times);
  if (outcome.times->before.low_us < kBriefUs && !outcome.times->slower()) {
    const auto is_larger = has_grown(opened, runtime, result);
    if (is_larger) return !*is_larger;
    if (is_larger.error().code != ErrorCode::kUnsupported) return is_larger.error();
  }
  return outcome.times->faster() || outcome.times->gain.low >= kLeastGain;
}

bool takes_long(const Graph& graph) { return holds_much(graph) || evaluation_flops(graph) > kMeasuredFirstFlops; }

void keep_original(const OpenedModel& opened, OptimizeOutcome& outcome) {
  outcome.judged.bytes = opened.source->bytes;
  outcome.judged.is_original = true;
}

/// The search found next to nothing, and the runtime makes as many nodes of the original by itself.
bool gains_nothing(const OpenedModel& opened, const Runtime& runtime, const std::string& result,
                   const SearchResult& search) {
  if (search.cost_before_us > kTooSmallGain * search.cost_after_us) return false;
  const std::string& directory = opened.source->directory;
  const auto before = optimised_node_count(runtime, opened.source->bytes, directory);
  const auto after = optimised_node_count(runtime, result, directory);
  return before && after && *before <= *after;
}

/// The page that --explain and --report ask for.
Status write_pages(const OptimizeArguments& arguments, const OptimizeOutcome& outcome, const Graph& before,
                   const std::vector<Rule>& rules) {
  if (!arguments.explain && arguments.report.empty()) return {};
  REWRIGHT_TRY(const std::string page, optimization_page(story_of(arguments, outcome, before, rules)));
  if (arguments.explain) REWRIGHT_CHECK(write_file(arguments.output + ".html", page));
  if (arguments.report.empty()) return {};
  return write_file(arguments.report + "/index.html", page);
}

/// Where there was nothing to compare by.
void say_what_costs_are_missing(const OptimizeReport& report, bool is_kept, bool quiet) {
  if (std::isfinite(report.search.cost_before_us)) return;
  if (report.search.stopped_early)
    return note(fmt::format("the model's own kernels were not all measured yet, so no graph could be compared; {}",
                            is_kept ? "those that were are kept for the next run"
                                    : "with --cost-cache FILE the next run need not start again"),
                quiet);
  note(
      "the cost model does not know what some operators of this model cost, so no graph could be compared; measure "
      "them where that is possible (--cost onnxruntime --cost-cache FILE), or choose another --cost",
      quiet);
}

void say_what_was_refused(const OptimizeReport& report, bool quiet) {
  for (const std::string& sentence : report.unusable) note(sentence, quiet);
  for (const RefusedRule& refused : report.refused) note(fmt::format("{}; left out there", refused.reason), quiet);
  if (!report.search.note.empty()) note(report.search.note, quiet);
  if (report.out_of_time)
    note(fmt::format("the search was ended after {:.0f} s with its best so far; --seconds gives it more time",
                     report.seconds),
         quiet);
}

void say_what_is_resumed(const OptimizeArguments& arguments, const LookLog& looks, bool quiet) {
  if (!arguments.resume) return;
  if (looks.read_count() > 0) {
    note(fmt::format("goes on with '{}', after {}", arguments.checkpoint, counted(looks.read_count(), "look")), quiet);
  } else {
    note(fmt::format("'{}' holds nothing that search {} could go on with: it starts again", arguments.checkpoint,
                     arguments.search),
         quiet);
  }
}

Result<ModelSource> read_source(const OptimizeArguments& arguments) {
  const std::string folder = std::filesystem::path(arguments.input).parent_path().string();
  ModelSource source;
  source.file = "'" + arguments.input + "'";
  source.directory = folder.empty() ? "." : folder;
  source.freeze = arguments.freeze;
  REWRIGHT_TRY(source.sizes, read_dims(arguments.dims));
  REWRIGHT_TRY(source.inputs, read_inputs(arguments.inputs));
  REWRIGHT_TRY(source.bytes, read_file(arguments.input));
  return source;
}

/// What the model was read as.
void describe(const OpenedModel& opened, OptimizeOutcome& outcome) {
  outcome.sizes = opened.sizes;
  outcome.refused_sizes = opened.refused;
  outcome.sizes_are_chosen = opened.is_chosen;
  outcome.reading = reading_of(opened.imported);
}

/// A rule that is right of real numbers and cannot be used in this model: the search is made again without it, a few
/// times. False: there is none, or enough were left out.
bool leave_out_culprit(OptimizeOutcome& outcome, std::vector<Rule>& rules) {
  const JudgedModel& judged = outcome.judged;
  if (!judged.culprit || judged.cause == Cause::kWrong || outcome.left_out.size() >= kMostLeftOut) return false;
  const RewriteStep& step = outcome.report.search.path[*judged.culprit];
  if (std::erase_if(rules, [&](const Rule& rule) { return rule.id == step.rule_id; }) == 0) return false;
  outcome.left_out.push_back({step.rule_name, judged.equivalence.difference});
  return true;
}

/// The same of the simplification.
bool leave_out_simplification(const OptimizeArguments& arguments, OptimizeOutcome& outcome, OpenedModel& opened) {
  const auto& path = outcome.report.search.path;
  std::string reason;
  if (!simplify_less(opened, outcome.judged, path.size(), arguments.simplify_only, reason)) return false;
  outcome.left_out.push_back({path.front().rule_name, std::move(reason)});
  return true;
}

/// Nothing can be compared: the simplified model is written all the same where it was asked for, each of its steps is
/// exact, and the runtime takes it.
void take_exact_steps(const OptimizeArguments& arguments, const OptimizeSetting& setting, const OpenedModel& opened,
                      OptimizeOutcome& outcome) {
  JudgedModel& judged = outcome.judged;
  const bool is_unjudged = judged.equivalence.verdict == GateVerdict::kNotComparable && !judged.culprit;
  if (!arguments.simplify_only || !is_unjudged || opened.level != SimplifyLevel::kExact || !opened.is_exact) return;
  const auto written = write_result(opened, outcome.report, arguments.fast_math);
  if (!written) return;
  const bool loads = setting.runtime != nullptr &&
                     setting.runtime->load(std::as_bytes(std::span(*written)), {.directory = opened.source->directory});
  if (!loads) return;
  judged.bytes = *written;
  judged.is_original = false;
  judged.rewrites = outcome.report.search.path.size();
}

/// Is the original run while rules are read and searched with? It is if there will be a result to compare, memory
/// allows it, and the search measures nothing.
bool runs_original_at_once(const OpenedModel& opened, const OptimizeSetting& setting) {
  return opened.simplified && setting.runtime != nullptr && !setting.model->measured() &&
         !holds_much(opened.imported.graph);
}

/// What is to be written of the search's result: measured, if that is wanted, and compared. What takes long to compare
/// is measured first, and then compared only if it is fast.
Status judge(const OptimizeArguments& arguments, const OptimizeSetting& setting, const OpenedModel& opened,
             const EquivalenceOptions& options, bool quiet, std::string_view& doing, OptimizeOutcome& outcome) {
  outcome.judged = {};
  outcome.slower = outcome.nothing_gained = false;
  const bool measures = wants_measure(arguments, setting);
  bool is_measured = false;
  std::string written;
  if (measures && !arguments.simplify_only && !outcome.report.search.path.empty()) {
    doing = "measuring";
    if (auto result = write_result(opened, outcome.report, arguments.fast_math)) {
      written = *std::move(result);
      outcome.nothing_gained = gains_nothing(opened, *setting.runtime, written, outcome.report.search);
      is_measured = !outcome.nothing_gained && takes_long(opened.imported.graph);
      if (is_measured) {
        REWRIGHT_TRY(const bool fast, is_fast(opened, *setting.runtime, written, arguments.measure, quiet, outcome));
        outcome.slower = !fast;
      }
    }
    if (outcome.nothing_gained || outcome.slower) {
      outcome.judged.equivalence.verdict = GateVerdict::kEqual;
      keep_original(opened, outcome);
      return {};
    }
  }
  doing = "comparing";
  REWRIGHT_TRY(outcome.judged, judge_result(opened, outcome.report, options, arguments.fast_math, std::move(written)));
  take_exact_steps(arguments, setting, opened, outcome);
  const bool is_another = outcome.judged.culprit.has_value();
  if (!outcome.judged.equivalence.equal() && !is_another) return {};
  if (!measures || outcome.judged.is_original || (is_measured && !is_another)) return {};
  doing = "measuring";
  REWRIGHT_TRY(const bool fast,
               is_fast(opened, *setting.runtime, outcome.judged.bytes, arguments.measure, quiet, outcome));
  outcome.slower = !fast && !arguments.simplify_only;
  if (outcome.slower) keep_original(opened, outcome);
  return {};
}

/// `doing`: what, at any moment.
Result<OptimizeOutcome> perform(const OptimizeArguments& arguments, const Settings& settings, Writing& writing,
                                std::string_view& doing) {
  doing = "reading";
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(OptimizeSetting setting, make_setting(arguments, registry));
  REWRIGHT_TRY(const ModelSource source, read_source(arguments));
  REWRIGHT_CHECK(check_outputs(arguments));
  ModelFiles files{arguments.input, arguments.output, source.bytes, source.directory};
  REWRIGHT_CHECK(check_output(files));
  writing.has_read(std::move(files));
  REWRIGHT_TRY(OpenedModel opened, open_model(source, registry, setting.runtime));
  simplify(opened, arguments.simplify_only && !arguments.strict ? SimplifyLevel::kWeights : SimplifyLevel::kExact);
  const ImportedModel& imported = opened.imported;
  REWRIGHT_CHECK(check_given(imported.graph, source.inputs));
  EquivalenceOptions options;
  options.runtime = setting.runtime;
  options.seed = arguments.seed;
  if (runs_original_at_once(opened, setting)) prepare_gate(opened, options);
  REWRIGHT_TRY(const Graph graphs, side_by_side(opened.start()));
  REWRIGHT_TRY(const std::vector<Rule> rules, read_rules(arguments, registry, graphs, settings.quiet));

  OptimizeOutcome outcome;
  describe(opened, outcome);
  doing = "searching";
  REWRIGHT_TRY(const auto looks, open_checkpoint(arguments, setting, source.bytes, rules));
  if (looks != nullptr) say_what_is_resumed(arguments, *looks, settings.quiet);
  REWRIGHT_TRY(outcome.report, search_model(opened, rules, arguments, setting, registry, looks.get(), settings.quiet));
  if (looks != nullptr && looks->trouble()) note(*looks->trouble(), settings.quiet);
  writing.has_found(outcome.report, candidate_bound(arguments, opened.start().graph, 1));
  say_what_was_refused(outcome.report, settings.quiet);
  say_what_costs_are_missing(outcome.report, setting.cache != nullptr, settings.quiet);
  if (setting.runtime == nullptr) note(setting.runtime_trouble, settings.quiet);
  if (interrupted() && !outcome.report.search.path.empty())
    if (auto candidate = write_result(opened, outcome.report, arguments.fast_math))
      writing.has_candidate(*std::move(candidate));

  REWRIGHT_CHECK(await_gate(opened));
  std::vector<Rule> left = rules;
  REWRIGHT_CHECK(judge(arguments, setting, opened, options, settings.quiet, doing, outcome));
  while ((leave_out_culprit(outcome, left) || leave_out_simplification(arguments, outcome, opened)) && !interrupted()) {
    doing = "searching";
    REWRIGHT_TRY(outcome.report, search_model(opened, left, arguments, setting, registry, nullptr, settings.quiet));
    REWRIGHT_CHECK(judge(arguments, setting, opened, options, settings.quiet, doing, outcome));
  }
  count_rules(left, outcome);
  outcome.classes = classes_of(outcome.report.search, rules);
  if (opened.simplified) outcome.simplifications = opened.simplifications;
  outcome.simplification = opened.is_exact ? RuleClass::kExact : RuleClass::kReassociating;
  outcome.interrupted = interrupted();
  REWRIGHT_TRY(outcome.nodes_before, node_count(source.bytes));
  auto nodes_after = std::async(std::launch::async, [&] { return node_count(outcome.judged.bytes); });
  REWRIGHT_CHECK(writing.write(outcome.judged.bytes));
  REWRIGHT_TRY(outcome.nodes_after, nodes_after.get());
  if (!outcome.judged.is_original && !outcome.judged.culprit && !arguments.no_record)
    record(arguments, source.bytes, outcome.report.search, settings.quiet);
  REWRIGHT_CHECK(write_pages(arguments, outcome, imported.graph, rules));
  return outcome;
}

Result<OptimizeOutcome> perform_within_memory(const OptimizeArguments& arguments, const Settings& settings,
                                              Writing& writing) {
  std::string_view doing;
  try {
    return perform(arguments, settings, writing, doing);
  } catch (const std::bad_alloc&) {
    return make_error(ErrorCode::kBudget,
                      "out of memory while {} '{}': give the machine more, or the model smaller sizes (--dim), or the "
                      "search less to do (--candidates, --region-size)",
                      doing, arguments.input);
  }
}

Result<ExitCode> run(const Settings& settings, const OptimizeArguments& arguments) {
  heed_interrupts();
  Writing writing(arguments, settings);
  const StopInTime stop_in_time([&] { writing.overtake(); });
  REWRIGHT_TRY(const OptimizeOutcome outcome, perform_within_memory(arguments, settings, writing));
  if (settings.json) {
    print_json(to_json(arguments, outcome));
  } else {
    print_outcome(arguments, outcome);
  }
  if (outcome.interrupted)
    note(fmt::format("stopped early; the best graph so far was checked and written{}",
                     arguments.checkpoint.empty() ? "" : "; the same command with --resume goes on"),
         settings.quiet);
  if (!outcome.judged.equivalence.equal() && outcome.judged.cause == Cause::kWrong) return ExitCode::kNegative;
  if (!outcome.judged.reason.empty()) return ExitCode::kNegative;
  return outcome.interrupted ? ExitCode::kStopped : ExitCode::kDone;
}

}  // namespace

Result<OptimizedBefore> optimize_before(const OptimizeArguments& arguments, const Settings& settings) {
  Writing writing(arguments, settings);
  REWRIGHT_TRY(OptimizeOutcome outcome, perform_within_memory(arguments, settings, writing));
  const SearchResult& search = outcome.report.search;
  if (outcome.judged.is_original) return OptimizedBefore{std::move(outcome.judged.bytes), 0, search.cost_before_us};
  return OptimizedBefore{std::move(outcome.judged.bytes), outcome.judged.rewrites, search.cost_after_us};
}

void add_optimize(Program& program) {
  auto arguments = std::make_shared<OptimizeArguments>();
  const Command command = program.command(
      program.root(), "optimize", "Makes an ONNX model cheaper with proved rules, and checks that it stays equal",
      {"rewright optimize model.onnx -o faster.onnx", "rewright optimize model.onnx -o faster.onnx --rules my.store",
       "rewright optimize model.onnx -o faster.onnx --rules my.store --cost onnxruntime",
       "rewright optimize model.onnx -o faster.onnx --rules my.rules --trust none --dim batch=1",
       "rewright optimize model.onnx -o faster.onnx --rules axioms/normalisation.smt2 --rules my.store",
       "rewright optimize model.onnx -o faster.onnx --input lengths=128 --input ids=ids.pb --report pages",
       "rewright optimize model.onnx -o faster.onnx --cost flops --cost-option device=v100 --explain",
       "rewright optimize model.onnx -o faster.onnx --cost-option device=v100 --layout joint",
       "rewright optimize big.onnx -o faster.onnx --steps 100000 --checkpoint big.looks",
       "rewright optimize big.onnx -o faster.onnx --steps 100000 --checkpoint big.looks --resume"},
      [arguments](const Settings& settings) { return run(settings, *arguments); });
  add_options(command, *arguments);
}

}  // namespace rewright::cli
