#include <rewright/verify/theorem_certificate.h>

namespace rewright::certified {
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

Result<RuleEquations> equations_of(const Rule& rule) {
  REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule.inputs, rule.source));
  REWRIGHT_TRY(const PatternShapes target, infer_shapes(rule.inputs, rule.target));
  RuleTerms terms(rule);
  const auto left = terms.add(rule, rule.source, source), right = terms.add(rule, rule.target, target);
  if (left.empty() || left.size() != right.size())
    return make_error(ErrorCode::kMismatch, "the sides have {} and {} outputs", left.size(), right.size());
  auto inputs = std::make_unique<Axiom>();
  for (const PatternInput& input : rule.inputs) inputs->variables.push_back({input.name, AxiomSort::kTensor});
  RuleEquations equations;
  for (std::size_t output = 0; output < left.size(); ++output) {
    TypedAxiom& equation = equations.outputs.emplace_back();
    equation.axiom = inputs.get();
    equation.terms = terms.terms;
    equation.left_defined = source.defined;
    equation.right_defined = target.defined;
    equation.condition = rule.precondition;
    equation.left = left[output];
    equation.right = right[output];
  }
  equations.inputs = std::move(inputs);
  return equations;
}

}  // namespace rewright::certified
