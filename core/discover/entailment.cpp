#include "discover/entailment.h"

#include <algorithm>
#include <set>

#include "axiom/domain.h"
#include "discover/equation.h"
#include "discover/unfold.h"
#include "verify/portfolio.h"

namespace rewright {

Result<std::string> default_prover(const Registry& registry) {
  if (registry.find<Verifier>("egraph")) return std::string("egraph");
  for (const Verifier* verifier : registry.all<Verifier>()) {
    if (verifier->proves()) return verifier->name();
  }
  return make_error(ErrorCode::kNotFound, "no verifier that can prove is loaded; 'rewright plugins list' names all");
}

Result<std::vector<Verdict>> Entailment::prove(std::span<const Rule> rules, const AxiomSet& axioms) const {
  PortfolioOptions options;
  options.threads = threads_;
  options.budget.work = 2'000'000;
  VerifierChoice choice{verifier_, {}};
  if (verifier_ == "egraph") choice.options["assume"] = false;
  REWRIGHT_TRY(const PortfolioReport report, verify_all(rules, axioms, std::span(&choice, 1), registry_, options));
  std::vector<Verdict> verdicts;
  for (const RuleReport& rule : report.rules) {
    verdicts.push_back(rule.outcome);
    if (verdicts.back().kind == VerdictKind::kProved && !verdicts.back().conditions.empty()) {
      verdicts.back().kind = VerdictKind::kUnknown;
      verdicts.back().reason = "proved under further conditions only";
    }
  }
  return verdicts;
}

Result<std::vector<Rule>> instances_of(const Axiom& axiom, std::size_t most) {
  REWRIGHT_TRY(const ParamDomain domain, domain_of(axiom, AuditDomain::kTaso));
  std::vector<TypedAxiom> typings;
  for (const AxiomRanks& ranks : axiom.ranks) {
    for (const ParamBinding& binding : bindings_of(domain)) {
      if (auto typed = specialise(axiom, ranks, binding)) typings.push_back(*std::move(typed));
    }
  }
  std::vector<Rule> rules;
  const std::size_t wanted = std::min(most, typings.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    auto rule = rule_of(typings[i * typings.size() / wanted]);
    // Without an example no sizes meet its conditions: nothing is claimed there.
    if (rule && (!rule->example.empty() || rule->inputs.empty())) rules.push_back(*std::move(rule));
  }
  return rules;
}

Status Entailment::ask_unfolded(std::vector<Rule>& open, const AxiomSet& from, Answer& answer) const {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(from.axioms(), name, &Axiom::name) != from.axioms().end();
  };
  const Operator* concat = registry_.find<Operator>("concat");
  const Operator* transpose = registry_.find<Operator>("transpose");
  struct Way {
    std::string axiom;
    std::optional<Rule> (*unfold)(const Rule&, const Operator&);
    const Operator* op;
  };
  for (const Way& way :
       {Way{"concat-of-splits", &unfold_splits, concat}, Way{"transpose-transpose", &unfold_transposes, transpose}}) {
    if (open.empty() || !way.op || !has(way.axiom)) continue;
    std::vector<Rule> asked, still_open;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (auto rule = way.unfold(open[i], *way.op)) {
        asked.push_back(*std::move(rule));
        of.push_back(i);
      }
    }
    if (asked.empty()) continue;
    REWRIGHT_TRY(const std::vector<Verdict> verdicts, prove(asked, from));
    std::set<std::size_t> done;
    for (std::size_t k = 0; k < verdicts.size(); ++k) {
      if (verdicts[k].kind != VerdictKind::kProved) continue;
      if (!done.insert(of[k]).second) continue;
      answer.proofs.push_back({to_text(asked[k]), verdicts[k].certificate});
      answer.axioms.insert(answer.axioms.end(), verdicts[k].axioms.begin(), verdicts[k].axioms.end());
    }
    if (done.empty()) continue;
    answer.proved += done.size();
    answer.by.push_back(way.axiom);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!done.contains(i)) still_open.push_back(std::move(open[i]));
    }
    open = std::move(still_open);
  }
  return {};
}

Result<Entailment::Answer> Entailment::follows(const Axiom& axiom, const AxiomSet& from, std::size_t most) const {
  REWRIGHT_TRY(const std::vector<Rule> rules, instances_of(axiom, most));
  Answer answer;
  answer.combinations = rules.size();
  if (rules.empty()) return answer;
  REWRIGHT_TRY(const std::vector<Verdict> verdicts, prove(rules, from));
  std::vector<Rule> open;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (verdicts[i].kind == VerdictKind::kProved) {
      ++answer.proved;
      answer.proofs.push_back({to_text(rules[i]), verdicts[i].certificate});
      answer.axioms.insert(answer.axioms.end(), verdicts[i].axioms.begin(), verdicts[i].axioms.end());
    } else {
      if (answer.reason.empty()) answer.reason = verdicts[i].reason;
      open.push_back(rules[i]);
    }
  }
  REWRIGHT_CHECK(ask_unfolded(open, from, answer));
  std::ranges::sort(answer.axioms);
  answer.axioms.erase(std::ranges::unique(answer.axioms).begin(), answer.axioms.end());
  answer.follows = answer.proved == rules.size();
  return answer;
}

}  // namespace rewright
