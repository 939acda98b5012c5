#include "cli/optimize_arguments.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

#include "base/files.h"
#include "campaign/operator_versions.h"
#include "campaign/remembered_classes.h"
#include "campaign/rule_source.h"
#include "cli/interrupt.h"
#include "cli/model_files.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "discover/axiom_rules.h"
#include "onnx/tensor_file.h"
#include "optimize/cost_cache.h"
#include "rule/rule_class.h"
#include "verify/judged_memory.h"

namespace rewright::cli {
namespace {

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

Result<Trust> read_trust(const std::string& name) {
  for (const Trust trust : {Trust::kNone, Trust::kSolver, Trust::kCertificate, Trust::kTheorem})
    if (name == name_of(trust)) return trust;
  return make_error(ErrorCode::kUsage, "--trust is '{}'; there are: theorem, certificate, solver, none", name);
}

/// Numbers with commas between.
std::optional<std::vector<double>> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto number = number_in<double>(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

bool is_axiom_file(const std::string& source) {
  return source.ends_with(".smt2") && !std::filesystem::is_directory(source);
}

void say_what_axioms_gave(std::size_t count, const AxiomRules& found, bool quiet) {
  note(fmt::format("{} for this model from {} of {}; axioms of other operators, parameters or ranks: {}; no rules (a "
                   "side is a bare tensor or lacks some of the other, or both differ in order alone): {}; refused: {}",
                   counted(found.rules.size(), "rule"), found.used, counted(count, "axiom"), found.elsewhere,
                   found.undirected.size(), found.refused.size()),
       quiet);
  for (const std::string& sentence : found.refused) note(sentence, quiet);
  if (!found.cut_short.empty())
    note(fmt::format("of {} only the first {} choices of parameters were taken", fmt::join(found.cut_short, ", "),
                     kMostInstances),
         quiet);
}

Result<std::vector<Rule>> read_axiom_rules(const std::vector<std::string>& files, const Registry& registry,
                                           const Graph& program, int threads, bool quiet,
                                           std::vector<std::string>& refused) {
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(files, registry));
  ProgressLine line(quiet);
  AxiomRuleOptions options;
  options.threads = threads;
  options.progress = [&](std::size_t done, std::size_t total) {
    line.show("audit of axioms", done, "axioms", static_cast<double>(done) / static_cast<double>(total));
    return !interrupted();
  };
  REWRIGHT_TRY(AxiomRules found, rules_of_axioms(axioms, program, registry, options));
  line.clear();
  say_what_axioms_gave(axioms.axioms().size(), found, quiet);
  refused = std::move(found.refused);
  return std::move(found.rules);
}

/// The rules that do to numbers no more than was asked for; says how many others there are.
std::vector<Rule> of_classes(std::vector<Rule> rules, const OptimizeArguments& arguments, const Registry& registry,
                             bool quiet) {
  if (arguments.fast_math) return rules;
  std::size_t reassociating = 0, range_changing = 0;
  std::vector<RuleClass> classes(rules.size(), RuleClass::kReassociating);
  if (arguments.strict) {
    tbb::parallel_for(std::size_t{0}, rules.size(), [&](std::size_t i) { classes[i] = classify(rules[i]); });
  } else {
    const std::vector<char> changing = remembered_range_changing(rules, registry);
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (changing[i] != 0) classes[i] = RuleClass::kRangeChanging;
  }
  std::vector<Rule> kept;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const RuleClass found = classes[i];
    if (found == RuleClass::kRangeChanging) {
      ++range_changing;
    } else if (found == RuleClass::kReassociating && arguments.strict) {
      ++reassociating;
    } else {
      kept.push_back(std::move(rules[i]));
    }
  }
  const auto say = [&](std::size_t count, std::string_view why) {
    if (count == 0) return;
    note(fmt::format("{} {} left out: {}", counted(count, "rule"), count == 1 ? "is" : "are", why), quiet);
  };
  say(reassociating, "reassociating, and --strict takes exact rules only");
  say(range_changing, "range-changing, which --fast-math alone takes");
  return kept;
}

/// Of a store, before its rules turn out not to be proved.
Status say_what_has_other_versions(const std::string& source, const Registry& registry, bool quiet) {
  if (!std::filesystem::is_directory(source)) return {};
  REWRIGHT_TRY(const auto store, Store::open(source, Store::Mode::kRead));
  REWRIGHT_TRY(const std::vector<OtherVersion> others, other_versions(*store, registry));
  for (const OtherVersion& other : others)
    note(fmt::format("'{}' was made with version {} of operator {}, and {} is loaded: its rules with {} count as not "
                     "proved; run its campaign again to prove them",
                     source, other.of_store, other.op, other.loaded, other.op),
         quiet);
  return {};
}

}  // namespace

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

Result<GivenInputs> read_inputs(const std::vector<std::string>& texts) {
  GivenInputs inputs;
  for (const std::string& text : texts) {
    REWRIGHT_TRY(const auto setting, halves(text, "--input"));
    const auto& [name, value] = setting;
    if (auto numbers = numbers_in(value)) {
      inputs[name].numbers = *std::move(numbers);
      continue;
    }
    auto distribution = read_distribution(value);
    if (!distribution) return make_error(ErrorCode::kUsage, "--input {}: {}", name, distribution.error().message);
    if (*distribution) {
      inputs[name] = **std::move(distribution);
      continue;
    }
    if (!std::filesystem::is_regular_file(value))
      return make_error(ErrorCode::kUsage,
                        "--input {}: '{}' is neither numbers with commas between, nor uniform(LOW,HIGH), "
                        "normal(MEAN,DEVIATION) or integers(LOW,HIGH), nor a file that is there",
                        name, value);
    REWRIGHT_TRY(inputs[name].numbers, read_tensor_file(value));
  }
  return inputs;
}

