// What a rule claims at one choice of sizes, number by number: for verifiers that ask a solver, or an algebra of their
// own.
#pragma once

#include <rewright/rule/rule.h>
#include <rewright/tensor/term_program.h>

#include <string>
#include <vector>

namespace rewright {

struct RuleTerms {
  std::vector<std::string> variables;  ///< Of variable i, its place: "x[3]" is the fourth number of input x.
  /// Number by number of all outputs, the source's and the target's: the claim is that they are equal.
  std::vector<Term> source;
  std::vector<Term> target;
};

/// Both sides at the sizes of the rule's example. Errors: kUnsupported where there is none, where the rule does not
/// hold there by itself, or where a tensor has more than `most_elements`; kMismatch where the outputs differ in shape.
[[nodiscard]] inline Result<RuleTerms> terms_at_example(const Rule& rule, std::int64_t most_elements) {
  if (rule.example.size() != rule.inputs.size())
    return make_error(ErrorCode::kUnsupported, "no sizes are known for it");
  const auto fits = [&](const Shape& shape) { return shape.elements() <= most_elements; };
  const Error too_large =
      make_error(ErrorCode::kUnsupported, "its example has tensors of more than {} numbers", most_elements);
  RuleTerms terms;
  std::vector<Tensor<Term>> inputs;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i) {
    if (!fits(rule.example[i])) return too_large;
    Tensor<Term>& input = inputs.emplace_back(rule.example[i]);
    for (std::size_t k = 0; k < input.values().size(); ++k) {
      input.values()[k] = Term::variable(static_cast<std::uint32_t>(terms.variables.size()));
      terms.variables.push_back(fmt::format("{}[{}]", rule.inputs[i].name, k));
    }
  }
  const DimBinding own = bind_sizes(rule.example_sizes);
  const DimBinding sizes = bind_sizes(rule.inputs, rule.example, own);
  for (const Constraint& constraint : rule.precondition)
    if (constraint.holds(sizes) != true)
      return make_error(ErrorCode::kUnsupported, "its precondition does not hold at its example");
  std::vector<Shape> shapes;
  for (const bool is_source : {true, false}) {
    REWRIGHT_TRY(const Graph graph, instantiate(rule.inputs, is_source ? rule.source : rule.target, rule.example, own));
    for (const Node& node : graph.nodes())
      for (const TensorType& output : node.outputs)
        if (!fits(output.shape)) return too_large;
    REWRIGHT_TRY(const auto outputs, evaluate<Term>(graph, std::span<const Tensor<Term>>(inputs)));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (is_source) {
        shapes.push_back(outputs[i].shape());
      } else if (i >= shapes.size() || shapes[i] != outputs[i].shape()) {
        return make_error(ErrorCode::kMismatch, "the two sides differ in shape at its example");
      }
      std::vector<Term>& side = is_source ? terms.source : terms.target;
      side.insert(side.end(), outputs[i].values().begin(), outputs[i].values().end());
    }
  }
  return terms;
}

}  // namespace rewright
