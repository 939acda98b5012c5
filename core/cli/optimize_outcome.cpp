#include "cli/optimize_outcome.h"

#include <rewright/verify/certificate.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>

#include "cli/reading.h"

namespace rewright::cli {
namespace {

std::string microseconds(double us) {
  if (!std::isfinite(us)) return "unknown";
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

std::string gain(const TimeComparison& times) {
  if (times.rounds == 1) return "-";
  const RatioSpread& gain = times.gain;
  return fmt::format("{}{:.2f}x ({:.2f} to {:.2f})", times.faster() || times.slower() ? "" : "none: ", gain.median,
                     gain.low, gain.high);
}

/// Of what is written where a rewrite broke equality: of the graph before it.
double cost_after_us(const OptimizeOutcome& outcome) {
  const SearchResult& search = outcome.report.search;
  return outcome.judged.culprit ? search.path[*outcome.judged.culprit].cost_before_us : search.cost_after_us;
}

void print_costs(const OptimizeArguments& arguments, const OptimizeOutcome& outcome) {
  const SearchResult& search = outcome.report.search;
  Table table({"", "before", "after", "gain"});
  std::string after = microseconds(cost_after_us(outcome));
  if (outcome.report.spread_us > 0) after += " +- " + microseconds(outcome.report.spread_us);
  table.add({fmt::format("cost ({})", arguments.cost), microseconds(search.cost_before_us), after,
             factor(search.cost_before_us, cost_after_us(outcome))});
  if (outcome.times) {
    const TimeComparison& times = *outcome.times;
    table.add({fmt::format("whole graph in {}, {}", arguments.runtime,
                           times.rounds == 1 ? "measured once" : fmt::format("{} rounds", times.rounds)),
               with_spread(times.before, times.rounds), with_spread(times.after, times.rounds), gain(times)});
  }
  print(table.to_string());
}

/// Of a step's rule; layouts move numbers alone, the normal form folds and sums weights.
std::string class_name(const OptimizeOutcome& outcome, const RewriteStep& step) {
  if (step.rule_name == kLayoutStep) return std::string(name_of(RuleClass::kExact));
  if (step.rule_name == kSimplificationStep) return std::string(name_of(outcome.simplification));
  if (step.rule_name == kNormalFormStep) return std::string(name_of(RuleClass::kReassociating));
  const auto found = outcome.classes.find(step.rule_id);
  return found == outcome.classes.end() ? "unknown" : std::string(name_of(found->second));
}

/// The same rule again is one row, unless each rewrite is asked for.
void print_rewrites(const OptimizeOutcome& outcome, bool each) {
  const SearchResult& search = outcome.report.search;
  if (search.path.empty()) {
    print_line("No rewrite makes it cheaper.");
  } else {
    Table rewrites({"rewrites", "rule", "class", "cost before", "cost after"});
    rewrites.align_right({3, 4});
    for (std::size_t first = 0, next = 0; first < search.path.size(); first = next) {
      do ++next;
      while (!each && next < search.path.size() && search.path[next].rule_id == search.path[first].rule_id);
      rewrites.add({next - first == 1 ? fmt::format("{}", next) : fmt::format("{} to {}", first + 1, next),
                    search.path[first].rule_name, class_name(outcome, search.path[first]),
                    microseconds(search.path[first].cost_before_us),
                    microseconds(search.path[next - 1].cost_after_us)});
    }
    print(rewrites.to_string());
  }
}

void print_simplifications(const OptimizeOutcome& outcome) {
  std::vector<std::string> parts;
  for (const auto& [kind, times] : outcome.simplifications) parts.push_back(fmt::format("{} {}", times, kind));
  if (!parts.empty()) print_line(fmt::format("Simplified first: {}.", fmt::join(parts, ", ")));
}

void print_rules(const OptimizeOutcome& outcome) {
  constexpr std::pair<Trust, const char*> kWords[] = {{Trust::kTheorem, "proved from the operators' definitions"},
                                                      {Trust::kCertificate, "proved by certificates on audited axioms"},
                                                      {Trust::kSolver, "by a solver's word"},
                                                      {Trust::kNone, "not proved"}};
  std::vector<std::string> parts;
  for (const auto& [trust, words] : kWords) {
    const auto count = outcome.rules.find(trust);
    if (count != outcome.rules.end()) parts.push_back(fmt::format("{} {}", with_commas(count->second), words));
  }
  if (!parts.empty()) print_line(fmt::format("Rules: {}.", fmt::join(parts, ", ")));
}

void print_sizes(const OptimizeArguments& arguments, const OptimizeOutcome& outcome) {
  if (outcome.sizes.empty() || outcome.sizes.front().empty()) return;
  const std::string first = to_text(outcome.sizes.front());
  if (arguments.freeze) return print_line(fmt::format("Frozen: {}; the result takes no other sizes.", first));
  std::string line = fmt::format("Open sizes: {}{}", first,
                                 outcome.sizes_are_chosen ? ", chosen here (--dim NAME=SIZE gives others)" : "");
  std::vector<std::string> others;
  for (const std::size_t i : outcome.judged.equivalence.cases)
    if (i > 0) others.push_back(to_text(outcome.sizes[i]));
  if (!others.empty()) line += fmt::format("; compared at {} too", fmt::join(others, " and at "));
  if (others.empty() && !outcome.refused_sizes.empty() && !outcome.judged.equivalence.cases.empty())
    line += fmt::format("; the model itself does not run at {}, so that nothing was compared there",
                        to_text(outcome.refused_sizes.front()));
  print_line(line + ".");
}

void print_verdict(const OptimizeOutcome& outcome) {
  const JudgedModel& judged = outcome.judged;
  for (const auto& [rule, reason] : outcome.left_out)
    print_line(fmt::format("Rule {} is left out of this model: {}.", rule, reason));
  const auto& path = outcome.report.search.path;
  if (path.empty()) return print_line("The model is written as it was, byte for byte.");
  if (outcome.nothing_gained)
    return print_line(
        "The gain is too small to be measured, and the runtime makes as many nodes of the original, which was written, "
        "byte for byte (--no-measure or --simplify-only writes the result).");
  if (judged.equivalence.equal() && judged.equivalence.runs.empty()) {
    print_line("The result was not compared with the original.");
  } else if (judged.equivalence.equal()) {
    print_line(sentence_of_equality(judged.equivalence));
  } else if (judged.culprit && judged.cause != Cause::kWrong) {
    print_line(fmt::format("The result stops before rewrite {} (rule {}): {}.", *judged.culprit + 1,
                           path[*judged.culprit].rule_name, judged.equivalence.difference));
  } else if (judged.culprit) {
    print_line(fmt::format("NOT EQUAL to the original: {}.", judged.equivalence.difference));
    print_line(fmt::format("Rewrite {} brought the difference (rule {}, id {}); the result stops before it.",
                           *judged.culprit + 1, path[*judged.culprit].rule_name, path[*judged.culprit].rule_id));
  } else {
    print_line(fmt::format("NOT COMPARABLE with the original: {}.", judged.reason));
    print_line(judged.is_original ? "The model is written as it was, byte for byte."
                                  : "It is simplified all the same: each step of that is exact.");
  }
  if (outcome.slower)
    print_line(
        fmt::format("The result is {} the original, which was written, byte for byte.",
                    outcome.times && outcome.times->slower() ? "slower than" : "not confirmed to be as fast as"));
}

Json rules_json(const std::map<Trust, std::size_t>& rules) {
  Json counts = Json::object();
  for (const auto& [trust, count] : rules) counts[name_of(trust)] = count;
  return counts;
}

Json to_json(const TimeSpread& time) {
  return {{"median_us", time.median_us}, {"low_us", time.low_us}, {"high_us", time.high_us}};
}

}  // namespace

void count_rules(std::span<const Rule> rules, OptimizeOutcome& outcome) {
  for (const Rule& rule : rules) ++outcome.rules[rule.trust];
}

std::map<std::string, RuleClass> classes_of(const SearchResult& search, const std::vector<Rule>& rules) {
  std::map<std::string, RuleClass> classes;
  for (const RewriteStep& step : search.path) {
    const auto rule = std::ranges::find(rules, step.rule_id, &Rule::id);
    if (rule != rules.end() && !classes.contains(step.rule_id)) classes.emplace(step.rule_id, classify(*rule));
  }
  return classes;
}

void print_outcome(const OptimizeArguments& arguments, const OptimizeOutcome& outcome) {
  const SearchResult& search = outcome.report.search;
  print_costs(arguments, outcome);
  print_line("");
  print_rewrites(outcome, arguments.explain);
  if (outcome.report.reordered > 0)
    print_line(
        fmt::format("{} tensors do not lie in order; matrices by columns are written as such, other layouts are up to "
                    "the runtime.",
                    with_commas(outcome.report.reordered)));
  print_line("");
  const std::string reading = sentence_of_reading(outcome.reading.carried, outcome.reading.nodes);
  if (!reading.empty()) print_line(reading);
  for (const auto& [type, reason] : outcome.report.without_cost)
    print_line(fmt::format("{} counts as nothing in the cost: {}.", type, reason));
  if (outcome.reading.bodies > 0)
    print_line(fmt::format("{} inside nodes {} optimised too; the cost counts each once.",
                           counted(outcome.reading.bodies, "graph"), outcome.reading.bodies == 1 ? "is" : "are"));
  print_simplifications(outcome);
  print_rules(outcome);
  print_sizes(arguments, outcome);
  print_verdict(outcome);
  print_line(fmt::format("{}, {} in {} ({} a second). Written to {}.", counted(search.steps, "step"),
                         counted(search.candidates, "candidate"), duration(outcome.report.seconds),
                         with_commas(static_cast<std::uint64_t>(static_cast<double>(search.candidates) /
                                                                std::max(outcome.report.seconds, 1e-6))),
                         arguments.output));
}

Json to_json(const OptimizeArguments& arguments, const OptimizeOutcome& outcome) {
  const SearchResult& search = outcome.report.search;
  Json rewrites = Json::array();
  for (const RewriteStep& step : search.path)
    rewrites.push_back({{"rule", step.rule_name},
                        {"id", step.rule_id},
                        {"class", class_name(outcome, step)},
                        {"cost_before", step.cost_before_us},
                        {"cost_after", step.cost_after_us}});
  Json json = {{"steps", search.steps},
               {"candidates", search.candidates},
               {"seconds", outcome.report.seconds},
               {"cpu_seconds", outcome.report.cpu_seconds},
               {"cost_before", search.cost_before_us},
               {"cost_after", cost_after_us(outcome)},
               {"cost_after_spread", outcome.report.spread_us},
               {"rewrites", std::move(rewrites)},
               {"layout", arguments.layout},
               {"reordered", outcome.report.reordered},
               {"equal", outcome.judged.equivalence.equal()},
               {"comparable", outcome.judged.equivalence.verdict != GateVerdict::kNotComparable},
               {"max_abs_error", outcome.judged.equivalence.max_abs_error},
               {"tolerance", outcome.judged.equivalence.tolerance},
               {"compared_in", outcome.judged.equivalence.runs},
               {"stopped_early", outcome.interrupted},
               {"rules_by_trust", rules_json(outcome.rules)},
               {"output", arguments.output},
               {"nodes_before", outcome.nodes_before},
               {"nodes_after", outcome.nodes_after},
               {"original_written", outcome.judged.is_original}};
  add_reading(json, outcome.reading.carried, outcome.reading.nodes);
  json["bodies"] = outcome.reading.bodies;
  json["untyped"] = outcome.reading.untyped;
  json["without_cost"] = outcome.report.without_cost;
  json["simplifications"] = outcome.simplifications;
  json["sizes"] = outcome.sizes.empty() ? Json::object() : Json(outcome.sizes.front());
  json["frozen"] = arguments.freeze && !outcome.sizes.empty() ? Json(outcome.sizes.front()) : Json::object();
  json["compared_at"] = Json::array();
  for (const std::size_t i : outcome.judged.equivalence.cases)
    if (!outcome.sizes[i].empty()) json["compared_at"].push_back(outcome.sizes[i]);
  if (!outcome.judged.reason.empty()) json["reason"] = outcome.judged.reason;
  json["left_out"] = Json::array();
  for (const auto& [rule, reason] : outcome.left_out) json["left_out"].push_back({{"rule", rule}, {"reason", reason}});
  if (outcome.judged.culprit) {
    json["difference"] = outcome.judged.equivalence.difference;
    json["wrong_rewrite"] = *outcome.judged.culprit + 1;
    json["wrong_rule"] = search.path[*outcome.judged.culprit].rule_name;
  }
  json["curve"] = Json::array();
  for (const CurvePoint& point : search.curve)
    json["curve"].push_back({{"seconds", point.seconds}, {"candidates", point.candidates}, {"best", point.best_us}});
  if (outcome.times) {
    json["measured_before"] = to_json(outcome.times->before);
    json["measured_after"] = to_json(outcome.times->after);
    json["measured_rounds"] = outcome.times->rounds;
    json["measured_gain"] = {
        {"median", outcome.times->gain.median}, {"low", outcome.times->gain.low}, {"high", outcome.times->gain.high}};
    json["gain_confirmed"] = outcome.times->faster();
    json["measured"] = {{"before_us", outcome.times->before.median_us},
                        {"after_us", outcome.times->after.median_us},
                        {"low", outcome.times->gain.low},
                        {"high", outcome.times->gain.high}};
  }
  return json;
}

OptimizationStory story_of(const OptimizeArguments& arguments, const OptimizeOutcome& outcome, const Graph& before,
                           const std::vector<Rule>& rules) {
  std::map<std::string, const Rule*> by_id;
  for (const Rule& rule : rules) by_id[rule.id] = &rule;
  const SearchResult& search = outcome.report.search;
  OptimizationStory story;
  story.model = std::filesystem::path(arguments.input).filename().string();
  story.search = arguments.search;
  story.cost = arguments.cost;
  story.facts.emplace_back(
      fmt::format("cost ({})", arguments.cost),
      fmt::format("{}, then {}: {}", microseconds(search.cost_before_us), microseconds(cost_after_us(outcome)),
                  factor(search.cost_before_us, cost_after_us(outcome))));
  if (outcome.times)
    story.facts.emplace_back(
        "whole graph in " + arguments.runtime,
        fmt::format("{}, then {}: {}", with_spread(outcome.times->before, outcome.times->rounds),
                    with_spread(outcome.times->after, outcome.times->rounds), gain(*outcome.times)));
  story.facts.emplace_back("equal",
                           outcome.judged.equivalence.equal()
                               ? fmt::format("yes, in {}", fmt::join(outcome.judged.equivalence.runs, " and in "))
                               : "no: " + outcome.judged.equivalence.difference + outcome.judged.reason);
  story.facts.emplace_back("search",
                           fmt::format("{}: {}, {} in {}", arguments.search, counted(search.steps, "step"),
                                       counted(search.candidates, "candidate"), duration(outcome.report.seconds)));
  for (const RewriteStep& step : search.path) {
    const auto rule = by_id.find(step.rule_id);
    const Rule* known = rule == by_id.end() ? nullptr : rule->second;
    story.rewrites.push_back({step.rule_name, known == nullptr ? "" : to_text(*known), step.cost_before_us,
                              step.cost_after_us, class_name(outcome, step), known, &step.graph});
  }
  for (const CurvePoint& point : search.curve) story.curve.push_back({point.seconds, point.candidates, point.best_us});
  story.curve.push_back({outcome.report.seconds, search.candidates, search.cost_after_us});
  story.before = &before;
  story.after = &outcome.report.best;
  return story;
}

}  // namespace rewright::cli
