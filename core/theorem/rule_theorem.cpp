#include <rewright/tensor/linear.h>
#include <rewright/theorem/rule_theorem.h>
#include <rewright/verify/theorem_certificate.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

RuleTheorem attempt(const Rule& rule, const TheoremLimits& limits) {
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

/// Equations between sizes that hold at the rule's example and do not follow: what the target requires; then, one at a
/// time, sizes of what is computed, and numbers of parameters, that are equal there. The shortest first.
std::vector<std::vector<Constraint>> proposed_conditions(const Rule& rule) {
  constexpr std::size_t kMost = 24;
  const auto equations = certified::equations_of(rule);
  if (!equations) return {};
  const SizeSystem known = known_of(*equations);
  const DimBinding example = bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes));
  const auto is_new = [&](const Constraint& each) {
    return each.holds(example).value_or(false) && !known.implies(each);
  };
  std::vector<Constraint> required;
  for (const Constraint& each : equations->outputs.front().right_defined) {
    if (is_new(each) && std::ranges::find(required, each) == required.end()) required.push_back(each);
  }
  std::map<std::string, SymbolicDim> sizes;
  for (const TypedAxiom& equation : equations->outputs) {
    for (const TypedTerm& term : equation.terms) {
      for (const SymbolicDim& dim : term.shape) sizes.emplace(to_string(dim), dim);
      for (const auto& value : term.params.values()) {
        if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value)) {
          for (const SymbolicDim& dim : list->values) sizes.emplace(to_string(dim), dim);
        }
      }
    }
  }
  std::vector<std::pair<std::size_t, Constraint>> equal;
  for (auto a = sizes.begin(); a != sizes.end(); ++a) {
    for (auto b = std::next(a); b != sizes.end(); ++b) {
      Constraint each{Constraint::Kind::kEqual, a->second, b->second};
      if (is_new(each)) equal.emplace_back(a->first.size() + b->first.size(), std::move(each));
    }
  }
  std::ranges::stable_sort(equal, {}, &std::pair<std::size_t, Constraint>::first);
  std::vector<std::vector<Constraint>> proposed;
  if (!required.empty()) proposed.push_back(required);
  for (auto& [length, each] : equal) {
    if (proposed.size() == kMost) break;
    proposed.push_back(required);
    proposed.back().push_back(std::move(each));
  }
  return proposed;
}

}  // namespace

namespace theorem {

std::vector<InstanceProof> read_proof(const Rule& rule, std::size_t cases) {
  const auto equations = certified::equations_of(rule);
  std::vector<InstanceProof> readings;
  if (!equations) return readings;
  for (const TypedAxiom& equation : equations->outputs) {
    readings.push_back(prove(equation, {.told = cases}));
    if (readings.back().verdict != InstanceProof::Verdict::kProved) return {};
  }
  return readings;
}

}  // namespace theorem

RuleTheorem prove_from_definitions(const Rule& rule, const TheoremLimits& limits) {
  RuleTheorem result = attempt(rule, limits);
  if (result.proved || !limits.assumes || rule.example.empty()) return result;
  for (std::vector<Constraint>& conditions : proposed_conditions(rule)) {
    Rule under = rule;
    under.precondition.insert(under.precondition.end(), conditions.begin(), conditions.end());
    RuleTheorem theorem = attempt(under, limits);
    if (!theorem.proved) continue;
    theorem.conditions = std::move(conditions);
    return theorem;
  }
  return result;
}

}  // namespace rewright
