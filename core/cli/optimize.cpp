// rewright optimize IN.onnx -o OUT.onnx [--rules STORE|FILE]
//
// import -> search -> export -> equivalence gate -> file. Nothing is written that was not checked.
#include <rewright/rule.h>
#include <rewright/runtime.h>
#include <rewright/search.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "campaign/files.h"
#include "campaign/rule_source.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "optimize/comparison.h"
#include "optimize/cost_cache.h"
#include "optimize/equivalence.h"
#include "optimize/optimizer.h"
#include "optimize/uses.h"
#include "rule/store.h"

namespace rewright::cli {
namespace {

constexpr int kRoundsByDefault = 1;
constexpr int kRoundsWhenMeasuring = 21;

struct Arguments {
  std::string input;
  std::string output;
  std::vector<std::string> rules;
  std::string trust = "solver";
  std::string search = "backtracking";
  std::string cost = "flops";
  std::vector<std::string> search_options;
  std::vector<std::string> cost_options;
  std::optional<double> alpha;
  std::uint64_t steps = 1000;
  std::uint64_t seed = 1;
  std::string runtime = "onnxruntime";
  std::vector<std::string> dims;
  std::string cost_cache;
  bool measure = false;
  bool no_record = false;
};

// --- reading ---------------------------------------------------------------------------------------------------

/// "NAME=VALUE" into both halves.
Result<std::pair<std::string, std::string>> halves(const std::string& text, std::string_view option) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return make_error(ErrorCode::kUsage, "{} wants NAME=VALUE, not '{}'", option, text);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

/// A whole text as a number of that type.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
  std::istringstream stream(text);
  Number number{};
  stream >> number;
  if (stream.fail() || !stream.eof()) return std::nullopt;
  return number;
}

Result<Options> read_options(const std::vector<std::string>& texts, std::string_view option) {
  Options options;
  for (const std::string& text : texts) {
    REWRIGHT_TRY(const auto setting, halves(text, option));
    const auto& [name, value] = setting;
    if (const auto integer = number_in<std::int64_t>(value)) {
      options[name] = *integer;
    } else if (const auto real = number_in<double>(value)) {
      options[name] = *real;
    } else if (value == "true" || value == "false") {
      options[name] = value == "true";
    } else {
      options[name] = value;
    }
  }
  return options;
}

Result<std::map<std::string, std::int64_t>> read_dims(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> dims;
  for (const std::string& text : texts) {
    REWRIGHT_TRY(const auto setting, halves(text, "--dim"));
    const auto& [name, value] = setting;
    const auto size = number_in<std::int64_t>(value);
    if (!size || *size < 0)
      return make_error(ErrorCode::kUsage, "--dim {}: '{}' is no size; a whole number of at least 0 is", text, value);
    dims[name] = *size;
  }
  return dims;
}

Result<Trust> read_trust(const std::string& name) {
  for (const Trust trust : {Trust::kNone, Trust::kSolver, Trust::kCertificate})
    if (name == name_of(trust)) return trust;
  return make_error(ErrorCode::kUsage, "--trust is '{}'; there are: {}, {}, {}", name, name_of(Trust::kCertificate),
                    name_of(Trust::kSolver), name_of(Trust::kNone));
}

/// The rules of all sources that are trusted enough, each once.
Result<std::vector<Rule>> read_rules(const Arguments& arguments, const Registry& registry, bool quiet) {
  REWRIGHT_TRY(const Trust needed, read_trust(arguments.trust));
  std::vector<Rule> rules;
  std::set<std::string> ids;
  std::size_t distrusted = 0;
  std::vector<std::string> sources = arguments.rules;
  if (sources.empty()) {
    REWRIGHT_TRY(std::string own, own_library());
    sources.push_back(std::move(own));
  }
  for (const std::string& source : sources) {
    REWRIGHT_TRY(std::vector<Rule> found, read_rule_source(source, registry));
    for (Rule& rule : found) {
      if (rule.trust < needed) {
        ++distrusted;
      } else if (ids.insert(rule.id).second) {
        rules.push_back(std::move(rule));
      }
    }
  }
  if (rules.empty() && distrusted > 0)
    return make_error(ErrorCode::kUsage,
                      "none of the {} rules is proved (rules in a text file never are); verify them into a store, or "
                      "use them at your own risk with --trust none: the result is still compared with the original",
                      distrusted);
  if (rules.empty()) return make_error(ErrorCode::kUsage, "there is no rule in {}", fmt::join(sources, ", "));
  if (distrusted > 0) note(fmt::format("{} rules are left out: they are not proved", distrusted), quiet);
  return rules;
}

/// What the search is made of, once everything that was named exists.
struct Setting {
  std::unique_ptr<SearchStrategy> search;
  std::unique_ptr<CostModel> model;
  std::unique_ptr<CostCache> cache;
  const Runtime* runtime = nullptr;  ///< Null: there is none that works here.
  std::string runtime_trouble;
};

Result<Setting> make_setting(const Arguments& arguments, const Registry& registry) {
  Setting setting;
  REWRIGHT_TRY(const SearchStrategy* search, registry.get<SearchStrategy>(arguments.search));
  REWRIGHT_TRY(Options search_options, read_options(arguments.search_options, "--search-option"));
  if (arguments.alpha) search_options["alpha"] = *arguments.alpha;
  setting.search = search->clone();
  REWRIGHT_CHECK(setting.search->configure(search_options));

  REWRIGHT_TRY(const CostModel* model, registry.get<CostModel>(arguments.cost));
  REWRIGHT_TRY(const Options cost_options, read_options(arguments.cost_options, "--cost-option"));
  setting.model = model->clone();
  REWRIGHT_CHECK(setting.model->configure(cost_options, registry));
  if (setting.model->measured()) {
    std::string file = arguments.cost_cache;
    for (const std::string& source : arguments.rules)
      if (file.empty() && std::filesystem::is_directory(source)) file = source + "/store.sqlite";
    if (!file.empty()) {
      REWRIGHT_TRY(setting.cache, open_cost_cache(file));
    }
  }

  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(arguments.runtime));
  const Result<std::string> version = runtime->version();
  if (version) {
    setting.runtime = runtime;
  } else {
    setting.runtime_trouble = version.error().message;
  }
  return setting;
}

