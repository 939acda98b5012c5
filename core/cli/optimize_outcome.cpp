#include "cli/optimize_outcome.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

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
  if (times.rounds == 1) return factor(times.before.median_us, times.after.median_us) + ", not confirmed (--measure)";
  const RatioSpread& gain = times.gain;
  return fmt::format("{}{:.2f}x ({:.2f} to {:.2f})", times.faster() || times.slower() ? "" : "none: ", gain.median,
                     gain.low, gain.high);
}

/// Of what is written where a rewrite broke equality: of the graph before it.
double cost_after_us(const OptimizeOutcome& outcome) {
  const SearchResult& search = outcome.report.search;
  return outcome.culprit ? search.path[*outcome.culprit].cost_before_us : search.cost_after_us;
}

void print_costs(const OptimizeArguments& arguments, const OptimizeOutcome& outcome) {
  const SearchResult& search = outcome.report.search;
  Table table({"", "before", "after", "gain"});
  table.add({fmt::format("cost ({})", arguments.cost), microseconds(search.cost_before_us),
             microseconds(cost_after_us(outcome)), factor(search.cost_before_us, cost_after_us(outcome))});
  if (outcome.times) {
    const TimeComparison& times = *outcome.times;
    table.add({fmt::format("whole graph in {}, {}", arguments.runtime,
                           times.rounds == 1 ? "measured once" : fmt::format("{} rounds", times.rounds)),
               with_spread(times.before, times.rounds), with_spread(times.after, times.rounds), gain(times)});
  }
  print(table.to_string());
}

/// The same rule again is one row, unless each rewrite is asked for.
void print_rewrites(const SearchResult& search, bool each) {
  if (search.path.empty()) {
    print_line("No rewrite makes it cheaper.");
  } else {
    Table rewrites({"rewrites", "rule", "cost before", "cost after"});
    rewrites.align_right({2, 3});
    for (std::size_t first = 0, next = 0; first < search.path.size(); first = next) {
      do ++next;
      while (!each && next < search.path.size() && search.path[next].rule_id == search.path[first].rule_id);
      rewrites.add({next - first == 1 ? fmt::format("{}", next) : fmt::format("{} to {}", first + 1, next),
                    search.path[first].rule_name, microseconds(search.path[first].cost_before_us),
                    microseconds(search.path[next - 1].cost_after_us)});
    }
    print(rewrites.to_string());
  }
}

Json to_json(const TimeSpread& time) {
  return {{"median_us", time.median_us}, {"low_us", time.low_us}, {"high_us", time.high_us}};
}

}  // namespace

void print_outcome(const OptimizeArguments& arguments, const OptimizeOutcome& outcome) {
  const SearchResult& search = outcome.report.search;
  print_costs(arguments, outcome);
  print_line("");
  print_rewrites(search, arguments.explain);
  if (outcome.report.reordered > 0)
    print_line(
        fmt::format("{} tensors do not lie in order; matrices by columns are written as such, other layouts are up to "
                    "the runtime.",
                    with_commas(outcome.report.reordered)));
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
  if (outcome.slower) print_line("The result is slower than the original, which is what was written.");
  print_line(fmt::format("{} steps, {} candidates in {} ({} a second). Written to {}.", with_commas(search.steps),
                         with_commas(search.candidates), duration(outcome.report.seconds),
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
                        {"cost_before", step.cost_before_us},
                        {"cost_after", step.cost_after_us}});
  Json json = {{"steps", search.steps},
               {"candidates", search.candidates},
               {"seconds", outcome.report.seconds},
               {"cpu_seconds", outcome.report.cpu_seconds},
               {"cost_before", search.cost_before_us},
               {"cost_after", cost_after_us(outcome)},
               {"rewrites", std::move(rewrites)},
               {"layout", arguments.layout},
               {"reordered", outcome.report.reordered},
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
    json["original_written"] = outcome.slower;
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
  story.facts.emplace_back("equal", outcome.equivalence.equal
                                        ? fmt::format("yes, in {}", fmt::join(outcome.equivalence.runs, " and in "))
                                        : "no: " + outcome.equivalence.difference);
  story.facts.emplace_back("search",
                           fmt::format("{}: {} steps, {} candidates in {}", arguments.search, with_commas(search.steps),
                                       with_commas(search.candidates), duration(outcome.report.seconds)));
  for (const RewriteStep& step : search.path) {
    const auto rule = by_id.find(step.rule_id);
    story.rewrites.push_back(
        {step.rule_name, rule == by_id.end() ? "" : to_text(*rule->second), step.cost_before_us, step.cost_after_us});
  }
  for (const CurvePoint& point : search.curve) story.curve.push_back({point.seconds, point.candidates, point.best_us});
  story.curve.push_back({outcome.report.seconds, search.candidates, search.cost_after_us});
  story.before = &before;
  story.after = &outcome.report.best;
  return story;
}

}  // namespace rewright::cli
