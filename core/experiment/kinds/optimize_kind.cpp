// Kind "optimize": one model, one search.
//
//   model           NAME of a model of experiments/models, or a file NAME.onnx relative to the manifest
//   rules           files, of axioms (.smt2) too; search, search_options; cost, cost_options (its `file` relative to
//   the manifest); steps,
//                   candidates, seed, region_size
//   trust           of the rules, at least: none, solver, certificate, theorem; "": as they come
//   layout          of data: none, only, sequential, joint (core/optimize/optimizer.h)
//   cpu_seconds     after so many the search ends with its best so far; 0: never
//   rounds          of measuring both models in turn in ONNX Runtime, after they were compared; 0: not at all
//   price           names of other cost models that say what both graphs cost, operator by operator
//   learn           files of measured kernels: with cost "learned", it learned from those of other models than this one
//   draw            true: both graphs, with what has changed marked
//
// Rows  row = "sum":   cost_before_us, cost_after_us, reduction, steps, candidates, seconds, cpu_seconds, rewrites,
//                      asking_s (spent in the cost model);
//                      usable_rules (how many the search had), compared (true, where it was), before_us, after_us,
//                      gain, gain_low, gain_high
//       row = "rule":  rule, times, gain_us
//       row = "curve": seconds, candidates, best_us, relative (of the cost before)
//       row = "price": by, before_us, after_us, gain
// and in each the parameters model, search, cost, rules (names of the files) and those of the search.
#include <rewright/onnx/runtime.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "campaign/rule_source.h"
#include "discover/axiom_rules.h"
#include "experiment/kind.h"
#include "experiment/kinds/clock.h"
#include "experiment/kinds/drawn_kind.h"
#include "learn/fit.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "optimize/comparison.h"
#include "optimize/equivalence.h"
#include "optimize/optimizer.h"
#include "optimize/uses.h"

namespace rewright::experiment {
namespace {

struct OptimizeAsked {
  std::string model, file, search, cost;  ///< `file` has the model.
  std::vector<std::string> rules, price, learn;
  std::string trust;
  Options search_options, cost_options;
  std::int64_t steps = 0, candidates = 0, seed = 1, region_size = 0, rounds = 0;
  double cpu_seconds = 0;
  bool draw = false;
  LayoutUse layout = LayoutUse::kNone;
  Json about;
};

Result<std::unique_ptr<CostModel>> cost_model(const std::string& name, const Options& options,
                                              const Registry& registry) {
  REWRIGHT_TRY(const CostModel* model, registry.get<CostModel>(name));
  auto own = model->clone();
  REWRIGHT_CHECK(own->configure(options, registry));
  return own;
}

/// A cost model, and how long its answers took.
class TimedCost final : public CostModel {
  template <class Ask>
  auto timed(const Ask& ask) {
    const Clock clock;
    auto answer = ask();
    seconds += clock.wall();
    return answer;
  }

 public:
  explicit TimedCost(std::unique_ptr<CostModel> model) : model_(std::move(model)) {}
  double seconds = 0;

  [[nodiscard]] std::string name() const override { return model_->name(); }
  [[nodiscard]] std::string summary() const override { return model_->summary(); }
  [[nodiscard]] std::string device() const override { return model_->device(); }
  [[nodiscard]] bool measured() const override { return model_->measured(); }
  Status configure(const Options& options, const Registry& registry) override {
    return model_->configure(options, registry);
  }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    return timed([&] { return model_->cost_us(application); });
  }
  [[nodiscard]] bool knows_layouts() const override { return model_->knows_layouts(); }
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override { return model_->fused(); }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    return timed([&] { return model_->kernel_us(kernel); });
  }
  [[nodiscard]] Result<std::vector<Estimate>> estimates(std::span<const Kernel> kernels) override {
    return timed([&] { return model_->estimates(kernels); });
  }
  [[nodiscard]] Result<double> opaque_us(const OpaqueApplication& node) override {
    return timed([&] { return model_->opaque_us(node); });
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return model_->clone(); }

