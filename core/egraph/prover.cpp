#include <rewright/egraph/prover.h>

#include "egraph/saturation.h"

namespace rewright {

using namespace egraph;

namespace {

const char* reason_of(Outcome outcome) {
  return outcome == Outcome::kLimit ? "a limit of the e-graph was reached before both sides were equal"
                                    : "the axioms, applied to all there is, do not make both sides equal";
}

}  // namespace

struct EqualityProver::State {
  Saturation saturation;

  explicit State(std::span<const Axiom> axioms) {
    for (const Axiom& axiom : axioms) saturation.rewrites().add(axiom);
  }

  Result<EqualityProof> prove(const Rule& rule, const SaturationLimits& limits) {
    REWRIGHT_CHECK(saturation.load(rule));
    const Outcome outcome = saturation.saturate(limits);
    if (outcome == Outcome::kEqual) return saturation.explain(rule);
    if (limits.assume && !rule.example.empty()) {
      const SaturationStats without = saturation.stats();
      auto proof = prove_under_conditions(rule, limits);
      if (proof) return proof;
      saturation.set_stats(without);
    }
    return make_error(outcome == Outcome::kLimit ? ErrorCode::kBudget : ErrorCode::kNotFound, "{}", reason_of(outcome));
  }

  /// First with conditions taken for granted where they hold at the rule's example; then with those that the proof
  /// rests on as part of the precondition, each left out that is not needed.
  Result<EqualityProof> prove_under_conditions(const Rule& rule, const SaturationLimits& limits) {
    REWRIGHT_TRY(std::vector<Constraint> conditions, find_conditions(rule, limits));
    for (std::size_t i = conditions.size(); conditions.size() > 1 && i-- > 0;) {
      std::vector<Constraint> fewer = conditions;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      REWRIGHT_CHECK(saturation.load(rule, fewer));
      if (saturation.saturate(limits) == Outcome::kEqual) conditions = std::move(fewer);
    }
    REWRIGHT_CHECK(saturation.load(rule, conditions));
    const Outcome outcome = saturation.saturate(limits);
    if (outcome != Outcome::kEqual) return make_error(ErrorCode::kNotFound, "{}", reason_of(outcome));
    REWRIGHT_TRY(EqualityProof proof, saturation.explain(rule));
    proof.conditions = std::move(conditions);
    return proof;
  }

  Result<std::vector<Constraint>> find_conditions(const Rule& rule, const SaturationLimits& limits) {
    REWRIGHT_CHECK(saturation.load(rule));
    const DimBinding example = bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes));
    const Outcome outcome = saturation.saturate(limits, [&](const Condition& condition) {
      return saturation.constraint_of(condition).holds(example).value_or(false);
    });
    if (outcome != Outcome::kEqual) return make_error(ErrorCode::kNotFound, "{}", reason_of(outcome));
    return saturation.assumptions();
  }
};

EqualityProver::EqualityProver(std::span<const Axiom> axioms) : state_(std::make_unique<State>(axioms)) {}
EqualityProver::~EqualityProver() = default;
EqualityProver::EqualityProver(EqualityProver&&) noexcept = default;
EqualityProver& EqualityProver::operator=(EqualityProver&&) noexcept = default;

Result<EqualityProof> EqualityProver::prove(const Rule& rule, const SaturationLimits& limits) {
  return state_->prove(rule, limits);
}
const SaturationStats& EqualityProver::stats() const { return state_->saturation.stats(); }

}  // namespace rewright
