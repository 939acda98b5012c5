// What a pruner promises: what it drops follows from what it leaves, and it says from what.
#include <rewright/egraph/prover.h>
#include <rewright/graph/graph.h>
#include <rewright/rule/pruner.h>

#include <map>
#include <set>

#include "contract/contracts.h"
#include "contract/reference_campaign.h"
#include "contract/samples.h"

namespace rewright::contract {

namespace {

/// Candidates that say things once, twice under other names, and with more around them.
constexpr std::string_view kCandidates[][2] = {
    {"a = relu(x)\nb = relu(a)\noutput b\n", "a = relu(x)\noutput a\n"},
    {"a = relu(y)\nb = relu(a)\noutput b\n", "a = relu(y)\noutput a\n"},
    {"a = transpose(x)\nb = transpose(a)\nc = ewadd(b, y)\noutput c\n", "a = ewadd(x, y)\noutput a\n"},
    {"a = matmul(x, y)\nb = matmul(a, z)\noutput b\n", "a = matmul(y, z)\nb = matmul(x, a)\noutput b\n"},
    {"a = matmul(z, x)\nb = matmul(a, y)\noutput b\n", "a = matmul(x, y)\nb = matmul(z, a)\noutput b\n"},
    {"a = matmul(x, y)\nb = matmul(x, z)\nc = ewadd(a, b)\noutput c\n",
     "a = ewadd(y, z)\nb = matmul(x, a)\noutput b\n"},
    {"a = matmul(x, y)\nb = matmul(x, z)\nc = ewadd(a, b)\nd = relu(c)\noutput d\n",
     "a = ewadd(y, z)\nb = matmul(x, a)\nc = relu(b)\noutput c\n"},
    {"a = ewadd(x, y)\noutput a\n", "a = ewadd(y, x)\noutput a\n"},
};

Result<std::vector<Candidate>> candidates(const Registry& registry) {
  std::vector<Candidate> all;
  for (const auto& [source, target] : kCandidates) {
    const auto graph = [&](std::string_view body) {
      return parse_graph("x = input (4, 4)\ny = input (4, 4)\nz = input (4, 4)\n" + std::string(body), registry);
    };
    REWRIGHT_TRY(Graph left, graph(source));
    REWRIGHT_TRY(Graph right, graph(target));
    all.push_back({fmt::format("candidate {}", all.size() + 1), std::move(left), std::move(right)});
  }
  return all;
}

using Removals = std::vector<std::optional<Removal>>;

Result<Removals> prune(const Pruner& pruner, std::span<const Candidate> all) {
  REWRIGHT_TRY(const std::unique_ptr<PruneSession> session, pruner.start({}));
  Removals removals;
  for (const Candidate& candidate : all) removals.push_back(session->offer(candidate));
  return removals;
}

Outcome names_what_stays(const Pruner& pruner, const Registry& registry) {
  const auto all = candidates(registry);
  if (!all) return Outcome::skipped(all.error().message);
  const auto removals = prune(pruner, *all);
  if (!removals) return Outcome::broken("it cannot be started without options: " + removals.error().message);
  std::set<std::string> stay;
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto& removal = (*removals)[i];
    if (!removal) {
      stay.insert((*all)[i].id);
      continue;
    }
    ++dropped;
    if (removal->reason.empty()) return Outcome::broken((*all)[i].id + " is dropped without a reason");
    if (!removal->by.empty() && !stay.contains(removal->by))
      return Outcome::broken(
          fmt::format("{} is dropped for '{}', which is none that stays", (*all)[i].id, removal->by));
  }
  if (stay.empty()) return Outcome::broken("it drops everything");
  return Outcome::kept(fmt::format("{} of {} candidates dropped", dropped, all->size()));
}

Outcome drops_alike(const Pruner& pruner, const Registry& registry) {
  const auto all = candidates(registry);
  if (!all) return Outcome::skipped(all.error().message);
  const auto first = prune(pruner, *all), again = prune(pruner, *all);
  if (!first || !again) return Outcome::broken("it cannot be started without options");
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto &a = (*first)[i], &b = (*again)[i];
    if (a.has_value() != b.has_value() || (a && (a->by != b->by || a->reason != b->reason)))
      return Outcome::broken((*all)[i].id + ": a second pass decides otherwise");
  }
  return Outcome::kept(fmt::format("{} candidates, twice", all->size()));
}

/// True rules, with some that follow from others among them.
constexpr std::string_view kRules[] = {
    "(x:2) relu(relu(x)) => relu(x)",
    "(x:2) transpose(transpose(x)) => x",
    "(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))",
    "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))",
    "(x:2) relu(relu(relu(x))) => relu(x)",
    "(x:2, y:2) matmul(matmul(x, y), y) => matmul(x, matmul(y, y))",
    "(x:2, y:2, z:2) relu(ewadd(matmul(x, y), matmul(x, z))) => relu(matmul(x, ewadd(y, z)))",
};

Outcome rules_follow(const Pruner& pruner, const Registry& registry) {
  const auto rules = read_rules(kRules, registry);
  if (!rules) return Outcome::skipped(rules.error().message);
  const auto session = pruner.start_on_rules({});
  if (!session) return Outcome::broken("it cannot be started without options: " + session.error().message);
  const auto removals = (*session)->prune(*rules, registry, {});
  if (!removals) return Outcome::broken("it failed: " + removals.error().message);
  if (removals->size() != rules->size())
    return Outcome::broken(fmt::format("{} answers for {} rules", removals->size(), rules->size()));
  std::vector<Rule> stay, dropped;
  for (std::size_t i = 0; i < rules->size(); ++i) ((*removals)[i] ? dropped : stay).push_back((*rules)[i]);
  for (const auto& removal : *removals) {
    if (removal && removal->reason.empty()) return Outcome::broken("a rule is dropped without a reason");
  }
  const auto derivations = derive_all(dropped, stay, registry);
  if (!derivations) return Outcome::skipped(derivations.error().message);
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (!(*derivations)[i])
      return Outcome::broken(to_text(dropped[i]) + " is dropped, and does not follow from those that stay");
  }
  return Outcome::kept(fmt::format("{} of {} rules dropped, all of which follow", dropped.size(), rules->size()));
}

