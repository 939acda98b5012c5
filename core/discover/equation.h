// Between axioms and rules: an axiom at given ranks and parameters is a rule that a verifier can be asked about; one
// output of a rule is an equation that can be audited as an axiom is.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <vector>

namespace rewright {

/// left => right (or right => left) under the axiom's condition; size variables without a tensor ("s.0", "m") become
/// match variables. Its certificate, which nobody has checked, is that step.
[[nodiscard]] REWRIGHT_API Result<Rule> rule_of(const TypedAxiom& axiom, bool left_to_right = true);

/// The rule with what its target needs beyond its source and its precondition, and an example.
[[nodiscard]] Result<Rule> completed(Rule rule);

/// Output k of the rule as an axiom of one combination of ranks, all parameters numbers, with the rule's precondition
/// as its condition. Errors: kUnsupported where the sides are the same term.
[[nodiscard]] REWRIGHT_API Result<Axiom> axiom_of(const Rule& rule, std::size_t output);

/// An axiom with the terms that both sides need, each once, and the variables that these or the condition name; ranks
/// too.
[[nodiscard]] Axiom tidied(const Axiom& axiom);

/// Applications on both sides together.
[[nodiscard]] std::size_t applications_in(const Axiom& axiom);

}  // namespace rewright
