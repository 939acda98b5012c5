#include "smt_prover.h"

#include <algorithm>
#include <set>

namespace smt_verifier {

using namespace rewright;

namespace {

Verdict unknown(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

}  // namespace

std::vector<std::size_t> like_goals_together(std::span<const Goal> goals) {
  std::vector<std::pair<std::set<std::string>, std::size_t>> keys;
  for (const Goal& goal : goals) {
    std::set<std::string>& key = keys.emplace_back(std::set<std::string>(), keys.size()).first;
    for (const Pattern* side : {&goal.rule.source, &goal.rule.target}) {
      for (const PatternNode& node : side->nodes)
        key.insert(node.op->name() + to_string(node.op->info().params, node.params));
    }
  }
  std::ranges::sort(keys);
  std::vector<std::size_t> order;
  for (const auto& [key, place] : keys) order.push_back(place);
  return order;
}

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

Verdict Prover::proved() const {
  Verdict verdict;
  verdict.kind = VerdictKind::kProved;
  verdict.reason = solver_.proof();
  return verdict;
}

Result<Verdict> Prover::prove(const Result<GoalText>& goal) {
  if (!goal) return unknown(goal.error().message);
  for (const std::string& question : goal->questions) {
    REWRIGHT_TRY(const std::optional<std::string> why_not, ask(*goal, question));
    if (why_not) return unknown(*why_not);
  }
  return proved();
}

/// Nothing if the solver proves it.
Result<std::optional<std::string>> Prover::ask(const GoalText& goal, const std::string& question) {
  if (session_ && solver_.most_told() > 0 && session_->told() > solver_.most_told() &&
      session_->told() > 2 * session_->needed(goal.vocabulary))
    process_.stop();
  if (!process_.running() || solver_.forgets()) session_.reset();
  REWRIGHT_CHECK(process_.start());
  if (!session_) session_ = std::make_unique<Session>(*theory_);
  const std::string text = solver_.question(session_->news(goal.vocabulary), goal.assumptions + question, budget_);
  const auto answers = process_.ask(std::span(&text, 1));
  if (!answers) return std::optional(answers.error().message);
  if (answers->front().starts_with("unsat")) return std::optional<std::string>();
  return std::optional(solver_.explain(answers->front()));
}

Result<std::vector<Prover::Answer>> Prover::prove_all(std::span<const Result<GoalText>> goals,
                                                      const std::function<void()>& meanwhile) {
  REWRIGHT_TRY(std::optional<std::vector<Answer>> together, ask_together(goals, meanwhile));
  if (together) return *std::move(together);
  std::vector<Answer> answers;
  for (const Result<GoalText>& goal : goals) {
    REWRIGHT_TRY(Verdict verdict, prove(goal));
    answers.push_back({std::move(verdict), running()});
  }
  return answers;
}

/// Nothing where the solver died.
Result<std::optional<std::vector<Prover::Answer>>> Prover::ask_together(std::span<const Result<GoalText>> goals,
                                                                        const std::function<void()>& meanwhile) {
  if (!process_.running()) session_.reset();
  REWRIGHT_CHECK(process_.start());
  if (!session_) session_ = std::make_unique<Session>(*theory_);
  std::vector<std::string> questions;
  for (const Result<GoalText>& goal : goals) {
    for (std::size_t k = 0; goal && k < goal->questions.size(); ++k)
      questions.push_back(
          solver_.question(session_->news(goal->vocabulary), goal->assumptions + goal->questions[k], budget_));
  }
  const auto said = process_.ask(questions, meanwhile);
  if (!said) return std::optional<std::vector<Answer>>();
  std::vector<Answer> answers;
  auto next = said->begin();
  for (const Result<GoalText>& goal : goals) {
    Verdict verdict = goal ? proved() : unknown(goal.error().message);
    for (std::size_t k = 0; goal && k < goal->questions.size(); ++k, ++next) {
      if (verdict.kind == VerdictKind::kProved && !next->starts_with("unsat"))
        verdict = unknown(solver_.explain(*next));
    }
    answers.push_back({std::move(verdict), true});
  }
  return std::optional(std::move(answers));
}

}  // namespace smt_verifier
