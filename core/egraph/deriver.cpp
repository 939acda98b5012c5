// Rules from rules: the e-graph with equations of rules in the place of axioms.
#include <rewright/egraph/prover.h>

#include <algorithm>
#include <deque>

#include "egraph/saturation.h"

namespace rewright {

using namespace egraph;

struct RuleDeriver::State {
  std::deque<Axiom> equations;
  Saturation saturation;
  std::uint32_t operand_orders = 0;  ///< Rewrites that are no rule's; they come first.
  std::size_t rules = 0;

  explicit State(const Registry& registry) {
    for (Axiom& axiom : operand_order_axioms(registry)) {
      equations.push_back(std::move(axiom));
      saturation.rewrites().add(equations.back());
    }
    operand_orders = saturation.rewrites().directions();
  }

  Result<bool> add(const Rule& rule) {
    REWRIGHT_TRY(std::vector<Axiom> outputs, equations_of(rule));
    bool usable = false;
    for (Axiom& axiom : outputs) {
      equations.push_back(std::move(axiom));
      usable |= saturation.rewrites().add(equations.back());
    }
    ++rules;
    return usable;
  }

  Result<Derivation> explain(const Rule& rule) {
    REWRIGHT_TRY(EqualityProof proof, saturation.explain(rule));
    Derivation derivation{std::move(proof.certificate), {}, proof.steps};
    REWRIGHT_TRY(derivation.uses, uses_of(derivation.certificate));
    return derivation;
  }

  Result<Derivation> derive(const Rule& rule, const SaturationLimits& limits) {
    REWRIGHT_CHECK(saturation.load(rule));
    switch (saturation.saturate(limits)) {
      case Outcome::kEqual: return explain(rule);
      case Outcome::kLimit:
        return make_error(ErrorCode::kBudget, "a limit of the e-graph was reached before both sides were equal");
      case Outcome::kSaturated: break;
    }
    return make_error(ErrorCode::kNotFound, "the rules, applied to all there is, do not make both sides equal");
  }

  /// Operand orders first, everywhere; then rules at the outputs of the source, once.
  Result<Derivation> instance(const Rule& rule) {
    REWRIGHT_CHECK(saturation.load(rule));
    saturate_operand_orders();
    Rewrites::Wanted wanted;
    wanted.vocabulary = saturation.vocabulary();
    wanted.first = operand_orders;
    for (std::size_t k = 0; k < saturation.goal().source().size() && !saturation.equal(); ++k) {
      const egraph::NodeId source = saturation.goal().source()[k], target = saturation.goal().target()[k];
      wanted.roots = saturation.operators_of_class(target);
      for (const egraph::Match& match : matches_of_class(source, wanted)) {
        if (saturation.graph().find(source) == saturation.graph().find(target)) break;
        saturation.apply(match);
      }
    }
    if (!saturation.equal()) return make_error(ErrorCode::kNotFound, "it is no instance of a rule");
    REWRIGHT_TRY(Derivation derivation, explain(rule));
    const auto other = [&](const DerivationUse& use) { return use.rule != derivation.uses.front().rule; };
    if (std::ranges::any_of(derivation.uses, other))
      return make_error(ErrorCode::kNotFound, "its outputs are instances of different rules");
    return derivation;
  }

  void saturate_operand_orders() {
    Rewrites::Wanted orders;
    orders.vocabulary.set();
    orders.last = operand_orders;
    for (egraph::NodeId node = 0; node < saturation.graph().size() && node < kMostOrders; ++node) {
      for (const egraph::Match& match : saturation.matches_at(node, orders)) saturation.apply(match);
    }
  }
  std::vector<egraph::Match> matches_of_class(egraph::NodeId node, const Rewrites::Wanted& wanted) {
    std::vector<egraph::Match> matches;
    egraph::NodeId member = node;
    do {
      if (!saturation.graph().superfluous(member)) {
        const auto more = saturation.matches_at(member, wanted);
        matches.insert(matches.end(), more.begin(), more.end());
      }
      member = saturation.graph().next(member);
    } while (member != node);
    return matches;
  }

  static constexpr egraph::NodeId kMostOrders = 200;  ///< Nodes; each commutes once, so this is far beyond any rule.
};

RuleDeriver::RuleDeriver(const Registry& registry) : state_(std::make_unique<State>(registry)) {}
RuleDeriver::~RuleDeriver() = default;
RuleDeriver::RuleDeriver(RuleDeriver&&) noexcept = default;
RuleDeriver& RuleDeriver::operator=(RuleDeriver&&) noexcept = default;

Result<bool> RuleDeriver::add(const Rule& rule) { return state_->add(rule); }
std::size_t RuleDeriver::size() const { return state_->rules; }
Result<Derivation> RuleDeriver::derive(const Rule& rule, const SaturationLimits& limits) {
  return state_->derive(chain_form(rule), limits);
}
Result<Derivation> RuleDeriver::instance(const Rule& rule) { return state_->instance(chain_form(rule)); }

}  // namespace rewright
