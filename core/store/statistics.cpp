#include "store/statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>

#include "store/derivations.h"

namespace rewright {
namespace {

using Json = nlohmann::ordered_json;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

Status each_row(Store& store, std::string_view sql, const std::function<void(const SqlStatement&)>& visit) {
  REWRIGHT_TRY(SqlStatement rows, store.database().prepare(sql));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    visit(rows);
    REWRIGHT_TRY(more, rows.step());
  }
  return {};
}

Status count_verdicts(Store& store, RuleStatistics& result) {
  std::map<std::string, VerifierStatistics> verifiers;
  REWRIGHT_CHECK(
      each_row(store, "SELECT verifier, kind, count(*) FROM verdicts GROUP BY 1, 2", [&](const SqlStatement& row) {
        VerifierStatistics& verifier = verifiers[row.text(0)];
        const auto count = static_cast<std::uint64_t>(row.integer(2));
        const std::string kind = row.text(1);
        (kind == "proved" ? verifier.proved : kind == "refuted" ? verifier.refuted : verifier.unknown) = count;
      }));
  REWRIGHT_CHECK(each_row(store, "SELECT verifier, seconds FROM verdict_times JOIN verdicts USING (goal, place)",
                          [&](const SqlStatement& row) { verifiers[row.text(0)].seconds.push_back(row.real(1)); }));
  for (auto& [name, verifier] : verifiers) {
    verifier.verifier = name;
    std::ranges::sort(verifier.seconds);
    result.verifiers.push_back(std::move(verifier));
  }
  return each_row(store, "SELECT status, count(*) FROM goals GROUP BY 1", [&](const SqlStatement& row) {
    result.goals[row.text(0)] = static_cast<std::uint64_t>(row.integer(1));
  });
}

// Pruners in the order of the campaign, where it is known.
std::vector<std::string> pruners_of(const std::optional<CampaignRecord>& campaign) {
  std::vector<std::string> names;
  if (!campaign) return names;
  const Json config = Json::parse(campaign->config, nullptr, false);
  if (!config.is_object() || !config.contains("pruners")) return names;
  for (const Json& pruner : config["pruners"]) names.push_back(pruner.value("name", ""));
  return names;
}

Status count_funnel(Store& store, RuleStatistics& result) {
  const auto add = [&](std::string what, std::uint64_t count) { result.funnel.emplace_back(std::move(what), count); };
  REWRIGHT_TRY(const auto levels, store.levels());
  std::uint64_t graphs = 0;
  for (const LevelRecord& level : levels) graphs += level.graphs;
  if (!levels.empty()) {
    add("graphs", graphs);
    add("classes", levels.back().classes);
  }
  REWRIGHT_TRY(const std::int64_t candidates, store.count("candidates"));
  if (candidates > 0) {
    auto left = static_cast<std::uint64_t>(candidates);
    add("candidates", left);
    std::map<std::string, std::uint64_t> removed;
    REWRIGHT_CHECK(each_row(store, "SELECT pruner, count(*) FROM removals GROUP BY 1", [&](const SqlStatement& row) {
      removed[row.text(0)] = static_cast<std::uint64_t>(row.integer(1));
    }));
    REWRIGHT_TRY(const auto campaign, store.campaign());
    std::vector<std::string> order = pruners_of(campaign);
    for (const auto& [pruner, count] : removed) {
      if (std::ranges::find(order, pruner) == order.end()) order.push_back(pruner);
    }
    for (const std::string& pruner : order) {
      if (!removed.contains(pruner)) continue;  // One that works on rules.
      left -= removed[pruner];
      add("after " + pruner, left);
    }
  }
  const std::uint64_t goals = std::accumulate(result.goals.begin(), result.goals.end(), std::uint64_t{0},
                                              [](std::uint64_t sum, const auto& goal) { return sum + goal.second; });
  REWRIGHT_TRY(const std::int64_t forms,
               store.count("goals", "position NOT IN (SELECT goal FROM proposals WHERE goal IS NOT NULL)"));
  add(candidates > 0 && forms > 0 ? "goals, more general forms too" : "goals (one per direction)", goals);
  std::uint64_t proved = result.goals["proved"];
  add("proved", proved);
  REWRIGHT_TRY(const auto record, store.campaign());
  for (const std::string& pruner : pruners_of(record)) {
    REWRIGHT_TRY(const DerivationCounts dropped, count_derivations(store, pruner));
    if (dropped.all == 0) continue;
    proved -= std::min(proved, dropped.all);
    add("after " + pruner, proved);
  }
  add("library", result.rules);
  return {};
}

}  // namespace

std::vector<std::string> operators_in(std::string_view side) {
  std::vector<std::string> operators;
  int list = 0;  // Inside the brackets of parameters: sizes, and "floor(...)", which is no operator.
  for (std::size_t at = 0; at < side.size();) {
    if (!is_word(side[at])) {
      list += side[at] == '[' ? 1 : side[at] == ']' ? -1 : 0;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < side.size() && is_word(side[end])) ++end;
    const bool applied = end < side.size() && (side[end] == '(' || side[end] == '[');
    if (applied && list == 0) operators.emplace_back(side.substr(at, end - at));
    at = end;
  }
  return operators;
}

std::size_t size_of(const RuleText& rule) {
  return std::max(operators_in(rule.source).size(), operators_in(rule.target).size());
}

double VerifierStatistics::total_seconds() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

double VerifierStatistics::seconds_within(double share) const {
  if (seconds.empty()) return 0;
  const double place = std::ceil(share * static_cast<double>(seconds.size()));
  return seconds[std::min(seconds.size(), static_cast<std::size_t>(std::max(place, 1.0))) - 1];
}

RuleStatistics statistics_of(std::span<const RuleText> rules) {
  RuleStatistics result;
  result.rules = rules.size();
  for (const RuleText& rule : rules) {
    ++result.by_size[size_of(rule)];
    ++result.by_trust[rule.trust];
    result.conditional += rule.precondition.empty() ? 0 : 1;
    std::set<std::string> operators;
    for (const std::string* side : {&rule.source, &rule.target}) {
      for (std::string& name : operators_in(*side)) operators.insert(std::move(name));
    }
    for (const std::string& name : operators) ++result.by_operator[name];
  }
  return result;
}

Result<RuleStatistics> statistics(Store& store) {
  REWRIGHT_TRY(const std::vector<RuleText> rules, store.rule_texts());
  RuleStatistics result = statistics_of(rules);
  REWRIGHT_CHECK(count_verdicts(store, result));
  REWRIGHT_TRY(SqlStatement used, store.database().prepare("SELECT count(DISTINCT rule) FROM uses"));
  REWRIGHT_CHECK(used.query());
  result.used = static_cast<std::uint64_t>(used.integer(0));
  REWRIGHT_CHECK(count_funnel(store, result));
  return result;
}

}  // namespace rewright