// --- on the reference campaign -----------------------------------------------------------------------------------

/// Which candidates stay: those that it does not drop, and those that it drops for the sake of one of which no rule is
/// proved, since a campaign takes these back.
std::vector<bool> staying(const ReferenceCampaign& campaign, const Removals& removals) {
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < campaign.candidates.size(); ++i) at[campaign.candidates[i].id] = i;
  std::vector<bool> stays(removals.size());
  for (std::size_t i = 0; i < removals.size(); ++i) {
    std::size_t root = i;
    bool founded = true;
    for (std::size_t steps = 0; founded && removals[root] && !removals[root]->by.empty(); ++steps) {
      const auto next = at.find(removals[root]->by);
      founded = next != at.end() && steps <= removals.size();
      if (founded) root = next->second;
    }
    const bool superfluous = removals[root] && removals[root]->by.empty();
    stays[i] = !removals[i] || (founded && !superfluous && campaign.rules_of[root].empty());
  }
  return stays;
}

/// Which rules of the campaign are left; an error in its words where it fails.
Result<std::vector<bool>> rules_left(const Pruner& pruner, const ReferenceCampaign& campaign,
                                     const Registry& registry) {
  std::vector<bool> left(campaign.rules.size());
  if (pruner.subject() == Pruner::Subject::kRules) {
    REWRIGHT_TRY(const auto session, pruner.start_on_rules({}));
    REWRIGHT_TRY(const auto removals, session->prune(campaign.rules, registry, {}));
    if (removals.size() != left.size())
      return make_error(ErrorCode::kPlugin, "{} answers for {} rules", removals.size(), left.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = !removals[i];
    return left;
  }
  REWRIGHT_TRY(const Removals removals, prune(pruner, campaign.candidates));
  const std::vector<bool> stays = staying(campaign, removals);
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (!stays[i]) continue;
    for (const std::size_t rule : campaign.rules_of[i]) left[rule] = true;
  }
  return left;
}

Outcome keeps_a_complete_library(const Pruner& pruner, const Registry& registry, const AxiomSet& axioms) {
  const auto campaign = reference_campaign(registry, axioms);
  if (!campaign) return Outcome::skipped("the reference campaign cannot be run: " + campaign.error().message);
  const auto left = rules_left(pruner, *campaign, registry);
  if (!left) return Outcome::broken("it failed: " + left.error().message);
  std::vector<Rule> kept, dropped;
  for (std::size_t i = 0; i < left->size(); ++i) ((*left)[i] ? kept : dropped).push_back(campaign->rules[i]);
  const auto failures = not_following(dropped, kept, registry);
  if (!failures) return Outcome::skipped(failures.error().message);
  if (!failures->empty())
    return Outcome::broken(
        fmt::format("{} of the {} rules that it drops do not follow from the {} that it leaves; the "
                    "first is {}",
                    failures->size(), dropped.size(), kept.size(), failures->front()));
  return Outcome::kept(fmt::format("{} candidates, {} rules: the {} that it drops follow from the {} that it leaves",
                                   campaign->candidates.size(), campaign->rules.size(), dropped.size(), kept.size()));
}

}  // namespace

std::vector<Contract> contracts_of(const Pruner& pruner, const Registry& registry, const AxiomSet& axioms) {
  const Contract complete = {
      "keeps a complete library on the reference campaign",
      [&] { return keeps_a_complete_library(pruner, registry, axioms); },
      "see pruner.h; usual cause: two that share a part are taken for two of which one follows from the other"};
  std::vector<Contract> contracts = {
      {"describes itself", [&] { return describes_itself(pruner.name(), pruner.summary()); }, kAdviceOnNames}};
  if (pruner.subject() == Pruner::Subject::kRules) {
    contracts.push_back({"refuses options it does not know",
                         [&] {
                           const auto session = pruner.start_on_rules(unknown_options());
                           return refused_unknown_option(session ? Status() : Status(session.error()));
                         },
                         kAdviceOnOptions});
    contracts.push_back(
        {"what it drops follows from what stays", [&] { return rules_follow(pruner, registry); },
         "see pruner.h: RulePruneSession; usual cause: a rule that was dropped itself is used to drop another"});
    contracts.push_back(complete);
    return contracts;
  }
  contracts.push_back({"refuses options it does not know",
                       [&] {
                         const auto session = pruner.start(unknown_options());
                         return refused_unknown_option(session ? Status() : Status(session.error()));
                       },
                       kAdviceOnOptions});
  contracts.push_back(
      {"names what makes a candidate superfluous", [&] { return names_what_stays(pruner, registry); },
       "see pruner.h: Removal; usual cause: `by` is empty, or names one that was dropped or comes later"});
  contracts.push_back({"drops alike in a second pass", [&] { return drops_alike(pruner, registry); },
                       "see pruner.h: PruneSession; usual cause: a session leaves something behind in the pruner"});
  contracts.push_back(complete);
  return contracts;
}

}  // namespace rewright::contract
