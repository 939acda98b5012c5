#include "discover/suggest.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "axiom/writer.h"
#include "discover/equation.h"
#include "discover/judge.h"
#include "discover/law_variables.h"
#include "rule/canonical.h"

namespace rewright {
namespace {

/// One output of a goal.
struct Equation {
  Rule rule;
  Axiom axiom;
  std::size_t size = 0;
  std::set<std::size_t> goals;
  bool settled = false;
};

Rule one_output(const Rule& rule, std::size_t output) {
  Rule one = rule;
  one.source.outputs = {rule.source.outputs[output]};
  one.target.outputs = {rule.target.outputs[output]};
  one = canonical(one);
  one.id = rule_id(one);
  one.name = readable_name(one);
  return one;
}

/// The equation read from right to left, where that can be said as a rule.
std::string reversed_id(const Rule& rule) {
  Rule reversed = rule;
  std::swap(reversed.source, reversed.target);
  return rule_id(canonical(reversed));
}

class Suggester {
 public:
  Suggester(Store& store, const AxiomSet& axioms, const Registry& registry, const Entailment& entailment,
            const SuggestOptions& options)
      : store_(store), axioms_(axioms), registry_(registry), entailment_(entailment), options_(options) {}

  Result<Suggestions> run() {
    REWRIGHT_CHECK(read_goals());
    REWRIGHT_CHECK(note_open_equations());
    REWRIGHT_CHECK(settle());
    for (const Equation& equation : equations_) {
      if (!equation.settled) opened_.push_back(&equation);
    }
    while (result_.axioms.size() < options_.most && !stopped()) {
      const std::vector<Equation*> next = smallest_open();
      if (next.empty()) break;
      REWRIGHT_CHECK(suggest_one_of(next));
    }
    REWRIGHT_CHECK(minimise());
    REWRIGHT_CHECK(strengthen());
    if (!stopped()) REWRIGHT_CHECK(sum_up());
    return std::move(result_);
  }

 private:
  bool stopped() {
    result_.stopped = result_.stopped || (options_.law.stop && options_.law.stop());
    return result_.stopped;
  }
  void report(const std::string& what, std::size_t done, std::size_t total) const {
    if (options_.progress) options_.progress(what, done, total);
  }

  Status read_goals() {
    REWRIGHT_TRY(const std::vector<GoalRecord> records, store_.goals());
    for (const GoalRecord& record : records) {
      if (record.status != (options_.ask_all ? "proved" : "unknown")) continue;
      // One that is proved under a condition is true under that only.
      REWRIGHT_TRY(Rule rule, parse_rule(record.rule.empty() ? record.text : record.rule, registry_));
      rule.id = record.id;
      rule.name = record.name;
      REWRIGHT_CHECK(read_example(record.example, rule));
      goals_.push_back(std::move(rule));
    }
    return {};
  }

  /// Of the goals that do not follow, the outputs that do not.
  Status note_open_equations() {
    report("goals", 0, goals_.size());
    std::vector<Rule> asked;
    if (options_.ask_all) {
      REWRIGHT_TRY(const std::vector<Verdict> verdicts, entailment_.prove(goals_, axioms_));
      std::vector<Rule> open;
      for (std::size_t i = 0; i < goals_.size(); ++i) {
        if (verdicts[i].kind != VerdictKind::kProved) open.push_back(std::move(goals_[i]));
      }
      goals_ = std::move(open);
    }
    result_.open = goals_.size();
    std::map<std::string, std::size_t> known;
    for (std::size_t g = 0; g < goals_.size(); ++g) {
      for (std::size_t output = 0; output < goals_[g].source.outputs.size(); ++output) {
        Rule rule = one_output(goals_[g], output);
        const std::string key = std::min(rule.id, reversed_id(rule));
        const auto found = known.find(key);
        if (found != known.end()) {
          equations_[found->second].goals.insert(g);
          continue;
        }
        auto axiom = axiom_of(rule, 0);
        if (!axiom) continue;
        known.emplace(key, equations_.size());
        Equation equation{std::move(rule), *std::move(axiom), 0, {g}, false};
        equation.size = applications_in(equation.axiom);
        equations_.push_back(std::move(equation));
      }
    }
    REWRIGHT_CHECK(add_declared(known));
    // The smallest first; of one size that of most inputs, which says most as it stands.
    const auto order = [](const Equation& equation) {
      return std::tuple(equation.size, -std::ssize(equation.axiom.variables), equation.rule.id);
    };
    std::ranges::stable_sort(equations_, std::less(), order);
    return {};
  }