Result<LayoutUse> read_layout(const std::string& name) {
  if (const auto use = layout_use(name)) return *use;
  return make_error(ErrorCode::kUsage, "--layout is '{}'; there are: none, only, sequential, joint", name);
}

Status check_outputs(const OptimizeArguments& arguments) {
  REWRIGHT_CHECK(check_output_path(arguments.output));
  if (arguments.report.empty()) return {};
  if (std::filesystem::exists(arguments.report) && !std::filesystem::is_directory(arguments.report))
    return make_error(ErrorCode::kUsage, "--report: '{}' is a file; a folder is wanted", arguments.report);
  std::error_code failed;
  std::filesystem::create_directories(arguments.report, failed);
  if (failed)
    return make_error(ErrorCode::kIo, "--report: '{}' cannot be made: {}", arguments.report, failed.message());
  return {};
}

Result<std::vector<Rule>> read_rules(const OptimizeArguments& arguments, const Registry& registry, const Graph& program,
                                     bool quiet) {
  REWRIGHT_TRY(const Trust needed, read_trust(arguments.trust));
  std::vector<Rule> rules;
  std::set<std::string> ids;
  std::size_t distrusted = 0;
  const auto take = [&](std::vector<Rule> found) {
    if (needed == Trust::kTheorem) make_theorems(found, registry);
    for (Rule& rule : found) {
      if (rule.trust < needed) {
        ++distrusted;
      } else if (ids.insert(rule.id).second) {
        rules.push_back(std::move(rule));
      }
    }
  };
  std::vector<std::string> sources = arguments.rules, axiom_files;
  if (sources.empty()) {
    REWRIGHT_TRY(sources, own_libraries());
  }
  if (const std::string refusal = JudgedMemory::refusal(); !refusal.empty()) note(refusal, quiet);
  std::vector<std::string> refused;
  ParameterUses uses;
  uses.add(program);
  for (const std::string& source : sources) {
    if (is_axiom_file(source)) {
      axiom_files.push_back(source);
      continue;
    }
    REWRIGHT_TRY(std::vector<Rule> found, read_rule_source(source, registry, uses));
    REWRIGHT_CHECK(say_what_has_other_versions(source, registry, quiet));
    take(std::move(found));
  }
  if (!axiom_files.empty()) {
    const int threads = arguments.threads > 0 ? arguments.threads : cores();
    REWRIGHT_TRY(std::vector<Rule> found, read_axiom_rules(axiom_files, registry, program, threads, quiet, refused));
    take(std::move(found));
  }
  if (rules.empty() && distrusted > 0)
    return make_error(ErrorCode::kUsage,
                      "none of the rules is proved (rules in a text file never are); verify them into a store, or use "
                      "them at your own risk with --trust none: the result is still compared with the original");
  if (rules.empty() && !refused.empty())
    return make_error(ErrorCode::kUsage, "there is no rule in {}: {} of its axioms {} refused: {}",
                      fmt::join(sources, ", "), refused.size(), refused.size() == 1 ? "is" : "are", refused.front());
  if (rules.empty() && axiom_files.empty())
    return make_error(ErrorCode::kUsage, "there is no rule in {}", fmt::join(sources, ", "));
  if (distrusted > 0)
    note(fmt::format("left out, because not proved{}: {}",
                     needed == Trust::kTheorem ? " from the operators' definitions" : "", counted(distrusted, "rule")),
         quiet);
  return of_classes(std::move(rules), arguments, registry, quiet);
}

Result<OptimizeSetting> make_setting(const OptimizeArguments& arguments, const Registry& registry) {
  OptimizeSetting setting;
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
    if (arguments.measure) return make_error(version.error().code, "--measure: {}", version.error().message);
    setting.runtime_trouble = version.error().message;
  }
  return setting;
}

Result<std::unique_ptr<LookLog>> open_checkpoint(const OptimizeArguments& arguments, const OptimizeSetting& setting,
                                                 const std::string& model, const std::vector<Rule>& rules) {
  if (arguments.checkpoint.empty()) return std::unique_ptr<LookLog>();
  std::string ids;
  for (const Rule& rule : rules) ids += rule.id + "\n";
  std::string search = arguments.search;
  for (const SearchOption& option : setting.search->options())
    search += fmt::format(" {}={}", option.name, *option.value);
  const LookLog::Key key = {{"program", REWRIGHT_VERSION},
                            {"model", content_hash(model)},
                            {"sizes", fmt::format("{}", fmt::join(arguments.dims, " "))},
                            {"rules", content_hash(ids)},
                            {"search", search},
                            {"cost", fmt::format("{} {} {}", arguments.cost, setting.model->device(),
                                                 fmt::join(arguments.cost_options, " "))},
                            {"layout", arguments.layout},
                            {"region size", std::to_string(arguments.region_size)},
                            {"seed", std::to_string(arguments.seed)}};
  return arguments.resume ? LookLog::resume(arguments.checkpoint, key) : LookLog::begin(arguments.checkpoint, key);
}

}  // namespace rewright::cli