 private:
  std::unique_ptr<CostModel> model_;
};

/// Learned from the kernels of other models, and configured.
Result<std::unique_ptr<CostModel>> learned_cost(const OptimizeAsked& asked, const Registry& registry) {
  REWRIGHT_TRY(const learn::DataSet data, learn::read_data(asked.learn, "", registry));
  std::vector<std::size_t> others;
  for (std::size_t s = 0; s < data.samples.size(); ++s) {
    if (!data.samples[s].programs.contains(asked.model)) others.push_back(s);
  }
  REWRIGHT_TRY(const learn::LearnedModel model, learn::fit(data, others, {}, registry));
  REWRIGHT_TRY(const std::string bytes, model.to_file());
  const std::string file = fmt::format("{}/rewright_learned_{}_{}.onnx",
                                       std::filesystem::temp_directory_path().string(), asked.model, getpid());
  REWRIGHT_CHECK(write_file(file, bytes));
  Options options = asked.cost_options;
  options["file"] = file;
  auto cost = cost_model(asked.cost, options, registry);
  std::filesystem::remove(file);
  return cost;
}

struct Pieces {
  std::unique_ptr<SearchStrategy> search;
  std::unique_ptr<TimedCost> cost;
  std::vector<Rule> rules;
  std::string original;
  ImportedModel imported;
};

constexpr Trust kTrusts[] = {Trust::kNone, Trust::kSolver, Trust::kCertificate, Trust::kTheorem};

bool is_trusted(const Rule& rule, const std::string& least) {
  const auto needed = std::ranges::find_if(kTrusts, [&](Trust trust) { return least == name_of(trust); });
  return needed == std::end(kTrusts) || rule.trust >= *needed;
}

Result<Pieces> prepare(const OptimizeAsked& asked, const Registry& registry) {
  Pieces pieces;
  REWRIGHT_TRY(const SearchStrategy* search, registry.get<SearchStrategy>(asked.search));
  pieces.search = search->clone();
  REWRIGHT_CHECK(pieces.search->configure(asked.search_options));
  REWRIGHT_TRY(auto cost, asked.learn.empty() ? cost_model(asked.cost, asked.cost_options, registry)
                                              : learned_cost(asked, registry));
  pieces.cost = std::make_unique<TimedCost>(std::move(cost));
  REWRIGHT_TRY(pieces.original, read_file(asked.file));
  REWRIGHT_TRY(pieces.imported, import_model_file(asked.file, registry));
  ParameterUses uses;
  uses.add(pieces.imported.graph);
  std::set<std::string> ids;
  const auto take = [&](std::vector<Rule> rules) {
    if (asked.trust == name_of(Trust::kTheorem)) make_theorems(rules, registry);
    for (Rule& rule : rules) {
      if (is_trusted(rule, asked.trust) && ids.insert(rule.id).second) pieces.rules.push_back(std::move(rule));
    }
  };
  std::vector<std::string> axiom_files;
  for (const std::string& source : asked.rules) {
    if (source.ends_with(".smt2")) {
      axiom_files.push_back(source);
      continue;
    }
    REWRIGHT_TRY(std::vector<Rule> rules, read_rule_source(source, registry, uses));
    take(std::move(rules));
  }
  if (axiom_files.empty()) return pieces;
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(axiom_files, registry));
  REWRIGHT_TRY(AxiomRules of_axioms, rules_of_axioms(axioms, pieces.imported.graph, registry));
  take(std::move(of_axioms.rules));
  return pieces;
}

Json with(const Json& about, Json row) {
  row.update(about);
  return row;
}

double ratio(double before, double after) { return after > 0 ? before / after : 1; }

