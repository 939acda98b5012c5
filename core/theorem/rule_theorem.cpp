#include <rewright/tensor/linear.h>
#include <rewright/theorem/rule_theorem.h>
#include <rewright/verify/theorem_certificate.h>

#include <algorithm>
#include <optional>

#include "theorem/theorem_prover.h"

namespace rewright {
namespace {

/// What must hold for the target to be defined with the source's shapes, and follows from neither the source nor the
/// precondition.
std::optional<Constraint> not_implied(const certified::RuleEquations& equations) {
  const TypedAxiom& first = equations.outputs.front();
  SizeSystem known{SizeOrder(SizeOrder::Least::kOneInTensors)};
  for (const auto* conditions : {&first.left_defined, &first.condition})
    for (const Constraint& condition : *conditions) known.add(condition);
  std::vector<Constraint> wanted = first.right_defined;
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
  if (const auto missing = not_implied(*equations)) {
    result.reason = fmt::format("the target requires {}, which does not follow", to_string(*missing));
    return result;
  }
  const theorem::ProofOptions options{.pivots = limits.pivots, .cases = limits.cases};
  for (const TypedAxiom& equation : equations->outputs) {
    const theorem::InstanceProof proof = theorem::prove(equation, options);
    result.cases += proof.cases;
    result.queries += proof.queries;
    result.uses_order = result.uses_order || proof.uses_order;
    result.uses_functions = result.uses_functions || proof.uses_functions;
    if (proof.verdict == theorem::InstanceProof::Verdict::kProved) continue;
    result.reason =
        proof.verdict == theorem::InstanceProof::Verdict::kVacuous ? "no sizes meet its conditions" : proof.reason;
    return result;
  }
  result.proved = true;
  if (limits.certifies) result.certificate = certificate_of(*equations, options, result.uncertified);
  return result;
}

}  // namespace rewright
