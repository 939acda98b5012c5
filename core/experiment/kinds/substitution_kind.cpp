// Kind "substitution": two graphs written down. Is the rule that they make proved? Does it follow from a library? What
// do they cost?
//
//   case            its name
//   before, after   graphs in text form (core/include/rewright/graph/graph.h)
//   axioms          files, for the proof
//   rules           files: does the rule follow from these?
//   price           cost models: NAME, or NAME:DEVICE
//   rounds          of measuring both in ONNX Runtime, in turn; 0: not at all
//
// Rows  row = "sum":   name, proved, follows, in_library, operators_before, operators_after, before_us, after_us, gain,
//                      gain_low, gain_high (in ONNX Runtime), rule
//       row = "price": name, by, before_us, after_us, gain
#include <rewright/egraph/prover.h>
#include <rewright/optimize/cost.h>

#include <algorithm>
#include <cmath>

#include "campaign/rule_source.h"
#include "discover/entailment.h"
#include "experiment/kind.h"
#include "experiment/kinds/drawn_kind.h"
#include "onnx/export.h"
#include "optimize/comparison.h"
#include "optimize/equivalence.h"
#include "optimize/rebuild.h"
#include "verify/portfolio.h"

namespace rewright::experiment {
namespace {

struct SubstitutionAsked {
  std::string name, before, after;
  std::vector<std::string> axioms, rules, price;
  std::int64_t rounds = 0;
};

/// Proved, perhaps under conditions, which the rule then has. What is written down says no more than its sizes do.
Result<bool> prove(Rule& rule, const SubstitutionAsked& asked, const Registry& registry) {
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(asked.axioms, registry));
  REWRIGHT_TRY(const std::string prover, default_prover(registry));
  const VerifierChoice choice{prover, {}};
  REWRIGHT_TRY(const PortfolioReport report,
               verify_all(std::span(&rule, 1), axioms, std::span(&choice, 1), registry, {}));
  const Verdict& verdict = report.rules.front().outcome;
  if (verdict.kind != VerdictKind::kProved) return false;
  rule.precondition.insert(rule.precondition.end(), verdict.conditions.begin(), verdict.conditions.end());
  rule.id = rule_id(rule);
  return true;
}

Status look_into_library(const Rule& rule, const SubstitutionAsked& asked, const Registry& registry, Json& sum) {
  std::vector<Rule> library;
  for (const std::string& file : asked.rules) {
    REWRIGHT_TRY(std::vector<Rule> rules, read_rule_source(file, registry));
    std::ranges::move(rules, std::back_inserter(library));
  }
  sum["in_library"] = std::ranges::any_of(library, [&](const Rule& known) { return known.id == rule.id; });
  DeriveOptions options;
  options.limits.nodes *= 4;
  options.limits.matches *= 4;
  REWRIGHT_TRY(const auto derivations, derive_all(std::span(&rule, 1), one_direction_each(library), registry, options));
  sum["follows"] = sum["in_library"].get<bool>() || derivations.front().has_value();
  return {};
}

Status price(const Graph& before, const Graph& after, const SubstitutionAsked& asked, const Registry& registry,
             Outcome& outcome) {
  for (const std::string& by : asked.price) {
    const std::size_t colon = by.find(':');
    REWRIGHT_TRY(const CostModel* known, registry.get<CostModel>(by.substr(0, colon)));
    const auto model = known->clone();
    Options options;
    if (colon != std::string::npos) options["device"] = by.substr(colon + 1);
    REWRIGHT_CHECK(model->configure(options, registry));
    GraphCost cost(*model, nullptr);
    REWRIGHT_TRY(const double before_us, cost.cost_us(before));
    REWRIGHT_TRY(const double after_us, cost.cost_us(after));
    if (!std::isfinite(before_us) || !std::isfinite(after_us)) continue;
    outcome.rows.push_back({{"row", "price"},
                            {"name", asked.name},
                            {"by", by},
                            {"before_us", before_us},
                            {"after_us", after_us},
                            {"gain", after_us > 0 ? before_us / after_us : 1}});
  }
  return {};
}

/// Weights get values, the same for both graphs.
Result<Graph> with_weights(const Graph& graph) {
  return rebuild(graph, {}, [](const Node& node) -> Result<std::shared_ptr<const ConstantData>> {
    if (!node.is_weight()) return node.constant();
    return std::make_shared<const ConstantData>(random_weight(node.name, node.outputs[0], 1));
  });
}

/// Compares both in ONNX Runtime and measures them in turn.
Status measure(const SubstitutionAsked& asked, const Lab& lab, const Graph& bare_before, const Graph& bare_after,
               Json& sum) {
  REWRIGHT_TRY(const Runtime* runtime, lab.registry->get<Runtime>("onnxruntime"));
  if (!runtime->version()) return {};  // The rest can be said without it.
  REWRIGHT_TRY(const Graph before, with_weights(bare_before));
  REWRIGHT_TRY(const Graph after, with_weights(bare_after));
  EquivalenceOptions gate_options;
  gate_options.runtime = runtime;
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create(before, gate_options));
  REWRIGHT_TRY(const Equivalence equal, gate.check(after));
  if (!equal.equal())
    return make_error(ErrorCode::kMismatch, "the two graphs of '{}' differ: {}", asked.name,
                      equal.difference.empty() ? equal.reason : equal.difference);
  REWRIGHT_TRY(const std::string first, export_model(before));
  REWRIGHT_TRY(const std::string second, export_model(after));
  ComparisonOptions options;
  options.rounds = static_cast<int>(asked.rounds);
  options.stop_when_clear = false;
  options.keep_going = [&](int, double) { return !lab.stopped(); };
  REWRIGHT_TRY(const TimeComparison times, compare_times(*runtime, before, first, second, options));
  sum["compared"] = true;
  sum["before_us"] = times.before.median_us;
  sum["after_us"] = times.after.median_us;
  sum["gain"] = times.gain.median;
  sum["gain_low"] = times.gain.low;
  sum["gain_high"] = times.gain.high;
  return {};
}