/// Compares both models and measures them in turn.
Status measure(const OptimizeAsked& asked, const Pieces& pieces, const OptimizeReport& report, const Lab& lab,
               Json& sum, std::string& missing) {
  REWRIGHT_TRY(const Runtime* runtime, lab.registry->get<Runtime>("onnxruntime"));
  if (const auto version = runtime->version(); !version) {
    missing = version.error().message;
    return {};
  }
  EquivalenceOptions gate_options;
  gate_options.runtime = runtime;
  gate_options.seed = static_cast<std::uint64_t>(asked.seed);
  gate_options.original_model = pieces.original;
  gate_options.to_model = [&](const Graph& graph) { return export_model(graph, pieces.imported); };
  lab.show("compare", 0);
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create(pieces.imported.graph, gate_options));
  REWRIGHT_TRY(const std::string after, gate_options.to_model(report.best));
  REWRIGHT_TRY(const Equivalence equal, gate.check(report.best, after));
  if (!equal.equal())
    return make_error(ErrorCode::kMismatch, "{}, optimised by {}, differs from the original: {}", asked.model,
                      asked.search, equal.difference.empty() ? equal.reason : equal.difference);
  ComparisonOptions options;
  options.rounds = static_cast<int>(asked.rounds);
  options.stop_when_clear = false;
  options.keep_going = [&](int, double share) {
    lab.show("measure", share);
    return !lab.stopped();
  };
  REWRIGHT_TRY(const TimeComparison times,
               compare_times(*runtime, pieces.imported.graph, pieces.original, after, options));
  sum["compared"] = true;
  sum["before_us"] = times.before.median_us;
  sum["after_us"] = times.after.median_us;
  sum["gain"] = times.gain.median;
  sum["gain_low"] = times.gain.low;
  sum["gain_high"] = times.gain.high;
  sum["faster"] = times.faster();
  sum["slower"] = times.slower();
  return {};
}

Status price(const OptimizeAsked& asked, const Graph& before, const Graph& after, const Lab& lab, Outcome& outcome) {
  for (const std::string& name : asked.price) {
    lab.show("price by " + name, 0);
    REWRIGHT_TRY(const auto model, cost_model(name, {}, *lab.registry));
    GraphCost cost(*model, nullptr);
    REWRIGHT_TRY(const double before_us, cost.cost_us(before));
    REWRIGHT_TRY(const double after_us, cost.cost_us(after));
    if (!std::isfinite(before_us) || !std::isfinite(after_us)) continue;  // It has no price for some operator.
    outcome.rows.push_back(with(asked.about, {{"row", "price"},
                                              {"by", name},
                                              {"before_us", before_us},
                                              {"after_us", after_us},
                                              {"gain", ratio(before_us, after_us)}}));
  }
  return {};
}

void add_search_rows(const OptimizeAsked& asked, const OptimizeReport& report, Outcome& outcome) {
  const SearchResult& search = report.search;
  for (const UseRecord& use : uses_of(search, {})) {
    std::string name = kNormalFormStep;
    for (const RewriteStep& step : search.path)
      if (step.rule_id == use.rule) name = step.rule_name;
    outcome.rows.push_back(
        with(asked.about, {{"row", "rule"}, {"rule", name}, {"times", use.times}, {"gain_us", use.gain_us}}));
  }
  const auto point = [&](double seconds, std::uint64_t candidates, double best_us) {
    outcome.rows.push_back(with(asked.about, {{"row", "curve"},
                                              {"seconds", seconds},
                                              {"candidates", candidates},
                                              {"best_us", best_us},
                                              {"relative", best_us / search.cost_before_us}}));
  };
  // Every improvement of a long search would be thousands of lines: those that are seen.
  double shown = std::numeric_limits<double>::infinity();
  for (const CurvePoint& at : search.curve) {
    if (at.best_us > shown * 0.999 && &at != &search.curve.back()) continue;
    point(at.seconds, at.candidates, at.best_us);
    shown = at.best_us;
  }
  if (std::isfinite(search.cost_after_us)) point(report.seconds, search.candidates, search.cost_after_us);
}

