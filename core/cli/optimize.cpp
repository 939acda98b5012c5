// rewright optimize IN.onnx -o OUT.onnx [--rules STORE|FILE]
//
// import -> search -> export -> equivalence gate -> file. Nothing is written that was not checked.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <new>
#include <set>
#include <string_view>

#include "campaign/files.h"
#include "campaign/written_file.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/optimize_outcome.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "onnx/export.h"
#include "onnx/external.h"
#include "onnx/import.h"
#include "optimize/uses.h"
#include "rule/store.h"

namespace rewright::cli {
namespace {

constexpr int kRoundsByDefault = 1;
constexpr int kRoundsWhenMeasuring = 21;

Result<OptimizeReport> search_graph(const Graph& graph, std::vector<Rule> rules, const OptimizeArguments& arguments,
                                    OptimizeSetting& setting, const Registry& registry, LookLog* looks, bool quiet) {
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
  OptimizeOptions options{
      arguments.steps, arguments.seed, &registry, arguments.candidates, arguments.threads, arguments.region_size,
      layout,          &in_layouts,    looks};
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
  return optimize(graph, std::move(rules), *setting.search, cost, options,
                  [&](std::uint64_t steps, std::uint64_t candidates, double) {
                    const std::scoped_lock lock(line_mutex);
                    looked_at = candidates;
                    done = std::max(share(steps, options.steps), share(candidates, options.candidates));
                    show_search();
                    return !interrupted();
                  });
}

/// Compares with the original; on a difference finds the rewrite that brought it and goes back to before it.
Status check_result(const ImportedModel& imported, const EquivalenceOptions& options, OptimizeOutcome& outcome) {
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create(imported.graph, options));
  REWRIGHT_TRY(outcome.equivalence, gate.check(outcome.report.best, outcome.model));
  if (outcome.equivalence.equal) return {};

  const auto& path = outcome.report.search.path;
  const auto graph_after = [&](std::size_t rewrites) -> const Graph& {
    return rewrites == 0 ? imported.graph : path[rewrites - 1].graph;
  };
  const auto is_equal = [&](std::size_t rewrites) -> Result<bool> {
    REWRIGHT_TRY(const Equivalence checked, gate.check(graph_after(rewrites)));
    return checked.equal;
  };
  REWRIGHT_TRY(outcome.culprit, find_culprit(path.size(), is_equal, outcome.equivalence.difference));
  REWRIGHT_TRY(outcome.model, options.to_model(graph_after(*outcome.culprit)));
  return {};
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

std::filesystem::path folder_of(const std::string& file) { return std::filesystem::absolute(file).parent_path(); }

/// Measures both models in turn. Where the result is slower beyond the spread, the original takes its place.
Status measure(const ImportedModel& imported, const std::string& original, const EquivalenceOptions& gate,
               const OptimizeArguments& arguments, bool quiet, OptimizeOutcome& outcome) {
  ProgressLine line(quiet);
  ComparisonOptions options;
  options.rounds = arguments.measure ? kRoundsWhenMeasuring : kRoundsByDefault;
  options.directory = gate.directory;
  options.inputs = gate.inputs;
  options.keep_going = [&](int done) {
    line.show("measure", static_cast<std::uint64_t>(done), "rounds", static_cast<double>(done) / options.rounds);
    return !interrupted();
  };
  REWRIGHT_TRY(outcome.times, compare_times(*gate.runtime, imported.graph, original, outcome.model, options));
  if (!outcome.times->slower()) return {};
  outcome.slower = true;
  if (folder_of(arguments.input) == folder_of(arguments.output)) {
    outcome.model = original;
    return {};
  }
  REWRIGHT_TRY(outcome.model, gate.to_model(imported.graph));  // External data lies elsewhere: it comes over.
  return {};
}

/// As one file; or, where the original's weights lie in a file of their own, the result's too: OUTPUT.data. What the
/// result has of the original's weights is copied from file to file.
Status write_model(const OptimizeArguments& arguments, const std::string& original, const std::string& model,
                   const std::string& directory) {
  const std::set<std::string> files = external_files(original);
  if (model == original || files.empty()) return write_file(arguments.output, model);
  const std::string data_file = arguments.output + ".data";
  const std::string name = std::filesystem::path(data_file).filename().string();
  if (files.contains(name) && folder_of(arguments.input) == folder_of(arguments.output) &&
      std::filesystem::absolute(arguments.input) != std::filesystem::absolute(arguments.output))
    return make_error(ErrorCode::kUsage, "-o: '{}' would be written over, which holds weights of '{}'", data_file,
                      arguments.input);
  REWRIGHT_TRY(const SplitModel split, split_off_weights(model, name, directory));
  if (!split.data.empty())
    REWRIGHT_CHECK(write_file(data_file, [&](int descriptor) { return write_weights(descriptor, split.data); }));
  return write_file(arguments.output, split.model);
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
                                    : "with --cost-cache FILE the next run need not begin anew"),
                quiet);
  note(
      "the cost model does not know what some operators of this model cost, so no graph could be compared; measure "
      "them where that is possible (--cost onnxruntime --cost-cache FILE), or choose another --cost",
      quiet);
}

