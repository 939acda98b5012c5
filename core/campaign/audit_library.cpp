#include "campaign/audit_library.h"

#include <rewright/verify/derivation.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "campaign/rule_source.h"
#include "store/derivations.h"

namespace rewright {
namespace {

constexpr std::size_t kPatience = 8;

/// A proved rule that is not in the library.
struct Dropped {
  Rule rule;
  std::string text;
  const DerivationRecord* derivation = nullptr;  ///< Null: nothing says why it is not there.
};

/// What the campaign's rules must rest on, at least.
Trust wanted_by(const std::optional<CampaignRecord>& campaign) {
  const auto config = nlohmann::json::parse(campaign ? campaign->config : "{}", nullptr, false);
  const std::string name = config.is_object() ? config.value("trust", "") : "";
  for (const Trust trust : {Trust::kCertificate, Trust::kTheorem}) {
    if (name == name_of(trust)) return trust;
  }
  return Trust::kSolver;
}

class Auditor {
 public:
  Auditor(const Registry& registry, const DeriveOptions& options) : registry_(registry), options_(options) {}

  Result<AuditReport> run(Store& store) {
    REWRIGHT_TRY(const std::vector<Rule> rules, judged_rules(store, registry_));
    library_ = one_direction_each(rules);
    REWRIGHT_TRY(records_, DerivationTable::read(store));
    REWRIGHT_CHECK(find_dropped(store, rules));
    report_.dropped = dropped_.size();
    REWRIGHT_CHECK(replay(rules));
    REWRIGHT_CHECK(derive());
    return std::move(report_);
  }

 private:
  Status find_dropped(Store& store, const std::vector<Rule>& rules) {
    std::set<std::string> known;
    for (const Rule& rule : rules) known.insert(rule.id);
    std::map<std::int64_t, const DerivationRecord*> by_goal;
    for (const DerivationRecord& record : records_) by_goal.emplace(record.goal, &record);
    REWRIGHT_TRY(const auto campaign, store.campaign());
    const Trust wanted = wanted_by(campaign);
    REWRIGHT_TRY(const std::vector<GoalRecord> goals, store.goals());
    for (const GoalRecord& goal : goals) {
      if (goal.status != "proved" || trust_by(goal.certificate) < wanted) continue;
      auto rule = parse_rule(goal.rule, registry_);
      if (!rule) return make_error(rule.error().code, "goal {}: {}", goal.position, rule.error().message);
      if (!known.insert(rule->id).second) continue;
      const auto found = by_goal.find(goal.position);
      dropped_.push_back({*std::move(rule), goal.rule, found == by_goal.end() ? nullptr : found->second});
    }
    return {};
  }

  Status replay(const std::vector<Rule>& rules) {
    REWRIGHT_TRY(DerivationChecker checker, DerivationChecker::over(rules, registry_));
    for (const Dropped& dropped : dropped_) {
      if (options_.stop && options_.stop()) return make_error(ErrorCode::kBudget, "stopped");
      if (dropped.derivation == nullptr) {
        fail(dropped, "it was proved, and is neither in the library nor derived from it");
        continue;
      }
      if (const Status status = checker.check(dropped.rule, dropped.derivation->certificate); !status) {
        fail(dropped, "its derivation is rejected: " + status.error().message);
        continue;
      }
      ++report_.replayed;
      report_.forward += dropped.derivation->forward;
    }
    return {};
  }

  Status derive() {
    std::vector<std::size_t> open(dropped_.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    DeriveOptions options = options_;
    REWRIGHT_CHECK(derive_from_library(open, options));
    options.limits.nodes *= kPatience;
    options.limits.matches *= kPatience;
    REWRIGHT_CHECK(derive_from_library(open, options));
    for (const std::size_t i : open) {
      REWRIGHT_TRY(const bool derived, derive_from_named(dropped_[i], options));
      if (!derived) fail(dropped_[i], "it does not follow from the library any more, as far as the search goes");
    }
    return {};
  }
  Status derive_from_library(std::vector<std::size_t>& open, const DeriveOptions& options) {
    std::vector<Rule> rules;
    for (const std::size_t i : open) rules.push_back(dropped_[i].rule);
    REWRIGHT_TRY(const auto derivations, derive_all(rules, library_, registry_, options));
    std::vector<std::size_t> left;
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (!derivations[k]) left.push_back(open[k]);
    }
    report_.derived += open.size() - left.size();
    open = std::move(left);
    return {};
  }
  Result<bool> derive_from_named(const Dropped& dropped, const DeriveOptions& options) {
    if (dropped.derivation == nullptr) return false;
    std::vector<Rule> named;
    for (const Rule& rule : library_) {
      if (std::ranges::find(dropped.derivation->rules, rule.id) != dropped.derivation->rules.end())
        named.push_back(rule);
    }
    const std::vector<Rule> one = {dropped.rule};
    REWRIGHT_TRY(const auto derivations, derive_all(one, named, registry_, options));
    report_.derived += derivations[0].has_value();
    return derivations[0].has_value();
  }

  void fail(const Dropped& dropped, std::string reason) {
    report_.failures.push_back({dropped.rule.id, dropped.text, std::move(reason)});
  }

  const Registry& registry_;
  const DeriveOptions& options_;
  std::vector<Rule> library_;
  std::vector<DerivationRecord> records_;
  std::vector<Dropped> dropped_;
  AuditReport report_;
};

}  // namespace

Result<AuditReport> audit_library(Store& store, const Registry& registry, const DeriveOptions& options) {
  return Auditor(registry, options).run(store);
}

}  // namespace rewright