Result<Outcome> work(const OptimizeAsked& asked, const Lab& lab) {
  if (std::string missing = missing_model(asked.file); !missing.empty()) return Outcome{{}, {}, std::move(missing)};
  REWRIGHT_TRY(Pieces pieces, prepare(asked, *lab.registry));
  const std::size_t usable_rules = pieces.rules.size();
  REWRIGHT_TRY(const Operator* transpose, lab.registry->get<Operator>("transpose"));
  GraphCost cost(*pieces.cost, nullptr), in_layouts(*pieces.cost, nullptr, transpose);
  OptimizeOptions options;
  options.layout = asked.layout;
  options.in_layouts = &in_layouts;
  options.steps = static_cast<std::uint64_t>(asked.steps);
  options.candidates = static_cast<std::uint64_t>(asked.candidates);
  options.seed = static_cast<std::uint64_t>(asked.seed);
  options.region_size = static_cast<std::size_t>(asked.region_size);
  options.registry = lab.registry;
  options.measuring = [&](bool searching, std::uint64_t kernels) {
    if (!searching) lab.show(fmt::format("{}: {} kernels measured", asked.model, kernels), 0);
    return !lab.stopped();
  };
  const Clock clock;
  bool out_of_time = false;
  const auto progress = [&](std::uint64_t steps, std::uint64_t candidates, double) {
    const auto share = [](auto done, auto most) {
      return most > 0 ? static_cast<double>(done) / static_cast<double>(most) : 0.0;
    };
    lab.show(fmt::format("{} by {}", asked.model, asked.search),
             std::max(share(steps, options.steps), share(candidates, options.candidates)));
    out_of_time = out_of_time || (asked.cpu_seconds > 0 && clock.cpu() > asked.cpu_seconds);
    return !out_of_time && !lab.stopped();
  };
  REWRIGHT_TRY(const OptimizeReport report,
               optimize(pieces.imported.graph, std::move(pieces.rules), *pieces.search, cost, options, progress));
  if (lab.stopped()) return stopped_early();
  const SearchResult& search = report.search;
  if (!std::isfinite(search.cost_before_us))
    return make_error(ErrorCode::kUnsupported, "the cost model {} has no cost for some operators of {}", asked.cost,
                      asked.model);
  Json sum = {{"row", "sum"},
              {"usable_rules", usable_rules},
              {"operators", pieces.imported.graph.operator_count()},
              {"cost_before_us", search.cost_before_us},
              {"cost_after_us", search.cost_after_us},
              {"reduction", ratio(search.cost_before_us, search.cost_after_us)},
              {"rewrites", search.path.size()},
              {"steps", search.steps},
              {"candidates", search.candidates},
              {"out_of_time", out_of_time},
              {"seconds", report.seconds},
              {"cpu_seconds", clock.cpu()},
              {"asking_s", pieces.cost->seconds}};
  Outcome outcome;
  if (asked.rounds > 0) {
    REWRIGHT_CHECK(measure(asked, pieces, report, lab, sum, outcome.missing));
    if (!outcome.missing.empty()) return outcome;
    if (lab.stopped()) return stopped_early();
  }
  outcome.rows.push_back(with(asked.about, std::move(sum)));
  add_search_rows(asked, report, outcome);
  REWRIGHT_CHECK(price(asked, pieces.imported.graph, report.best, lab, outcome));
  if (asked.draw) REWRIGHT_CHECK(draw_both(asked.model, pieces.imported.graph, report.best, 60, outcome));
  return outcome;
}

}  // namespace