  /// An enumerator does not tell x + y from y + x where the operator declares that they are one, so that no goal says
  /// it.
  Status add_declared(std::map<std::string, std::size_t>& known) {
    std::set<const Operator*> used;
    for (const Rule& goal : goals_) {
      for (const Pattern* side : {&goal.source, &goal.target}) {
        for (const PatternNode& node : side->nodes) used.insert(node.op);
      }
    }
    for (const Operator* op : registry_.all<Operator>()) {
      const OperatorInfo& info = op->info();
      if (!used.contains(op) || !info.commutative || info.min_arity != 2 || info.max_arity != 2 || !info.params.empty())
        continue;
      REWRIGHT_TRY(Rule rule, parse_rule(fmt::format("(x:2, y:2) {0}(x, y) => {0}(y, x)", info.name), registry_));
      rule = one_output(rule, 0);
      auto axiom = axiom_of(rule, 0);
      if (!axiom || !known.emplace(rule.id, equations_.size()).second) continue;
      Equation equation{std::move(rule), *std::move(axiom), 0, {}, false};
      equation.size = applications_in(equation.axiom);
      equations_.push_back(std::move(equation));
    }
    return {};
  }

  Result<AxiomSet> all_axioms() const { return with_suggestions(axioms_, result_.axioms, registry_); }

  /// Marks the equations that follow from what there is now.
  Status settle() {
    REWRIGHT_TRY(const AxiomSet now, all_axioms());
    std::vector<Rule> rules;
    std::vector<Equation*> open;
    for (Equation& equation : equations_) {
      if (equation.settled) continue;
      rules.push_back(equation.rule);
      open.push_back(&equation);
    }
    report("equations", equations_.size() - open.size(), equations_.size());
    if (rules.empty()) return {};
    REWRIGHT_TRY(const std::vector<Verdict> verdicts, entailment_.prove(rules, now));
    for (std::size_t i = 0; i < open.size(); ++i) open[i]->settled = verdicts[i].kind == VerdictKind::kProved;
    return {};
  }

  /// The first open equations of one size and number of inputs, a few.
  std::vector<Equation*> smallest_open() {
    constexpr std::size_t kMost = 4;
    std::vector<Equation*> found;
    for (Equation& equation : equations_) {
      if (equation.settled || given_up_.contains(equation.rule.id)) continue;
      const bool alike = found.empty() || (found[0]->size == equation.size &&
                                           found[0]->axiom.variables.size() == equation.axiom.variables.size());
      if (!alike || found.size() == kMost) break;
      found.push_back(&equation);
    }
    return found;
  }

  /// Of no worth where the work is stopped.
  Result<Law> law_of(const Equation& equation) {
    const auto known = laws_.find(equation.rule.id);
    if (known != laws_.end()) return known->second;
    Result<Law> law = generalised_law(equation.axiom, options_.law);
    if (stopped()) return Law();
    if (law) laws_.emplace(equation.rule.id, *law);
    return law;
  }

  /// Of the laws that these equations are made into, the one that says most: at most combinations.
  Status suggest_one_of(const std::vector<Equation*>& equations) {
    std::optional<Law> best;
    Equation* of = nullptr;
    for (Equation* equation : equations) {
      REWRIGHT_TRY(Law law, law_of(*equation));
      if (stopped()) return {};
      if (!law.counterexample.empty()) {
        result_.refuted.push_back(to_text(equation->rule) + "\n" + law.counterexample);
        given_up_.insert(equation->rule.id);
      } else if (!to_smt(law.axiom)) {
        given_up_.insert(equation->rule.id);  // What cannot be written cannot be added.
      } else if (!best || law.combinations > best->combinations) {
        best = std::move(law);
        of = equation;
      }
    }
    return best ? add(*std::move(best), *of) : Status();
  }

  Suggestion suggestion_of(Law law, const Equation& equation) {
    Suggestion suggestion;
    suggestion.axiom = std::move(law.axiom);
    suggestion.axiom.name = fmt::format("suggested-{}-{}", ++named_, equation.rule.name);
    suggestion.axiom.source =
        fmt::format("suggested; holds on {} combinations of ranks, parameters and sizes", law.combinations);
    suggestion.combinations = law.combinations;
    suggestion.goals = equation.goals.size();
    suggestion.from = to_text(equation.rule);
    return suggestion;
  }

  Status add(Law law, Equation& equation) {
    result_.axioms.push_back(suggestion_of(std::move(law), equation));
    REWRIGHT_CHECK(settle());
    // A law from which its own equation does not follow: no verifier can use it so.
    if (!equation.settled) given_up_.insert(equation.rule.id);
    return {};
  }

  /// Takes back, from the last on, what no goal needs.
  Status minimise() {
    if (result_.axioms.empty() || stopped()) return {};
    REWRIGHT_TRY(const std::size_t all, followers(result_.axioms));
    for (std::size_t i = result_.axioms.size(); i-- > 0 && !stopped();) {
      report("least set", result_.axioms.size() - i, result_.axioms.size());
      std::vector<Suggestion> others = result_.axioms;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      REWRIGHT_TRY(const std::size_t left, followers(others));
      if (left == all) result_.axioms = std::move(others);
    }
    return {};
  }