/// Refuses, before the search, an output that could not be written after it.
Status check_output(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (fs::is_directory(path)) return make_error(ErrorCode::kUsage, "-o: '{}' is a folder", path);
  if (!fs::is_directory(folder))
    return make_error(ErrorCode::kNotFound, "-o: there is no folder '{}' to write '{}' into", folder.string(), path);
  return {};
}

// --- the work --------------------------------------------------------------------------------------------------

/// What a run found out, for people and machines.
struct Outcome {
  OptimizeReport report;
  Equivalence equivalence;
  std::string model;                   ///< What is to be written.
  std::optional<std::size_t> culprit;  ///< Position in the path of the rewrite that broke equality.
  std::optional<TimeComparison> times;
  bool interrupted = false;
};

Result<OptimizeReport> search_graph(const Graph& graph, std::vector<Rule> rules, const Arguments& arguments,
                                    Setting& setting, const Registry& registry, bool quiet) {
  ProgressLine line(quiet);
  GraphCost cost(*setting.model, setting.cache.get());
  const OptimizeOptions options{arguments.steps, arguments.seed, &registry};
  return optimize(graph, std::move(rules), *setting.search, cost, options,
                  [&](std::uint64_t steps, std::uint64_t candidates, double) {
                    line.show(
                        "search", candidates, "candidates",
                        static_cast<double>(steps) / static_cast<double>(std::max<std::uint64_t>(options.steps, 1)));
                    return !interrupted();
                  });
}

/// Compares with the original; on a difference finds the rewrite that brought it and goes back to before it.
Status check_result(const ImportedModel& imported, const EquivalenceOptions& options, Outcome& outcome) {
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
  REWRIGHT_TRY(const auto first, first_unequal(path.size() + 1, is_equal));
  if (!first)
    return make_error(ErrorCode::kInternal, "the result differs from the original ({}), though every rewrite is equal",
                      outcome.equivalence.difference);
  if (*first == 0)
    return make_error(ErrorCode::kInternal,
                      "the model differs from the original before any rewrite, so import or export are at fault: {}",
                      outcome.equivalence.difference);
  outcome.culprit = *first - 1;
  REWRIGHT_TRY(outcome.model, options.to_model(graph_after(*first - 1)));
  return {};
}