Result<Job> optimize_job(Parameters& parameters, const Lab& lab) {
  OptimizeAsked asked;
  REWRIGHT_TRY(asked.model, parameters.text("model"));
  REWRIGHT_TRY(asked.file, model_file(parameters, lab));
  const bool is_named = asked.model.ends_with(".onnx");
  if (is_named) asked.model = asked.file;
  REWRIGHT_TRY(asked.rules, parameters.files("rules"));
  REWRIGHT_TRY(asked.search, parameters.text("search", "backtracking"));
  REWRIGHT_TRY(asked.search_options, parameters.options("search_options"));
  REWRIGHT_TRY(asked.cost, parameters.text("cost", "flops"));
  REWRIGHT_TRY(asked.cost_options, parameters.options("cost_options"));
  REWRIGHT_TRY(asked.price, parameters.texts("price"));
  REWRIGHT_TRY(asked.learn, parameters.files("learn"));
  REWRIGHT_TRY(asked.steps, parameters.integer("steps", 1, 1'000'000'000, 1000));
  REWRIGHT_TRY(asked.candidates, parameters.integer("candidates", 0, 1'000'000'000, 0));
  REWRIGHT_TRY(asked.seed, parameters.integer("seed", 0, 1'000'000'000, 1));
  REWRIGHT_TRY(asked.region_size, parameters.integer("region_size", 0, 1'000'000, 0));
  REWRIGHT_TRY(asked.rounds, parameters.integer("rounds", 0, 1000, 0));
  REWRIGHT_TRY(asked.cpu_seconds, parameters.number("cpu_seconds", 0, 1e6, 0));
  REWRIGHT_TRY(asked.draw, parameters.boolean("draw", false));
  REWRIGHT_TRY(asked.trust, parameters.text("trust", ""));
  if (!asked.trust.empty() && std::ranges::none_of(kTrusts, [&](Trust trust) { return asked.trust == name_of(trust); }))
    return parameters.error("trust",
                            fmt::format("'trust' is '{}'; there are: none, solver, certificate, theorem", asked.trust));
  REWRIGHT_TRY(const std::string layout, parameters.text("layout", ""));
  if (const auto use = layout_use(layout.empty() ? "none" : layout)) {
    asked.layout = *use;
  } else {
    return parameters.error("layout",
                            fmt::format("no layout is called '{}'; there are: none, only, sequential, joint", layout));
  }
  // What can be known to be wrong now is said now, and not after an hour.
  const auto search = lab.registry->get<SearchStrategy>(asked.search);
  if (!search) return parameters.error("search", search.error().message);
  if (const Status known = (*search)->clone()->configure(asked.search_options); !known)
    return parameters.error("search_options", known.error().message);
  const auto cost = asked.learn.empty() ? cost_model(asked.cost, asked.cost_options, *lab.registry)
                                        : cost_model("flops", {}, *lab.registry);
  if (!cost) return parameters.error("cost", cost.error().message);
  if (asked.layout != LayoutUse::kNone && !(*cost)->knows_layouts())
    return parameters.error("layout", fmt::format("the cost model {} tells no layouts apart on the device '{}'",
                                                  asked.cost, (*cost)->device()));
  for (const std::string& name : asked.price) {
    if (const auto known = lab.registry->get<CostModel>(name); !known)
      return parameters.error("price", known.error().message);
  }
  if (asked.rules.empty()) return parameters.error("rules", "the run needs the key 'rules': files of rules");
  std::vector<std::string> names;
  for (const std::string& file : asked.rules) names.push_back(std::filesystem::path(file).stem().string());
  asked.about = {{"rules", fmt::format("{}", fmt::join(names, ", "))},
                 {"model", std::filesystem::path(asked.model).stem().string()},
                 {"search", asked.search},
                 {"cost", asked.cost}};
  if (!layout.empty()) asked.about["layout"] = layout;
  if (!asked.trust.empty()) asked.about["trust"] = asked.trust;
  for (const auto* options : {&asked.search_options, &asked.cost_options})
    for (const auto& [name, value] : *options)
      std::visit([&, key = name](const auto& known) { asked.about[key] = known; }, value);
  Job job{[asked](const Lab& place) { return work(asked, place); }};
  job.measures = asked.rounds > 0 || !asked.price.empty() || asked.cost != "flops";
  if (!is_named && missing_model(asked.file).empty()) job.files.push_back(asked.file);
  return job;
}

}  // namespace rewright::experiment
