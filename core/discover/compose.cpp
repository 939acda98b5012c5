#include "discover/compose.h"

#include <rewright/base/mixing.h>

#include <map>

#include "discover/equation.h"
#include "rule/canonical.h"

namespace rewright {
namespace {

/// Names of inputs and of match variables that no other rule has.
Rule with_prefix(const Rule& rule, const std::string& prefix) {
  std::vector<std::string> names;
  for (const PatternInput& input : rule.inputs) names.push_back(prefix + input.name);
  std::map<SizeVar, SizeVar> others;
  for (const SizeVar variable : match_variables(rule))
    others.emplace(variable, SizeVar::read(prefix + variable.text()));
  return rename(rule, names, others);
}

}  // namespace

std::optional<Rule> composed(const Rule& outer, std::size_t input, const Rule& inner_rule) {
  const Rule inner = with_prefix(inner_rule, "i_");
  const auto shapes = infer_shapes(inner.inputs, inner.source);
  if (!shapes || inner.source.nodes.empty()) return std::nullopt;
  const Port made = inner.source.outputs[0];
  const SymbolicShape& shape = shapes->of_node[made.node.value][made.output];
  if (shape.rank() != outer.inputs[input].rank) return std::nullopt;

  Rule result;
  result.name = outer.name + "-of-" + inner_rule.name;
  std::vector<std::uint32_t> place(outer.inputs.size());
  for (std::size_t i = 0; i < outer.inputs.size(); ++i) {
    if (i == input) continue;
    place[i] = static_cast<std::uint32_t>(result.inputs.size());
    result.inputs.push_back(outer.inputs[i]);
  }
  const auto first = static_cast<std::uint32_t>(result.inputs.size());
  result.inputs.insert(result.inputs.end(), inner.inputs.begin(), inner.inputs.end());
  const auto inputs = static_cast<std::uint32_t>(result.inputs.size());
  const auto of_inner = [&](Port port) {
    const auto count = static_cast<std::uint32_t>(inner.inputs.size());
    const std::uint32_t to = port.node.value < count ? first + port.node.value : inputs + port.node.value - count;
    return Port{NodeId{to}, port.output};
  };
  const auto of_outer = [&](Port port) {
    const auto count = static_cast<std::uint32_t>(outer.inputs.size());
    if (port.node.value == input) return of_inner(made);
    if (port.node.value < count) return Port{NodeId{place[port.node.value]}, 0};
    return Port{NodeId{inputs + static_cast<std::uint32_t>(inner.source.nodes.size()) + port.node.value - count},
                port.output};
  };
  const SizeReplacement sizes = [&](SizeVar name) -> std::optional<SymbolicDim> {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (name == SizeVar::axis(outer.inputs[input].name, axis)) return shape[axis];
    }
    return std::nullopt;
  };
  const auto side = [&](const Pattern& pattern) {
    Pattern joined;
    for (PatternNode node : inner.source.nodes) {
      for (Port& port : node.inputs) port = of_inner(port);
      joined.nodes.push_back(std::move(node));
    }
    for (const PatternNode& node : pattern.nodes) {
      PatternNode copy{node.op, substitute(node.params, sizes), {}};
      for (const Port port : node.inputs) copy.inputs.push_back(of_outer(port));
      joined.nodes.push_back(std::move(copy));
    }
    for (const Port port : pattern.outputs) joined.outputs.push_back(of_outer(port));
    return joined;
  };
  result.source = side(outer.source);
  result.target = side(outer.target);
  for (const Constraint& condition : outer.precondition) result.precondition.push_back(substitute(condition, sizes));
  auto whole = completed(std::move(result));
  if (!whole || whole->example.empty()) return std::nullopt;
  return *std::move(whole);
}

std::vector<Rule> composed_rules(std::span<const Rule> rules, std::size_t count, std::uint64_t seed) {
  std::vector<Rule> made;
  if (rules.empty()) return made;
  Random random(seed);
  for (std::size_t attempt = 0; attempt < 8 * count && made.size() < count; ++attempt) {
    const Rule& outer = random.pick(rules);
    Rule inner = random.pick(rules);
    if (outer.inputs.empty()) continue;
    if (random.one_in(2)) std::swap(inner.source, inner.target);
    if (auto rule = composed(outer, random.below(outer.inputs.size()), inner)) made.push_back(*std::move(rule));
  }
  return made;
}

}  // namespace rewright
