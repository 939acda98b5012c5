#include "prover.h"

namespace smt_verifier {

using namespace rewright;

namespace {

Verdict unknown(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

}  // namespace

Prover::Prover(const Solver& solver, std::shared_ptr<Theory> theory, const AxiomSet& axioms, const Budget& budget)
    : solver_(solver),
      axioms_(&axioms),
      budget_(budget),
      theory_(std::move(theory)),
      process_(solver.command(budget)) {}

bool Prover::serves(const Goal& goal) const {
  return &goal.axioms == axioms_ && goal.budget.work == budget_.work &&
         goal.budget.memory_bytes == budget_.memory_bytes;
}

Result<Verdict> Prover::prove(const Result<GoalText>& goal, std::function<void()> meanwhile) {
  Verdict verdict;
  verdict.kind = VerdictKind::kProved;
  verdict.reason = solver_.proof();
  if (!goal) verdict = unknown(goal.error().message);
  for (std::size_t k = 0; verdict.kind == VerdictKind::kProved && k < goal->questions.size(); ++k) {
    REWRIGHT_TRY(const std::optional<std::string> why_not,
                 ask(*goal, goal->questions[k], std::exchange(meanwhile, nullptr)));
    if (why_not) verdict = unknown(*why_not);
  }
  if (meanwhile) meanwhile();
  return verdict;
}

/// Nothing if the solver proves it.
Result<std::optional<std::string>> Prover::ask(const GoalText& goal, const std::string& question,
                                               const std::function<void()>& meanwhile) {
  if (session_ && solver_.most_told() > 0 && session_->told() > solver_.most_told() &&
      session_->told() > 2 * session_->needed(goal.vocabulary))
    process_.stop();
  if (!process_.running() || solver_.forgets()) session_.reset();
  REWRIGHT_CHECK(process_.start());
  if (!session_) session_ = std::make_unique<Session>(*theory_);
  const std::string news = session_->news(goal.vocabulary);
  const auto answer = process_.ask(solver_.question(news, goal.assumptions + question, budget_), meanwhile);
  if (!answer) return std::optional(answer.error().message);
  if (answer->starts_with("unsat")) return std::optional<std::string>();
  return std::optional(solver_.explain(*answer));
}

}  // namespace smt_verifier