void say_what_was_refused(const OptimizeReport& report, bool quiet) {
  for (const std::string& sentence : report.unusable) note(sentence, quiet);
  for (const RefusedRule& refused : report.refused)
    note(fmt::format("{}; left out there ({})", refused.reason,
                     refused.times == 1 ? "once" : fmt::format("{} times", refused.times)),
         quiet);
  if (!report.search.note.empty()) note(report.search.note, quiet);
}

void say_what_is_resumed(const OptimizeArguments& arguments, const LookLog& looks, bool quiet) {
  if (!arguments.resume) return;
  if (looks.read_count() > 0) {
    note(fmt::format("goes on with '{}': {} graphs were looked at", arguments.checkpoint,
                     with_commas(looks.read_count())),
         quiet);
  } else {
    note(fmt::format("'{}' holds nothing that search {} could go on with: it begins anew", arguments.checkpoint,
                     arguments.search),
         quiet);
  }
}

/// `doing`: what, at any moment.
Result<OptimizeOutcome> perform(const OptimizeArguments& arguments, const Settings& settings, std::string_view& doing) {
  doing = "reading";
  REWRIGHT_CHECK(check_outputs(arguments));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(OptimizeSetting setting, make_setting(arguments, registry));
  const std::string folder = std::filesystem::path(arguments.input).parent_path().string();
  ImportOptions import_options{{}, "'" + arguments.input + "'", folder.empty() ? "." : folder};
  import_options.leave_external = true;
  REWRIGHT_TRY(import_options.dimensions, read_dims(arguments.dims));
  REWRIGHT_TRY(const std::string original, read_file(arguments.input));
  REWRIGHT_TRY(const ImportedModel imported,
               import_model(std::as_bytes(std::span(original)), registry, import_options));
  EquivalenceOptions options;
  REWRIGHT_TRY(options.inputs, read_inputs(arguments.inputs));
  REWRIGHT_CHECK(check_given(imported.graph, options.inputs));
  REWRIGHT_TRY(const std::vector<Rule> rules, read_rules(arguments, registry, imported.graph, settings.quiet));

  OptimizeOutcome outcome;
  doing = "searching";
  REWRIGHT_TRY(const auto looks, open_checkpoint(arguments, setting, original, rules));
  if (looks != nullptr) say_what_is_resumed(arguments, *looks, settings.quiet);
  REWRIGHT_TRY(outcome.report,
               search_graph(imported.graph, rules, arguments, setting, registry, looks.get(), settings.quiet));
  outcome.interrupted = interrupted();
  if (looks != nullptr && looks->trouble()) note(*looks->trouble(), settings.quiet);
  say_what_was_refused(outcome.report, settings.quiet);
  say_what_costs_are_missing(outcome.report, setting.cache != nullptr, settings.quiet);
  if (setting.runtime == nullptr) note(setting.runtime_trouble, settings.quiet);

  doing = "comparing";
  options.runtime = setting.runtime;
  options.seed = arguments.seed;
  options.original_model = original;
  options.directory = import_options.directory;
  options.to_model = [&](const Graph& graph) { return export_model(graph, imported); };
  REWRIGHT_TRY(outcome.model, options.to_model(outcome.report.best));
  REWRIGHT_CHECK(check_result(imported, options, outcome));
  if (setting.runtime != nullptr)
    REWRIGHT_CHECK(measure(imported, original, options, arguments, settings.quiet, outcome));
  REWRIGHT_CHECK(write_model(arguments, original, outcome.model, import_options.directory));
  if (outcome.equivalence.equal && !outcome.slower && !arguments.no_record)
    record(arguments, original, outcome.report.search, settings.quiet);
  REWRIGHT_CHECK(write_pages(arguments, outcome, imported.graph, rules));
  return outcome;
}

Result<OptimizeOutcome> perform_within_memory(const OptimizeArguments& arguments, const Settings& settings) {
  std::string_view doing;
  try {
    return perform(arguments, settings, doing);
  } catch (const std::bad_alloc&) {
    return make_error(ErrorCode::kBudget,
                      "out of memory while {} '{}': give the machine more, or the model smaller sizes (--dim), or the "
                      "search less to do (--candidates, --region-size)",
                      doing, arguments.input);
  }
}

Result<ExitCode> run(const Settings& settings, const OptimizeArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const OptimizeOutcome outcome, perform_within_memory(arguments, settings));
  if (settings.json) {
    print_json(to_json(arguments, outcome));
  } else {
    print_outcome(arguments, outcome);
  }
  if (outcome.interrupted)
    note(fmt::format("stopped early; the best graph so far was checked and written{}",
                     arguments.checkpoint.empty() ? "" : "; the same command with --resume goes on"),
         settings.quiet);
  if (!outcome.equivalence.equal) return ExitCode::kNegative;
  return outcome.interrupted ? ExitCode::kStopped : ExitCode::kDone;
}

}  // namespace

