#include "discover/unfold.h"

#include <algorithm>
#include <map>

#include "discover/equation.h"
#include "rule/canonical.h"

namespace rewright {
namespace {

/// What stands for an input: other inputs, and the application that joins them.
struct Replacement {
  std::vector<PatternInput> inputs;
  const Operator* op = nullptr;  ///< Null: the one input itself.
  SymbolicParams params;
};

/// The rule with each input replaced; sizes by `names`.
Rule replaced(const Rule& rule, const std::vector<Replacement>& by, const SizeReplacement& names) {
  Rule result;
  result.name = rule.name;
  std::vector<std::uint32_t> first;
  std::uint32_t joins = 0;
  for (const Replacement& one : by) {
    first.push_back(static_cast<std::uint32_t>(result.inputs.size()));
    result.inputs.insert(result.inputs.end(), one.inputs.begin(), one.inputs.end());
    joins += one.op != nullptr;
  }
  const auto count = static_cast<std::uint32_t>(result.inputs.size());
  const auto side = [&](const Pattern& pattern) {
    Pattern made;
    std::vector<Port> of_input;
    for (std::size_t i = 0; i < by.size(); ++i) {
      if (!by[i].op) {
        of_input.push_back({NodeId{first[i]}, 0});
        continue;
      }
      PatternNode node{by[i].op, by[i].params, {}};
      for (std::uint32_t k = 0; k < by[i].inputs.size(); ++k) node.inputs.push_back({NodeId{first[i] + k}, 0});
      of_input.push_back({NodeId{count + static_cast<std::uint32_t>(made.nodes.size())}, 0});
      made.nodes.push_back(std::move(node));
    }
    const auto moved = [&](Port port) {
      if (port.node.value < by.size()) return of_input[port.node.value];
      return Port{NodeId{port.node.value - static_cast<std::uint32_t>(by.size()) + count + joins}, port.output};
    };
    for (const PatternNode& node : pattern.nodes) {
      PatternNode copy{node.op, substitute(node.params, names), {}};
      for (const Port port : node.inputs) copy.inputs.push_back(moved(port));
      made.nodes.push_back(std::move(copy));
    }
    for (const Port port : pattern.outputs) made.outputs.push_back(moved(port));
    return made;
  };
  result.source = side(rule.source);
  result.target = side(rule.target);
  for (const Constraint& condition : rule.precondition) result.precondition.push_back(substitute(condition, names));
  return result;
}

struct Cut {
  std::int64_t axis = 0;
  std::vector<SymbolicDim> parts;
};

/// The inputs that a split takes directly.
std::map<std::size_t, Cut> cuts_of(const Rule& rule) {
  std::map<std::size_t, Cut> cuts;
  for (const Pattern* side : {&rule.source, &rule.target}) {
    for (const PatternNode& node : side->nodes) {
      if (node.op->name() != "split" || node.inputs[0].node.value >= rule.inputs.size()) continue;
      cuts.try_emplace(node.inputs[0].node.value, Cut{node.params.integer(0), node.params.sizes(1)});
    }
  }
  return cuts;
}

SymbolicDim size_of(const std::string& name, std::int64_t axis) {
  return SymbolicDim::variable(SizeVar::axis(name, axis));
}

}  // namespace

std::optional<Rule> unfold_splits(const Rule& rule, const Operator& concat) {
  const auto cuts = cuts_of(rule);
  if (cuts.empty()) return std::nullopt;
  std::vector<Replacement> by;
  std::map<SizeVar, SymbolicDim> sizes;
  std::vector<Constraint> equations;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i) {
    const PatternInput& input = rule.inputs[i];
    const auto cut = cuts.find(i);
    if (cut == cuts.end()) {
      by.push_back({{input}, nullptr, {}});
      continue;
    }
    const auto& [axis, parts] = cut->second;
    Replacement joined{{}, &concat, SymbolicParams({BasicParamValue<SymbolicDim>(axis)})};
    SymbolicDim total;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::string name = fmt::format("{}_{}", input.name, k + 1);
      joined.inputs.push_back({name, input.rank});
      const SymbolicDim value = size_of(name, axis);
      total = total + value;
      if (const auto variable = parts[k].variable(); variable && !variable->is_axis())
        sizes.try_emplace(*variable, value);
      equations.push_back({Constraint::Kind::kEqual, parts[k], value});
    }
    for (int other = 0; other < input.rank; ++other)
      sizes[SizeVar::axis(input.name, other)] = other == axis ? total : size_of(joined.inputs[0].name, other);
    by.push_back(std::move(joined));
  }
  const SizeReplacement names = [&](SizeVar name) -> std::optional<SymbolicDim> {
    const auto found = sizes.find(name);
    if (found == sizes.end()) return std::nullopt;
    return found->second;
  };
  Rule result = replaced(rule, by, names);
  for (const Constraint& equation : equations) {
    Constraint condition = substitute(equation, names);
    if (!condition.decided().value_or(false)) result.precondition.push_back(std::move(condition));
  }
  auto whole = completed(std::move(result));
  if (!whole) return std::nullopt;
  return *std::move(whole);
}

std::optional<Rule> unfold_transposes(const Rule& rule, const Operator& transpose) {
  std::vector<Replacement> by;
  std::map<SizeVar, SymbolicDim> sizes;
  bool any = false;
  for (const PatternInput& input : rule.inputs) {
    if (input.rank < 2 || input.rank > 4) {
      by.push_back({{input}, nullptr, {}});
      continue;
    }
    any = true;
    std::vector<std::int64_t> perm;
    for (int axis = 0; axis < input.rank; ++axis) perm.push_back(axis);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    const std::string name = input.name + "_t";
    for (int axis = 0; axis < input.rank; ++axis)
      sizes[SizeVar::axis(input.name, axis)] = size_of(name, perm[static_cast<std::size_t>(axis)]);
    by.push_back({{{name, input.rank}}, &transpose, SymbolicParams({BasicParamValue<SymbolicDim>(perm)})});
  }
  if (!any) return std::nullopt;
  Rule result = replaced(rule, by, [&](SizeVar name) -> std::optional<SymbolicDim> {
    const auto found = sizes.find(name);
    if (found == sizes.end()) return std::nullopt;
    return found->second;
  });
  auto whole = completed(std::move(result));
  if (!whole) return std::nullopt;
  return *std::move(whole);
}

}  // namespace rewright