Result<Outcome> work(const SubstitutionAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(const Graph before, parse_graph(asked.before, *lab.registry));
  REWRIGHT_TRY(const Graph after, parse_graph(asked.after, *lab.registry));
  REWRIGHT_TRY(Rule rule, generalise(before, after));
  lab.show(asked.name, 0);
  Outcome outcome;
  REWRIGHT_TRY(const bool proved, prove(rule, asked, *lab.registry));
  Json sum = {{"row", "sum"},
              {"name", asked.name},
              {"rule", to_text(rule)},
              {"proved", proved},
              {"operators_before", before.operator_count()},
              {"operators_after", after.operator_count()}};
  REWRIGHT_CHECK(look_into_library(rule, asked, *lab.registry, sum));
  if (asked.rounds > 0) REWRIGHT_CHECK(measure(asked, lab, before, after, sum));
  if (lab.stopped()) return stopped_early();
  outcome.rows.push_back(std::move(sum));
  REWRIGHT_CHECK(price(before, after, asked, *lab.registry, outcome));
  REWRIGHT_CHECK(draw_both(asked.name, before, after, 60, outcome));
  return outcome;
}

Status check_graph(Parameters& parameters, const std::string& key, const Lab& lab, std::string& text) {
  REWRIGHT_TRY(text, parameters.text(key));
  if (const auto graph = parse_graph(text, *lab.registry); !graph)
    return parameters.error(key, fmt::format("'{}' is no graph: {}", key, graph.error().message));
  return {};
}

}  // namespace

Result<Job> substitution_job(Parameters& parameters, const Lab& lab) {
  SubstitutionAsked asked;
  REWRIGHT_TRY(asked.name, parameters.text("case"));
  REWRIGHT_CHECK(check_graph(parameters, "before", lab, asked.before));
  REWRIGHT_CHECK(check_graph(parameters, "after", lab, asked.after));
  REWRIGHT_TRY(asked.axioms, parameters.files("axioms"));
  REWRIGHT_TRY(asked.rules, parameters.files("rules"));
  REWRIGHT_TRY(asked.price, parameters.texts("price"));
  REWRIGHT_TRY(asked.rounds, parameters.integer("rounds", 0, 1000, 0));
  Job job{[asked](const Lab& place) { return work(asked, place); }};
  job.measures = true;
  return job;
}

}  // namespace rewright::experiment
