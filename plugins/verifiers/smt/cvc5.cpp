/// Proves rules with cvc5: e-matching over the axioms with the patterns that theory.h gives them, with symbolic sizes.
///
/// The question is the one that the plugin z3 asks: "is there a tensor at which an output of source and target differs,
/// under defined(source), defined(target) and the precondition?"; "unsat" proves the rule for all shapes that meet
/// those. cvc5 looks at every formula it was told at every question, which is what most of its time goes into: so a
/// goal is told its own part of the theory only, the nearest first, without arithmetic, and more where that does not
/// do; goals with like parts are asked one after the other, and where a process was told too much another one takes
/// over. Budget::work counts as the default solver's units do elsewhere: cvc5 gets one of its resource units for forty
/// of them. Source Barbosa et al.: cvc5, A Versatile and Industrial-Strength SMT Solver, TACAS 2022.
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <algorithm>
#include <utility>

#include "smt_prover.h"

namespace {

using namespace rewright;
using namespace smt_verifier;

/// Uses of axioms: more, and the solver is slower than a new one that is told what it needs.
constexpr std::size_t kMostTold = 140;
/// Budget::work is in the units of Z3, which are smaller.
constexpr std::uint64_t kWorkPerResource = 40;

struct Settings {
  std::int64_t answer_seconds = 60;  ///< A last resort against a solver that hangs.
  std::string program = "cvc5";      ///< A path, or a name in PATH.
};

class Cvc5 final : public Solver {
 public:
  Cvc5(const Settings& settings, std::string program, std::string_view logic)
      : settings_(settings), program_(std::move(program)), logic_(logic) {}
  ProcessCommand command(const Budget& budget) const override {
    return {{program_beside_plugin("solver-launcher"), std::to_string(budget.memory_bytes), "3600", program_, "--quiet",
             "--incremental", "--no-interactive", "--lang=smt2", fmt::format("--force-logic={}", logic_), "--no-cegqi",
             "--user-pat=strict",
             fmt::format("--rlimit-per={}", std::max<std::uint64_t>(1, budget.work / kWorkPerResource))},
            Framing::kEcho,
            budget.memory_bytes,
            settings_.answer_seconds};
  }
  std::size_t most_told() const override { return kMostTold; }
  std::string question(const std::string& news, const std::string& goal, const Budget&) const override {
    return fmt::format("{}(push)\n{}(check-sat)(pop)\n", news, goal);
  }
  std::string proof() const override {
    return "cvc5 derives each output's equation from the axioms by e-matching, for all shapes that meet the conditions";
  }
  std::string explain(const std::string& answer) const override {
    if (answer.starts_with("unknown"))
      return "cvc5 ended without a proof: nothing is left to instantiate, or its budget was spent";
    return fmt::format("cvc5 answered: {}", answer.substr(0, answer.find_last_not_of('\n') + 1));
  }

 private:
  const Settings& settings_;
  std::string program_, logic_;
};

/// Theories outlive the verifiers that chunks of rules get.
struct Shelves {
  TheoryShelf near{{.sizes = Sizes::kNames, .rounds = 1, .dead_ends = false}};
  TheoryShelf all{{.rounds = 2}};
};

class Cvc5Verifier final : public Verifier {
 public:
  explicit Cvc5Verifier(std::shared_ptr<Shelves> shelves) : shelves_(std::move(shelves)) {}
  std::string name() const override { return "cvc5"; }
  std::string summary() const override {
    return "Proves with cvc5, by e-matching over the axioms, in a process of its own";
  }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }

  Status configure(const Options& options) override {
    for (const auto& [key, value] : options) {
      const auto* number = std::get_if<std::int64_t>(&value);
      const auto* text = std::get_if<std::string>(&value);
      if (key == "program" && text) {
        settings_.program = *text;
      } else if (key == "answer_seconds" && number && *number >= 1) {
        settings_.answer_seconds = *number;
      } else {
        return make_error(ErrorCode::kUsage,
                          "verifier cvc5 cannot take the option '{}'; it has answer_seconds (an integer from 1 on) and "
                          "program (a path, or a name in PATH)",
                          key);
      }
    }
    return {};
  }

  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    REWRIGHT_TRY(const std::string program, find_program(settings_.program));
    const Cvc5 without_arithmetic(settings_, program, "UF"), with_arithmetic(settings_, program, "ALL");
    std::unique_ptr<Prover> near, all;
    std::vector<Verdict> verdicts(goals.size());
    Stopwatch watch;
    for (const std::size_t place : like_goals_together(goals)) {
      const Goal& goal = goals[place];
      if (!near || !near->serves(goal)) {
        near = std::make_unique<Prover>(without_arithmetic, shelves_->near.of(goal.axioms), goal.axioms, goal.budget);
        all = std::make_unique<Prover>(with_arithmetic, shelves_->all.of(goal.axioms), goal.axioms, goal.budget);
      }
      const Result<GoalText> text = near->render(goal.rule);
      REWRIGHT_TRY(verdicts[place], near->prove(text));
      if (verdicts[place].kind == VerdictKind::kUnknown && near->running()) {
        REWRIGHT_TRY(verdicts[place], all->prove(all->render(goal.rule)));
      }
      verdicts[place].seconds = watch.lap();
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Cvc5Verifier>(shelves_); }

 private:
  Settings settings_;
  std::shared_ptr<Shelves> shelves_;
};

}  // namespace

REWRIGHT_PLUGIN("verifier.cvc5", "1.1.0", "Proves rules with cvc5 by e-matching over the axioms") {
  registry.add<Verifier>(std::make_unique<Cvc5Verifier>(std::make_shared<Shelves>()));
}
