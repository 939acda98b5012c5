/// Proves rules with Z3: e-matching over the axioms, with symbolic sizes (theory.h).
///
/// "Is there a tensor at which an output of source and target differs?" is asked under defined(source), defined(target)
/// and the precondition; "unsat" proves the rule for all shapes that meet those. Model-based quantifier instantiation
/// is off, so a question ends when e-matching has nothing left to instantiate, or when a budget in work is spent:
/// Budget::work Z3 resource units, and max_instances instances. A goal is asked over the axioms nearest to it first,
/// without arithmetic, over all that it can come to where those do not do. What e-matching leaves open, the default
/// solver is asked, without patterns and by itself, with default_work resource units. Goals that are alike are asked
/// one after the other, many in a message. Source  de Moura, Bjorner: Efficient E-Matching for SMT Solvers, CADE 2007.
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "smt_prover.h"

namespace {

using namespace rewright;
using namespace smt_verifier;

/// Goals that go to the solver in one message.
constexpr std::size_t kTogether = 32;

struct Settings {
  std::int64_t max_instances = 20'000;  ///< Of axioms and shape rules, a question.
  std::int64_t answer_seconds = 60;     ///< A last resort against a solver that hangs.
  std::int64_t default_work = 200'000;  ///< For the default solver; 0: it is not asked.
  std::string program;                  ///< Empty: z3-worker beside this plugin.
};

class Z3 : public Solver {
 public:
  explicit Z3(const Settings& settings) : settings_(settings) {}

 protected:
  [[nodiscard]] ProcessCommand worker(const Budget& budget, std::int64_t max_instances) const {
    return {{settings_.program.empty() ? program_beside_plugin("z3-worker") : settings_.program,
             std::to_string(budget.memory_bytes), "3600", std::to_string(max_instances)},
            Framing::kLength,
            budget.memory_bytes,
            settings_.answer_seconds};
  }
  static std::string message(const std::string& theory, std::uint64_t work, const std::string& goal) {
    std::string text = theory;
    text.push_back('\0');
    text += std::to_string(work);
    text.push_back('\0');
    return text + goal;
  }
  static bool budget_spent(const std::string& answer) {
    return answer.find("max. resource limit") != std::string::npos || answer.find("canceled") != std::string::npos ||
           answer.find("max-instances") != std::string::npos;
  }
  static std::string last_line_without_end(const std::string& answer) {
    return answer.substr(0, answer.find_last_not_of('\n') + 1);
  }

  const Settings& settings_;
};

class EMatching final : public Z3 {
 public:
  using Z3::Z3;
  ProcessCommand command(const Budget& budget) const override { return worker(budget, settings_.max_instances); }
  std::string question(const std::string& news, const std::string& goal, const Budget& budget) const override {
    return message(news, budget.work, goal);
  }
  std::string proof() const override {
    return "Z3 derives each output's equation from the axioms by e-matching, for all shapes that meet the conditions";
  }
  std::string explain(const std::string& answer) const override {
    if (budget_spent(answer)) return "the budget of Z3 was spent";
    if (answer.find("incomplete quantifiers") != std::string::npos || answer.starts_with("sat"))
      return "e-matching ended without a proof: nothing is left to instantiate, or max_instances was reached";
    return fmt::format("Z3 answered: {}", last_line_without_end(answer));
  }
};

/// Every question by itself: what was asked before does not count.
class DefaultSolver final : public Z3 {
 public:
  using Z3::Z3;
  ProcessCommand command(const Budget& budget) const override { return worker(budget, 0); }
  bool forgets() const override { return true; }
  std::string question(const std::string& news, const std::string& goal, const Budget& budget) const override {
    return message(news, std::min(budget.work, static_cast<std::uint64_t>(settings_.default_work)), goal);
  }
  std::string proof() const override {
    return "Z3's default solver derives each output's equation from the axioms, for all shapes that meet the "
           "conditions";
  }
  std::string explain(const std::string& answer) const override {
    if (budget_spent(answer)) return "the default solver's budget was spent";
    if (answer.starts_with("sat")) return "the default solver finds a model of the axioms in which the sides differ";
    return fmt::format("the default solver answered: {}", last_line_without_end(answer));
  }
};

/// Theories outlive the verifiers that chunks of rules get.
struct Shelves {
  TheoryShelf near{{.sizes = Sizes::kNames, .rounds = 2, .dead_ends = false}};
  TheoryShelf all{{}};
  TheoryShelf without_patterns{{.patterns = false}};
};

class Z3Verifier final : public Verifier {
 public:
  explicit Z3Verifier(std::shared_ptr<Shelves> shelves) : shelves_(std::move(shelves)) {}
  std::string name() const override { return "z3"; }
  std::string summary() const override {
    return "Proves with Z3, by e-matching over the axioms, in a process of its own";
  }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }

