// Asks a solver about rules, one after the other, in one process.
//
// The solver is told the theory as goals need it, each goal between push and pop. What it has been told depends on the
// goals before it alone, so a prover that is given the same goals gives the same answers.
#pragma once

#include <rewright/verify/verifier.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "process.h"
#include "smt_goal.h"
#include "theory.h"

namespace smt_verifier {

/// One solver's ways.
class Solver {
 public:
  virtual ~Solver() = default;
  [[nodiscard]] virtual ProcessCommand command(const rewright::Budget& budget) const = 0;
  /// Is every question asked by itself, with all of the theory that it needs?
  [[nodiscard]] virtual bool forgets() const { return false; }
  /// A new process takes over where the solver was told of more than this many uses of axioms, most of them beside the
  /// question; 0: never.
  [[nodiscard]] virtual std::size_t most_told() const { return 0; }
  /// A message that tells `news`, then asks `goal` (assumptions and one question) by itself.
  [[nodiscard]] virtual std::string question(const std::string& news, const std::string& goal,
                                             const rewright::Budget& budget) const = 0;
  [[nodiscard]] virtual std::string proof() const = 0;  ///< A sentence for a rule that it proves.
  /// Why an answer other than unsat is no proof.
  [[nodiscard]] virtual std::string explain(const std::string& answer) const = 0;
};

/// An order in which goals are asked: by the operators and parameters that they apply, each once; then as they come.
/// Solvers are quicker with what they have just met.
[[nodiscard]] std::vector<std::size_t> like_goals_together(std::span<const rewright::Goal> goals);

class Prover {
 public:
  /// `solver` must outlive the prover.
  Prover(const Solver& solver, std::shared_ptr<Theory> theory, const rewright::AxiomSet& axioms,
         const rewright::Budget& budget);

  [[nodiscard]] bool serves(const rewright::Goal& goal) const;
  /// Does the solver run? Not before the first question, nor where the last one made it die or hang.
  [[nodiscard]] bool running() const { return process_.running(); }
  [[nodiscard]] rewright::Result<GoalText> render(const rewright::Rule& rule) { return render_goal(rule, *theory_); }
  /// Errors: kIo where the solver cannot be started.
  rewright::Result<rewright::Verdict> prove(const rewright::Result<GoalText>& goal);

  struct Answer {
    rewright::Verdict verdict;
    bool runs = true;  ///< Did the solver survive it?
  };
  /// The same for goals that the solver, which does not forget, is asked together: it and this process take turns less
  /// often. Where it dies they are asked again one by one, whichever it died of. `meanwhile` is called once, while it
  /// works if it is asked at all.
  rewright::Result<std::vector<Answer>> prove_all(std::span<const rewright::Result<GoalText>> goals,
                                                  const std::function<void()>& meanwhile);

 private:
  rewright::Result<std::optional<std::string>> ask(const GoalText& goal, const std::string& question);
  rewright::Result<std::optional<std::vector<Answer>>> ask_together(std::span<const rewright::Result<GoalText>> goals,
                                                                    const std::function<void()>& meanwhile);
  rewright::Verdict proved() const;

  const Solver& solver_;
  const rewright::AxiomSet* axioms_;
  rewright::Budget budget_;
  std::shared_ptr<Theory> theory_;
  Process process_;
  std::unique_ptr<Session> session_;  ///< Null until the running process has been told anything.
};

}  // namespace smt_verifier