/// Tells the stores which of their rules gained what. A store that cannot be written stays as it is.
void record(const Arguments& arguments, const std::string& model, const SearchResult& search, bool quiet) {
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

Result<Outcome> perform(const Arguments& arguments, const Settings& settings) {
  REWRIGHT_CHECK(check_output(arguments.output));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(Setting setting, make_setting(arguments, registry));
  REWRIGHT_TRY(std::vector<Rule> rules, read_rules(arguments, registry, settings.quiet));
  const std::string folder = std::filesystem::path(arguments.input).parent_path().string();
  ImportOptions import_options{{}, "'" + arguments.input + "'", folder.empty() ? "." : folder};
  REWRIGHT_TRY(import_options.dimensions, read_dims(arguments.dims));
  REWRIGHT_TRY(std::string original, read_file(arguments.input));
  REWRIGHT_TRY(const ImportedModel imported,
               import_model(std::as_bytes(std::span(original)), registry, import_options));

  Outcome outcome;
  REWRIGHT_TRY(outcome.report,
               search_graph(imported.graph, std::move(rules), arguments, setting, registry, settings.quiet));
  outcome.interrupted = interrupted();
  for (const std::string& sentence : outcome.report.unusable) note(sentence, settings.quiet);
  for (const RefusedRule& refused : outcome.report.refused)
    note(fmt::format("rule {} matched {} times where it cannot be applied: {}", refused.name, refused.times,
                     refused.reason),
         settings.quiet);
  if (setting.runtime == nullptr) note(setting.runtime_trouble, settings.quiet);

  EquivalenceOptions options;
  options.runtime = setting.runtime;
  options.seed = arguments.seed;
  options.original_model = original;
  options.directory = import_options.directory;
  options.to_model = [&](const Graph& graph) { return export_model(graph, imported); };
  REWRIGHT_TRY(outcome.model, options.to_model(outcome.report.best));
  REWRIGHT_CHECK(check_result(imported, options, outcome));
  REWRIGHT_CHECK(write_file(arguments.output, outcome.model));
  if (outcome.equivalence.equal && !arguments.no_record)
    record(arguments, original, outcome.report.search, settings.quiet);

  if (setting.runtime != nullptr) {
    const int rounds = arguments.measure ? kRoundsWhenMeasuring : kRoundsByDefault;
    REWRIGHT_TRY(outcome.times, compare_times(*setting.runtime, imported.graph, original, outcome.model,
                                              import_options.directory, rounds, [] { return !interrupted(); }));
  }
  return outcome;
}

// --- presentation ----------------------------------------------------------------------------------------------

std::string microseconds(double us) {
  if (us >= 1e6) return fmt::format("{:.3f} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3f} ms", us / 1e3);
  return fmt::format("{:.1f} us", us);
}

std::string factor(double before, double after) {
  return after > 0 && std::isfinite(before) ? fmt::format("{:.2f}x", before / after) : "-";
}

std::string with_spread(const TimeSpread& time, int rounds) {
  if (rounds == 1) return microseconds(time.median_us);
  return fmt::format("{} ({} to {})", microseconds(time.median_us), microseconds(time.low_us),
                     microseconds(time.high_us));
}

void print_outcome(const Arguments& arguments, const Outcome& outcome) {
  const SearchResult& search = outcome.report.search;
  Table table({"", "before", "after", "gain"});
  table.add({fmt::format("cost ({})", arguments.cost), microseconds(search.cost_before_us),
             microseconds(search.cost_after_us), factor(search.cost_before_us, search.cost_after_us)});
  if (outcome.times) {
    const TimeComparison& times = *outcome.times;
    table.add({fmt::format("whole graph in {}, {}", arguments.runtime,
                           times.rounds == 1 ? "measured once" : fmt::format("{} rounds", times.rounds)),
               with_spread(times.before, times.rounds), with_spread(times.after, times.rounds),
               times.rounds > 1 && !times.differs() ? "none (spreads meet)"
                                                    : factor(times.before.median_us, times.after.median_us)});
  }
  print(table.to_string());
  print_line("");
  if (search.path.empty()) {
    print_line("No rewrite makes it cheaper.");
  } else {
    Table rewrites({"rewrites", "rule", "cost before", "cost after"});
    rewrites.align_right({2, 3});
    for (std::size_t first = 0, next = 0; first < search.path.size(); first = next) {  // The same rule again: one row.
      while (next < search.path.size() && search.path[next].rule_id == search.path[first].rule_id) ++next;
      rewrites.add({next - first == 1 ? fmt::format("{}", next) : fmt::format("{} to {}", first + 1, next),
                    search.path[first].rule_name, microseconds(search.path[first].cost_before_us),
                    microseconds(search.path[next - 1].cost_after_us)});
    }
    print(rewrites.to_string());
  }
  print_line("");
  if (outcome.equivalence.equal) {
    print_line(fmt::format("Equal to the original in {}; greatest difference {:.3g} (tolerance {:.3g}).",
                           fmt::join(outcome.equivalence.runs, " and in "), outcome.equivalence.max_abs_error,
                           outcome.equivalence.tolerance));
  } else {
    print_line(fmt::format("NOT EQUAL to the original: {}.", outcome.equivalence.difference));
    print_line(fmt::format("Rewrite {} brought the difference (rule {}, id {}); the result stops before it.",
                           *outcome.culprit + 1, search.path[*outcome.culprit].rule_name,
                           search.path[*outcome.culprit].rule_id));
  }
  print_line(fmt::format("{} steps, {} candidates in {} ({} a second). Written to {}.", with_commas(search.steps),
                         with_commas(search.candidates), duration(outcome.report.seconds),
                         with_commas(static_cast<std::uint64_t>(static_cast<double>(search.candidates) /
                                                                std::max(outcome.report.seconds, 1e-6))),
                         arguments.output));
}

Json to_json(const TimeSpread& time) {
  return {{"median_us", time.median_us}, {"low_us", time.low_us}, {"high_us", time.high_us}};
}

Json to_json(const Arguments& arguments, const Outcome& outcome) {
  const SearchResult& search = outcome.report.search;
  Json rewrites = Json::array();
  for (const RewriteStep& step : search.path)
    rewrites.push_back({{"rule", step.rule_name},
                        {"id", step.rule_id},
                        {"cost_before", step.cost_before_us},
                        {"cost_after", step.cost_after_us}});
  Json json = {{"steps", search.steps},
               {"candidates", search.candidates},
               {"seconds", outcome.report.seconds},
               {"cost_before", search.cost_before_us},
               {"cost_after", search.cost_after_us},
               {"rewrites", std::move(rewrites)},
               {"equal", outcome.equivalence.equal},
               {"max_abs_error", outcome.equivalence.max_abs_error},
               {"tolerance", outcome.equivalence.tolerance},
               {"compared_in", outcome.equivalence.runs},
               {"stopped_early", outcome.interrupted},
               {"output", arguments.output}};
  if (outcome.culprit) {
    json["difference"] = outcome.equivalence.difference;
    json["wrong_rewrite"] = *outcome.culprit + 1;
    json["wrong_rule"] = search.path[*outcome.culprit].rule_name;
  }
  if (outcome.times) {
    json["measured_before"] = to_json(outcome.times->before);
    json["measured_after"] = to_json(outcome.times->after);
    json["measured_rounds"] = outcome.times->rounds;
  }
  return json;
}

Result<ExitCode> run(const Settings& settings, const Arguments& arguments) {
  REWRIGHT_TRY(const Outcome outcome, perform(arguments, settings));
  if (settings.json) {
    print_json(to_json(arguments, outcome));
  } else {
    print_outcome(arguments, outcome);
  }
  if (outcome.interrupted) note("stopped early; the best graph so far was checked and written", settings.quiet);
  if (!outcome.equivalence.equal) return ExitCode::kNegative;
  return outcome.interrupted ? ExitCode::kStopped : ExitCode::kDone;
}

}  // namespace

