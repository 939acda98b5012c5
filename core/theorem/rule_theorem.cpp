#include <rewright/tensor/linear.h>
#include <rewright/theorem/rule_theorem.h>
#include <rewright/verify/theorem_certificate.h>

#include <algorithm>
#include <optional>

#include "theorem/theorem_prover.h"

namespace rewright {
namespace {

/// What the source and the precondition say of sizes.
SizeSystem known_of(const certified::RuleEquations& equations) {
  const TypedAxiom& first = equations.outputs.front();
  SizeSystem known{SizeOrder(SizeOrder::Least::kOneInTensors)};
  for (const auto* conditions : {&first.left_defined, &first.condition})
    for (const Constraint& condition : *conditions) known.add(condition);
  return known;
}

/// What must hold for the target to be defined with the source's shapes, and does not follow.
std::optional<Constraint> not_implied(const certified::RuleEquations& equations, const SizeSystem& known) {
  std::vector<Constraint> wanted = equations.outputs.front().right_defined;
  for (const TypedAxiom& equation : equations.outputs) {
    const SymbolicShape &left = equation.terms[equation.left].shape, &right = equation.terms[equation.right].shape;
    if (left.rank() != right.rank()) return Constraint{Constraint::Kind::kEqual, left.rank(), right.rank()};
    for (int axis = 0; axis < left.rank(); ++axis)
      wanted.push_back({Constraint::Kind::kEqual, left[axis], right[axis]});
  }
  const auto missing = std::ranges::find_if(wanted, [&](const Constraint& each) { return !known.implies(each); });
  return missing == wanted.end() ? std::nullopt : std::optional(*missing);
}

/// Empty where an output has none; `why` then says of the first one.
std::string certificate_of(const certified::RuleEquations& equations, const theorem::ProofOptions& options,
                           std::string& why) {
  std::string text = "theorem 1\n";
  for (std::size_t output = 0; output < equations.outputs.size(); ++output) {
    const auto certificate = theorem::certificate_of(equations.outputs[output], options);
    if (!certificate) {
      why = certificate.error().message;
      return "";
    }
    text += fmt::format("output {}\n{}", output, *certificate);
  }
  return text;
}

}  // namespace

RuleTheorem prove_from_definitions(const Rule& rule, const TheoremLimits& limits) {
  RuleTheorem result;
  const auto equations = certified::equations_of(rule);
  if (!equations) {
    result.reason = equations.error().message;
    return result;
  }
  const SizeSystem known = known_of(*equations);
  if (known.contradictory()) {
    result.reason = "no sizes meet its conditions";
    return result;
  }
  if (const auto missing = not_implied(*equations, known)) {
    result.reason = fmt::format("the target requires {}, which does not follow", to_string(*missing));
    return result;
  }
  const theorem::ProofOptions options{.pivots = limits.pivots, .cases = limits.cases};
  if (limits.certifies) {
    result.certificate = certificate_of(*equations, options, result.uncertified);
    result.proved = !result.certificate.empty();
    if (result.proved) return result;
  }
  for (const TypedAxiom& equation : equations->outputs) {
    const theorem::InstanceProof proof = theorem::prove(equation, options);
    if (proof.verdict == theorem::InstanceProof::Verdict::kProved) continue;
    result.reason =
        proof.verdict == theorem::InstanceProof::Verdict::kVacuous ? "no sizes meet its conditions" : proof.reason;
    return result;
  }
  result.proved = true;
  return result;
}

}  // namespace rewright
