/// Proves rules with Z3: e-matching over the axioms, with symbolic sizes (theory.h).
///
/// Each output is one question, under defined(source), defined(target) and the precondition; "unsat" proves it for all
/// shapes that meet those. Model-based quantifier instantiation is off, so a question ends when e-matching has nothing
/// left to instantiate, or when a budget in work is spent: Budget::work Z3 resource units, and max_instances instances.
/// Source  de Moura, Bjorner: Efficient E-Matching for SMT Solvers, CADE 2007.
#include <rewright/plugin.h>

#include <dlfcn.h>

#include <filesystem>
#include <utility>

#include "goal.h"
#include "process.h"
#include "theory.h"

namespace {

using namespace rewright;
using z3_verifier::GoalText;
using z3_verifier::Process;
using z3_verifier::ProcessLimits;
using z3_verifier::Theory;

struct Settings {
  std::int64_t max_instances = 20'000;  ///< Of axioms and shape rules, a question.
  std::int64_t answer_seconds = 60;     ///< A last resort against a solver that hangs.
  std::string program;                  ///< Empty: z3-worker beside this plugin.
};

std::string default_program() {
  Dl_info info;
  static const int kHere = 0;
  if (::dladdr(&kHere, &info) == 0 || !info.dli_fname) return "z3-worker";
  return (std::filesystem::path(info.dli_fname).parent_path() / "z3-worker").string();
}

Verdict unknown(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

/// One process and one theory for some goals; both grow with the goals.
class Prover {
 public:
  Prover(const Settings& settings, const AxiomSet& axioms, const Budget& budget)
      : settings_(settings),
        axioms_(axioms),
        budget_(budget),
        theory_(axioms),
        process_(settings.program.empty() ? default_program() : settings.program,
                 ProcessLimits{budget.memory_bytes, 3600, settings.answer_seconds}) {}

  [[nodiscard]] bool serves(const Goal& goal) const {
    return &goal.axioms == &axioms_ && goal.budget.work == budget_.work &&
           goal.budget.memory_bytes == budget_.memory_bytes;
  }

  Result<Verdict> prove(const Rule& rule) {
    REWRIGHT_CHECK(process_.start());
    const auto goal = render_goal(rule, theory_);
    if (!goal) return unknown(goal.error().message);
    theory_.close_over(goal->symbols);
    for (std::size_t k = 0; k < goal->questions.size(); ++k) {
      auto answer = ask(*goal, k);
      if (!answer) return unknown(fmt::format("output {}: {}", k, answer.error().message));
      if (!answer->starts_with("unsat")) return unknown(fmt::format("output {}: {}", k, explain(*answer)));
    }
    Verdict verdict;
    verdict.kind = VerdictKind::kProved;
    verdict.reason =
        "Z3 derives each output's equation from the axioms by e-matching, for all shapes that meet the conditions";
    return verdict;
  }

 private:
  /// Z3 counts resource units from the start of its process, so the limit is what it has used and the budget.
  Result<std::string> ask(const GoalText& goal, std::size_t k) {
    const std::string news = new_theory(!std::exchange(told_, false));
    REWRIGHT_TRY(const std::string ready, process_.ask("(set-option :rlimit 0)\n" + news + "(push)\n" +
                                                       goal.assumptions + goal.questions[k] + "(get-info :rlimit)\n"));
    REWRIGHT_TRY(std::string answer,
                 process_.ask(fmt::format("(set-option :rlimit {})(check-sat)(get-info :reason-unknown)(pop)\n",
                                          resources_in(ready) + budget_.work)));
    told_ = true;
    return answer;
  }
  /// The number in "(:rlimit 12345)".
  static std::uint64_t resources_in(const std::string& answer) {
    const std::size_t place = answer.rfind(":rlimit ");
    return place == std::string::npos ? 0 : std::strtoull(answer.c_str() + place + 8, nullptr, 10);
  }
  std::string new_theory(bool fresh) {
    std::string text;
    if (fresh) {
      sent_ = 0;
      text = fmt::format(
          "(set-option :auto_config false)(set-option :smt.mbqi false)(set-option :smt.ematching true)"
          "(set-option :smt.random_seed 0)(set-option :smt.qi.max_instances {})\n(push)\n",
          settings_.max_instances);
    }
    text += theory_.text().substr(sent_);
    sent_ = theory_.text().size();
    return text;
  }
  static std::string explain(const std::string& answer) {
    if (answer.find("incomplete quantifiers") != std::string::npos || answer.starts_with("sat"))
      return "e-matching ended without a proof: nothing is left to instantiate, or max_instances was reached";
    if (answer.find("max. resource limit") != std::string::npos || answer.find("canceled") != std::string::npos ||
        answer.find("max-instances") != std::string::npos)
      return "the budget of Z3 was spent";
    return fmt::format("Z3 answered: {}", answer.substr(0, answer.find_last_not_of("\n") + 1));
  }

  const Settings& settings_;
  const AxiomSet& axioms_;
  Budget budget_;
  Theory theory_;
  Process process_;
  std::size_t sent_ = 0;
  bool told_ = false;  ///< Has the process the options and the theory so far?
};

class Z3Verifier final : public Verifier {
 public:
  std::string name() const override { return "z3"; }
  std::string summary() const override {
    return "Proves with Z3, by e-matching over the axioms, in a process of its own";
  }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }

  Status configure(const Options& options) override {
    for (const auto& [key, value] : options) {
      const auto* number = std::get_if<std::int64_t>(&value);
      const auto* text = std::get_if<std::string>(&value);
      if (key == "program" && text) {
        settings_.program = *text;
      } else if ((key == "max_instances" || key == "answer_seconds") && number && *number >= 1) {
        (key == "max_instances" ? settings_.max_instances : settings_.answer_seconds) = *number;
      } else {
        return make_error(
            ErrorCode::kUsage,
            "verifier z3 cannot take the option '{}'; it has max_instances and answer_seconds (integers from 1 "
            "on) and program (a path)",
            key);
      }
    }
    return {};
  }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts;
    std::unique_ptr<Prover> prover;
    for (const Goal& goal : goals) {
      if (!prover || !prover->serves(goal)) prover = std::make_unique<Prover>(settings_, goal.axioms, goal.budget);
      REWRIGHT_TRY(Verdict verdict, prover->prove(goal.rule));
      verdicts.push_back(std::move(verdict));
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Z3Verifier>(); }

 private:
  Settings settings_;
};

}  // namespace

REWRIGHT_PLUGIN("verifier.z3", "1.0.0", "Proves rules with Z3 by e-matching over the axioms") {
  registry.add<Verifier>(std::make_unique<Z3Verifier>());
}
