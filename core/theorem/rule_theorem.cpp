#include <rewright/theorem/rule_theorem.h>

#include <algorithm>

#include "theorem/theorem_prover.h"

namespace rewright {

namespace {

/// The rule's sides as terms: one for each input, then one for each output of each node.
class RuleTerms {
 public:
  explicit RuleTerms(const Rule& rule) {
    for (const PatternInput& input : rule.inputs) {
      TypedTerm term;
      term.variable = terms.size();
      for (int axis = 0; axis < input.rank; ++axis)
        term.shape.append(SymbolicDim::variable(SizeVar::axis(input.name, axis)));
      terms.push_back(std::move(term));
    }
  }
  /// Puts in a side; the places of its outputs.
  std::vector<std::uint32_t> add(const Rule& rule, const Pattern& side, const PatternShapes& shapes) {
    std::vector<std::uint32_t> first(rule.inputs.size());
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::uint32_t>(i);
    const auto place_of = [&](const Port& port) { return first[port.node.value] + port.output; };
    for (std::size_t n = 0; n < side.nodes.size(); ++n) {
      first.push_back(static_cast<std::uint32_t>(terms.size()));
      const auto& outputs = shapes.of_node[rule.inputs.size() + n];
      for (std::uint32_t output = 0; output < outputs.size(); ++output) {
        TypedTerm term;
        term.op = side.nodes[n].op;
        term.output = output;
        term.params = side.nodes[n].params;
        for (const Port& port : side.nodes[n].inputs) term.operands.push_back(place_of(port));
        term.shape = outputs[output];
        terms.push_back(std::move(term));
      }
    }
    std::vector<std::uint32_t> places;
    for (const Port& port : side.outputs) places.push_back(place_of(port));
    return places;
  }

  std::vector<TypedTerm> terms;
};

}  // namespace

RuleTheorem prove_from_definitions(const Rule& rule, const TheoremLimits& limits) {
  RuleTheorem result;
  const auto source = infer_shapes(rule.inputs, rule.source), target = infer_shapes(rule.inputs, rule.target);
  if (!source || !target) {
    result.reason = (source ? target : source).error().message;
    return result;
  }
  RuleTerms terms(rule);
  const auto left = terms.add(rule, rule.source, *source), right = terms.add(rule, rule.target, *target);
  if (left.empty() || left.size() != right.size()) {
    result.reason = fmt::format("the sides have {} and {} outputs", left.size(), right.size());
    return result;
  }
  Axiom named;
  for (const PatternInput& input : rule.inputs) named.variables.push_back({input.name, AxiomSort::kTensor});
  TypedAxiom equation;
  equation.axiom = &named;
  equation.terms = std::move(terms.terms);
  equation.left_defined = source->defined;
  equation.right_defined = target->defined;
  equation.condition = rule.precondition;
  result.proved = true;
  for (std::size_t output = 0; output < left.size() && result.proved; ++output) {
    equation.left = left[output];
    equation.right = right[output];
    const theorem::InstanceProof proof = theorem::prove(equation, {.pivots = limits.pivots, .cases = limits.cases});
    result.cases += proof.cases;
    result.queries += proof.queries;
    result.uses_order = result.uses_order || proof.uses_order;
    result.uses_functions = result.uses_functions || proof.uses_functions;
    if (proof.verdict == theorem::InstanceProof::Verdict::kProved) continue;
    result.proved = false;
    result.reason =
        proof.verdict == theorem::InstanceProof::Verdict::kVacuous ? "no sizes meet its conditions" : proof.reason;
  }
  return result;
}

}  // namespace rewright
