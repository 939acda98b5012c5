// What a verifier promises: never a wrong answer, whatever it is asked.
#include <rewright/verify/verifier.h>

#include "contract/contracts.h"
#include "contract/samples.h"

namespace rewright::contract {

namespace {

using Answers = Result<std::vector<Verdict>>;

/// Asks a fresh object, configured by default.
Answers ask(const Verifier& verifier, std::span<const Rule> rules, const AxiomSet& axioms, const Budget& budget = {}) {
  const std::unique_ptr<Verifier> fresh = verifier.clone();
  REWRIGHT_CHECK(fresh->configure({}));
  std::vector<Goal> goals;
  for (const Rule& rule : rules) goals.push_back({rule, axioms, budget});
  REWRIGHT_TRY(std::vector<Verdict> verdicts, fresh->verify(goals));
  if (verdicts.size() != goals.size())
    return make_error(ErrorCode::kInternal, "{} verdicts for {} goals", verdicts.size(), goals.size());
  return verdicts;
}

/// The answers to rules that all hold, or all do not: no wrong one, each with its reason.
Outcome judges(const Verifier& verifier, const Registry& registry, const AxiomSet& axioms, bool hold,
               const Budget& budget) {
  const auto rules = read_rules(hold ? true_rules() : false_rules(), registry);
  if (!rules) return Outcome::skipped(rules.error().message);
  const Answers answers = ask(verifier, *rules, axioms, budget);
  if (!answers) return Outcome::broken("it failed: " + answers.error().message);
  std::size_t decided = 0;
  for (std::size_t i = 0; i < rules->size(); ++i) {
    const Verdict& verdict = (*answers)[i];
    const std::string text = to_text((*rules)[i]);
    const bool wrong = hold ? verdict.kind == VerdictKind::kRefuted
                            : verdict.kind == VerdictKind::kProved && verdict.conditions.empty();
    if (wrong)
      return Outcome::broken(
          fmt::format("{}: {}, and it {}", text, name_of(verdict.kind), hold ? "holds" : "does not hold"));
    if (verdict.kind != VerdictKind::kUnknown &&
        !(verdict.kind == VerdictKind::kProved ? verifier.proves() : verifier.refutes()))
      return Outcome::broken(fmt::format("{}: {}, which it says it never answers", text, name_of(verdict.kind)));
    if (verdict.kind != VerdictKind::kProved && verdict.reason.empty())
      return Outcome::broken(fmt::format("{}: {} without a reason", text, name_of(verdict.kind)));
    decided += verdict.kind != VerdictKind::kUnknown ? 1 : 0;
  }
  return Outcome::kept(fmt::format("{} of {} rules decided", decided, rules->size()));
}

Outcome decides_something(const Verifier& verifier, const Registry& registry, const AxiomSet& axioms) {
  std::size_t proved = 0, refuted = 0;
  for (const bool hold : {true, false}) {
    const auto rules = read_rules(hold ? true_rules() : false_rules(), registry);
    if (!rules) return Outcome::skipped(rules.error().message);
    const Answers answers = ask(verifier, *rules, axioms);
    if (!answers) return Outcome::broken("it failed: " + answers.error().message);
    for (const Verdict& verdict : *answers) {
      proved += verdict.kind == VerdictKind::kProved ? 1 : 0;
      refuted += verdict.kind == VerdictKind::kRefuted ? 1 : 0;
    }
  }
  if (!verifier.proves() && !verifier.refutes()) return Outcome::broken("it says that it neither proves nor refutes");
  if (verifier.proves() && proved == 0)
    return Outcome::broken("it says that it proves, and proves none of 8 easy rules");
  if (verifier.refutes() && refuted == 0)
    return Outcome::broken("it says that it refutes, and refutes none of 8 easy false rules");
  return Outcome::kept(fmt::format("{} proved, {} refuted", proved, refuted));
}

Outcome answers_alike(const Verifier& verifier, const Registry& registry, const AxiomSet& axioms) {
  const auto rules = read_rules(true_rules(), registry);
  if (!rules) return Outcome::skipped(rules.error().message);
  const Answers first = ask(verifier, *rules, axioms), again = ask(verifier, *rules, axioms);
  if (!first || !again) return Outcome::broken("it failed: " + (first ? again : first).error().message);
  for (std::size_t i = 0; i < rules->size(); ++i) {
    const Verdict &a = (*first)[i], &b = (*again)[i];
    if (a.kind != b.kind || a.certificate != b.certificate || a.reason != b.reason)
      return Outcome::broken(to_text((*rules)[i]) + ": asked again it answers something else");
  }
  return Outcome::kept(fmt::format("{} rules, asked twice", rules->size()));
}

/// A chain of 40 applications, and a rule whose sizes no small tensor has.
Outcome survives_large_goals(const Verifier& verifier, const Registry& registry, const AxiomSet& axioms) {
  std::string chain = "x";
  for (int i = 0; i < 40; ++i) chain = "relu(" + chain + ")";
  const std::vector<std::string> texts = {
      "(x:2) " + chain + " => relu(x)",
      "(x:2) matmul(x, transpose(x)) => matmul(x, transpose(x)) where x.0 = 1000000007, x.1 = 998244353"};
  const auto rules = read_rules(std::vector<std::string_view>(texts.begin(), texts.end()), registry);
  if (!rules) return Outcome::skipped(rules.error().message);
  const Answers answers = ask(verifier, *rules, axioms, Budget{.work = 100'000});
  if (!answers) return Outcome::broken("it failed: " + answers.error().message);
  for (const Verdict& verdict : *answers) {
    if (verdict.kind == VerdictKind::kRefuted) return Outcome::broken("it refutes a rule that holds");
  }
  return Outcome::kept("a chain of 40 applications, sizes of a thousand million");
}

}  // namespace

std::vector<Contract> contracts_of(const Verifier& verifier, const Registry& registry, const AxiomSet& axioms) {
  const auto with = [&](Outcome (*check)(const Verifier&, const Registry&, const AxiomSet&)) {
    return [&verifier, &registry, &axioms, check] { return check(verifier, registry, axioms); };
  };
  const auto judging = [&](bool hold, const Budget& budget) {
    return [&verifier, &registry, &axioms, hold, budget] { return judges(verifier, registry, axioms, hold, budget); };
  };
  constexpr const char* kOnTruth =
      "see verifier.h: Verdict, Goal; usual cause: a bound that was reached is taken for an answer, or a condition of "
      "the rule is left out; what is not sure is kUnknown";
  constexpr const char* kOnBudget =
      "see verifier.h: Budget; usual cause: a spent budget ends in an answer, where it should be kUnknown";
  return {
      {"describes itself", [&] { return describes_itself(verifier.name(), verifier.summary()); }, kAdviceOnNames},
      {"refuses options it does not know",
       [&] { return refused_unknown_option(verifier.clone()->configure(unknown_options())); }, kAdviceOnOptions},
      {"never refutes what holds", judging(true, {}), kOnTruth},
      {"never proves what does not hold", judging(false, {}), kOnTruth},
      {"decides something of what it says it can", with(decides_something),
       "see verifier.h: proves, refutes; usual cause: one of them is true by habit, or the axioms are not read"},
      {"is right on a budget of nearly nothing, too: what holds", judging(true, Budget{.work = 1}), kOnBudget},
      {"is right on a budget of nearly nothing, too: what does not", judging(false, Budget{.work = 1}), kOnBudget},
      {"answers alike when asked again", with(answers_alike),
       "see verifier.h: verify; usual cause: random choices without a fixed seed, or a limit in time"},
      {"survives large goals", with(survives_large_goals),
       "see verifier.h: Budget; usual cause: recursion over the term, or tensors made as large as the rule's sizes"},
  };
}

}  // namespace rewright::contract