void add_optimize(Program& program) {
  auto arguments = std::make_shared<OptimizeArguments>();
  CLI::App& command = program.command(
      program.root(), "optimize", "Makes an ONNX model cheaper with proved rules, and checks that it stays equal",
      {"rewright optimize model.onnx -o faster.onnx", "rewright optimize model.onnx -o faster.onnx --rules my.store",
       "rewright optimize model.onnx -o faster.onnx --rules my.store --cost onnxruntime --measure",
       "rewright optimize model.onnx -o faster.onnx --rules my.rules --trust none --dim batch=1",
       "rewright optimize model.onnx -o faster.onnx --rules axioms/normalisation.smt2 --rules my.store",
       "rewright optimize model.onnx -o faster.onnx --input lengths=128 --input ids=ids.pb --report pages",
       "rewright optimize model.onnx -o faster.onnx --cost flops --cost-option device=v100 --explain",
       "rewright optimize model.onnx -o faster.onnx --cost-option device=v100 --layout joint",
       "rewright optimize big.onnx -o faster.onnx --steps 100000 --checkpoint big.looks",
       "rewright optimize big.onnx -o faster.onnx --steps 100000 --checkpoint big.looks --resume"},
      [arguments](const Settings& settings) { return run(settings, *arguments); });
  command.add_option("IN", arguments->input, "The model")->required();
  command.add_option("-o,--output", arguments->output, "Where the result goes, once it was checked")->required();
  command
      .add_option(
          "--rules", arguments->rules,
          "A campaign's store, a file of rules with their proofs, one with a rule a line, or an axiom file, FILE.smt2, "
          "of which each axiom is taken that is a rule of this model and stands the audit (repeatable; default: the "
          "program's own library)")
      ->expected(1)
      ->take_all();
  command.add_option("--trust", arguments->trust, "Rules are proved by a 'certificate' or a 'solver', or by 'none'")
      ->capture_default_str();
  command.add_option("--search", arguments->search, "Search strategy; see rewright searches list")
      ->capture_default_str();
  command.add_option("--alpha", arguments->alpha, "Backtracking: graphs up to this many times the best cost are kept");
  command.add_option("--search-option", arguments->search_options, "NAME=VALUE for the search (repeatable)")
      ->expected(1)
      ->take_all();
  command.add_option("--cost", arguments->cost, "Cost model; see rewright plugins list")->capture_default_str();
  command.add_option("--cost-option", arguments->cost_options, "NAME=VALUE for the cost model (repeatable)")
      ->expected(1)
      ->take_all();
  command.add_option("--cost-cache", arguments->cost_cache, "Where measured costs are kept; otherwise in the store");
  command.add_option("--steps", arguments->steps, "Steps of the search at most; see rewright searches list")
      ->check(whole_number(0))
      ->capture_default_str();
  command.add_option("--candidates", arguments->candidates, "Graphs looked at, at most (default: any number)")
      ->check(whole_number(1));
  command
      .add_option("--region-size", arguments->region_size,
                  "Graphs of more operators are cut into regions of at most this many, searched side by side")
      ->check(whole_number(1));
  command
      .add_option(
          "--layout", arguments->layout,
          "Data layouts of tensors: 'none', all in order; 'only', chosen for the model as it is, without rules; "
          "'sequential', chosen for what the search found; 'joint', the search compares graphs in their best "
          "layouts")
      ->capture_default_str();
  command.add_option("--threads", arguments->threads, "Threads; no result depends on it")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--seed", arguments->seed, "For the search and the inputs that graphs are compared on")
      ->check(whole_number(0))
      ->capture_default_str();
  CLI::Option* checkpoint = command.add_option(
      "--checkpoint", arguments->checkpoint,
      "A file for what the search was told of each graph, written about every second: after Ctrl-C or a kill, --resume "
      "goes on from there and ends as if nothing had happened (search egraph begins anew)");
  command
      .add_flag("--resume", arguments->resume,
                "Go on with the search in the checkpoint, if it is there; --steps and --candidates may be others")
      ->needs(checkpoint);
  command.add_option("--runtime", arguments->runtime, "What runs models, to compare and to measure")
      ->capture_default_str();
  command.add_option("--dim", arguments->dims, "NAME=SIZE: a size that the model leaves open (repeatable)")
      ->expected(1)
      ->take_all();
  command
      .add_option(
          "--input", arguments->inputs,
          "NAME=NUMBERS or NAME=FILE: what an input holds when models are run, where random numbers will not do; "
          "one number for all elements or one for each, with commas between; a file holds an ONNX TensorProto "
          "(repeatable)")
      ->expected(1)
      ->take_all();
  command.add_flag("--no-record", arguments->no_record, "Do not note in the store which rules were used");
  command.add_flag(
      "--measure", arguments->measure,
      "Measure both whole graphs in turn, many rounds, with spread; a result that is slower is not written, "
      "but the original");
  command.add_flag("--explain", arguments->explain,
                   "List each rewrite with the cost before and after it, and draw both graphs into OUTPUT.html");
  command
      .add_option("--report", arguments->report,
                  "A folder for a page of the same with the best cost over time: DIR/index.html")
      ->type_name("DIR");
}

}  // namespace rewright::cli