void add_optimize(Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = program.command(
      program.root(), "optimize", "Makes an ONNX model cheaper with proved rules, and checks that it stays equal",
      {"rewright optimize model.onnx -o faster.onnx", "rewright optimize model.onnx -o faster.onnx --rules my.store",
       "rewright optimize model.onnx -o faster.onnx --rules my.store --cost onnxruntime --measure",
       "rewright optimize model.onnx -o faster.onnx --rules my.rules --trust none --dim batch=1"},
      [arguments](const Settings& settings) { return run(settings, *arguments); });
  command.add_option("IN", arguments->input, "The model")->required();
  command.add_option("-o,--output", arguments->output, "Where the result goes, once it was checked")->required();
  command
      .add_option(
          "--rules", arguments->rules,
          "A campaign's store, a file of rules with their proofs, or one with a rule a line (repeatable; default: "
          "the program's own library)")
      ->expected(1)
      ->take_all();
  command.add_option("--trust", arguments->trust, "Rules are proved by a 'certificate' or a 'solver', or by 'none'")
      ->capture_default_str();
  command.add_option("--search", arguments->search, "Search strategy; see rewright plugins list")
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
  command.add_option("--steps", arguments->steps, "Graphs expanded at most")->capture_default_str();
  command.add_option("--seed", arguments->seed, "For the search and the inputs that graphs are compared on")
      ->capture_default_str();
  command.add_option("--runtime", arguments->runtime, "What runs models, to compare and to measure")
      ->capture_default_str();
  command.add_option("--dim", arguments->dims, "NAME=SIZE: a size that the model leaves open (repeatable)")
      ->expected(1)
      ->take_all();
  command.add_flag("--no-record", arguments->no_record, "Do not note in the store which rules were used");
  command.add_flag("--measure", arguments->measure, "Measure both whole graphs in turn, many rounds, with spread");
}

}  // namespace rewright::cli