  Status configure(const Options& options) override {
    const std::map<std::string, std::pair<std::int64_t Settings::*, std::int64_t>> numbers = {
        {"max_instances", {&Settings::max_instances, 1}},
        {"answer_seconds", {&Settings::answer_seconds, 1}},
        {"default_work", {&Settings::default_work, 0}}};
    for (const auto& [key, value] : options) {
      const auto* number = std::get_if<std::int64_t>(&value);
      const auto* text = std::get_if<std::string>(&value);
      const auto known = numbers.find(key);
      if (key == "program" && text) {
        settings_.program = *text;
      } else if (known != numbers.end() && number && *number >= known->second.second) {
        settings_.*(known->second.first) = *number;
      } else {
        return make_error(
            ErrorCode::kUsage,
            "verifier z3 cannot take the option '{}'; it has max_instances and answer_seconds (integers from 1 on), "
            "default_work (an integer from 0 on) and program (a path)",
            key);
      }
    }
    return {};
  }

  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts(goals.size());
    const std::vector<std::size_t> order = like_goals_together(goals);
    for (auto rest = std::span(order); !rest.empty();) {
      const auto end = std::ranges::find_if_not(rest, [&](std::size_t place) {
        const Goal &first = goals[rest[0]], &goal = goals[place];
        return &goal.axioms == &first.axioms && goal.budget.work == first.budget.work &&
               goal.budget.memory_bytes == first.budget.memory_bytes;
      });
      const auto count = static_cast<std::size_t>(end - rest.begin());
      REWRIGHT_CHECK(verify_alike(goals, rest.first(count), verdicts));
      rest = rest.subspan(count);
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Z3Verifier>(shelves_); }

 private:
  /// Of the goals those at `places`, which have one set of axioms and one budget.
  Status verify_alike(std::span<const Goal> goals, std::span<const std::size_t> places,
                      std::vector<Verdict>& verdicts) {
    const Goal& first = goals[places[0]];
    const EMatching e_matching(settings_);
    const DefaultSolver default_solver(settings_);
    const auto prover = [&](const Solver& solver, TheoryShelf& shelf) {
      return Prover(solver, shelf.of(first.axioms), first.axioms, first.budget);
    };
    Prover near = prover(e_matching, shelves_->near), all = prover(e_matching, shelves_->all);
    Prover by_default = prover(default_solver, shelves_->without_patterns);
    std::vector<Result<GoalText>> texts;
    std::size_t rendered = 0;
    const auto render_some = [&] {
      texts.clear();
      for (; rendered < places.size() && texts.size() < kTogether; ++rendered)
        texts.push_back(near.render(goals[places[rendered]].rule));
    };
    Stopwatch watch;
    auto place = places.begin();
    render_some();
    while (!texts.empty()) {
      const std::vector<Result<GoalText>> asked = std::exchange(texts, {});
      REWRIGHT_TRY(std::vector<Prover::Answer> answers, near.prove_all(asked, render_some));
      if (texts.empty()) render_some();  // The solver died before it worked.
      const double seconds = watch.lap() / static_cast<double>(asked.size());
      for (Prover::Answer& answer : answers) {
        const Rule& rule = goals[*place].rule;
        Verdict& verdict = verdicts[*place++] = std::move(answer.verdict);
        if (verdict.kind == VerdictKind::kUnknown && answer.runs) {
          REWRIGHT_TRY(verdict, all.prove(all.render(rule)));
        }
        if (verdict.kind == VerdictKind::kUnknown && settings_.default_work > 0) {
          REWRIGHT_TRY(Verdict other, by_default.prove(by_default.render(rule)));
          if (other.kind == VerdictKind::kUnknown) other.reason = fmt::format("{}; {}", verdict.reason, other.reason);
          verdict = std::move(other);
        }
        verdict.seconds = seconds + watch.lap();
      }
    }
    return {};
  }

  Settings settings_;
  std::shared_ptr<Shelves> shelves_;
};

}  // namespace

REWRIGHT_PLUGIN("verifier.z3", "1.3.0", "Proves rules with Z3 by e-matching over the axioms") {
  registry.add<Verifier>(std::make_unique<Z3Verifier>(std::make_shared<Shelves>()));
}