  /// An equation that follows from a suggestion may be made into a law that does not, and from which the suggestion
  /// follows: it takes its place. The smallest equations are looked at.
  Status strengthen() {
    if (result_.axioms.empty() || stopped()) return {};
    REWRIGHT_TRY(const std::size_t all, followers(result_.axioms));
    const Judge judge(options_.law);
    const std::size_t looks = std::min(opened_.size(), options_.looks);
    for (std::size_t i = 0; i < looks && !stopped(); ++i) {
      report("stronger laws", i, looks);
      const Equation& equation = *opened_[i];
      if (given_up_.contains(equation.rule.id)) continue;
      if (i >= options_.long_looks) {
        REWRIGHT_TRY(const bool known, follows(split_variables(equation.axiom, judge), result_.axioms));
        if (known) continue;
      }
      REWRIGHT_TRY(Law law, law_of(equation));
      if (stopped()) return {};
      if (!law.counterexample.empty() || !to_smt(law.axiom)) continue;
      REWRIGHT_TRY(const bool says_no_more, follows(law.axiom, result_.axioms));
      if (says_no_more) continue;
      REWRIGHT_TRY(std::vector<Suggestion> others, in_place_of_weaker(suggestion_of(std::move(law), equation)));
      if (others.size() > result_.axioms.size()) continue;
      REWRIGHT_TRY(const std::size_t left, followers(others));
      if (left == all) result_.axioms = std::move(others);
    }
    return {};
  }

  /// The suggestions and one more, without those that follow from the rest then.
  Result<std::vector<Suggestion>> in_place_of_weaker(Suggestion stronger) const {
    std::vector<Suggestion> all = result_.axioms;
    all.push_back(std::move(stronger));
    for (std::size_t i = 0; i + 1 < all.size();) {
      std::vector<Suggestion> others = all;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      REWRIGHT_TRY(const bool needless, follows(all[i].axiom, others));
      if (needless)
        all = std::move(others);
      else
        ++i;
    }
    return all;
  }

  Result<bool> follows(const Axiom& axiom, std::span<const Suggestion> suggestions) const {
    REWRIGHT_TRY(const AxiomSet now, with_suggestions(axioms_, suggestions, registry_));
    REWRIGHT_TRY(const Entailment::Answer answer, entailment_.follows(axiom, now));
    return answer.follows;
  }

  /// How many goals follow from the axioms and these.
  Result<std::size_t> followers(std::span<const Suggestion> suggestions) const {
    REWRIGHT_TRY(const AxiomSet now, with_suggestions(axioms_, suggestions, registry_));
    REWRIGHT_TRY(const std::vector<Verdict> verdicts, entailment_.prove(goals_, now));
    return static_cast<std::size_t>(std::ranges::count(verdicts, VerdictKind::kProved, &Verdict::kind));
  }

  Status sum_up() {
    REWRIGHT_TRY(const AxiomSet now, all_axioms());
    if (goals_.empty()) return {};
    REWRIGHT_TRY(const std::vector<Verdict> verdicts, entailment_.prove(goals_, now));
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (verdicts[i].kind == VerdictKind::kProved)
        ++result_.follow;
      else
        result_.unsettled.push_back(to_text(goals_[i]));
    }
    return {};
  }

  Store& store_;
  const AxiomSet& axioms_;
  const Registry& registry_;
  const Entailment& entailment_;
  const SuggestOptions& options_;
  std::vector<Rule> goals_;
  std::vector<Equation> equations_;
  std::vector<const Equation*> opened_;  ///< Those that did not follow from the axioms alone.
  std::set<std::string> given_up_;
  std::map<std::string, Law> laws_;  ///< By the equation's id.
  std::size_t named_ = 0;
  Suggestions result_;
};

}  // namespace

Result<Suggestions> suggest_axioms(Store& store, const AxiomSet& axioms, const Registry& registry,
                                   const Entailment& entailment, const SuggestOptions& options) {
  return Suggester(store, axioms, registry, entailment, options).run();
}

Result<AxiomSet> with_suggestions(const AxiomSet& axioms, std::span<const Suggestion> suggestions,
                                  const Registry& registry) {
  AxiomSet all = axioms;
  if (suggestions.empty()) return all;
  std::vector<Axiom> added;
  for (const Suggestion& suggestion : suggestions) added.push_back(suggestion.axiom);
  REWRIGHT_TRY(const std::string text, to_smt(added));
  REWRIGHT_CHECK(all.add(text, "suggested.smt2", registry));
  return all;
}

}  // namespace rewright
