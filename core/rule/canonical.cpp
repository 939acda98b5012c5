#include "rule/canonical.h"

#include <rewright/operator/map_sizes.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace rewright {

namespace {

// Depth first from the outputs, without recursion: `visit(node)` when all operands are done, `meet(input)` at each use.
template <class Visit, class Meet>
void walk(const Pattern& pattern, std::size_t input_count, Visit visit, Meet meet) {
  std::vector<bool> seen(pattern.nodes.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> open;  // Node, next operand.
  const auto enter = [&](Port port) {
    const std::size_t id = port.node.value;
    if (id < input_count) return meet(id);
    if (!seen[id - input_count]) {
      seen[id - input_count] = true;
      open.emplace_back(id - input_count, 0);
    }
  };
  for (const Port output : pattern.outputs) {
    enter(output);
    while (!open.empty()) {
      auto& [node, next] = open.back();
      const auto& operands = pattern.nodes[node].inputs;
      if (next < operands.size()) {
        enter(operands[next++]);
      } else {
        const std::size_t done = node;
        open.pop_back();
        visit(done);
      }
    }
  }
}

}  // namespace

SymbolicParams substitute(const SymbolicParams& params, const SizeReplacement& replace) {
  return map_sizes(params, [&](const SymbolicDim& size) { return size.substitute(replace); });
}

Constraint substitute(const Constraint& constraint, const SizeReplacement& replace) {
  return {constraint.kind, constraint.left.substitute(replace), constraint.right.substitute(replace)};
}

std::vector<std::size_t> reading_order(const Pattern& pattern, std::size_t input_count) {
  std::vector<std::size_t> order;
  walk(
      pattern, input_count, [&](std::size_t node) { order.push_back(node); }, [](std::size_t) {});
  return order;
}

std::vector<std::size_t> input_order(const Pattern& pattern, std::size_t input_count) {
  std::vector<std::size_t> order;
  std::vector<bool> met(input_count, false);
  walk(
      pattern, input_count, [](std::size_t) {},
      [&](std::size_t input) {
        if (!met[input]) order.push_back(input);
        met[input] = true;
      });
  return order;
}

Pattern arrange(const Pattern& pattern, std::span<const std::size_t> position, std::size_t input_count) {
  Pattern result;
  std::vector<std::size_t> of_node(pattern.nodes.size());
  const auto moved = [&](Port port) {
    const std::size_t id = port.node.value;
    const std::size_t to = id < position.size() ? position[id] : of_node[id - position.size()];
    return Port{NodeId{static_cast<std::uint32_t>(to)}, port.output};
  };
  std::map<std::tuple<std::string, std::string, std::vector<Port>>, std::size_t> made;
  for (const std::size_t i : reading_order(pattern, position.size())) {
    PatternNode node = pattern.nodes[i];
    for (Port& port : node.inputs) port = moved(port);
    const std::string params = to_string(node.op->info().params, node.params);
    const auto [entry, is_new] =
        made.try_emplace({node.op->name(), params, node.inputs}, input_count + result.nodes.size());
    of_node[i] = entry->second;
    if (is_new) result.nodes.push_back(std::move(node));
  }
  for (const Port port : pattern.outputs) result.outputs.push_back(moved(port));
  return result;
}

Rule rename(const Rule& rule, std::span<const std::string> names, const std::map<SizeVar, SizeVar>& others) {
  std::map<SizeVar, SymbolicDim> replacement;
  for (const auto& [from, to] : others) replacement.emplace(from, SymbolicDim::variable(to));
  Rule result = rule;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i) {
    result.inputs[i].name = names[i];
    for (int axis = 0; axis < rule.inputs[i].rank; ++axis)
      replacement.insert_or_assign(SizeVar::axis(rule.inputs[i].name, axis),
                                   SymbolicDim::variable(SizeVar::axis(names[i], axis)));
  }
  const SizeReplacement replace = [&](SizeVar name) -> std::optional<SymbolicDim> {
    const auto found = replacement.find(name);
    if (found == replacement.end()) return std::nullopt;
    return found->second;
  };
  for (Pattern* side : {&result.source, &result.target}) {
    for (PatternNode& node : side->nodes) node.params = substitute(node.params, replace);
  }
  for (Constraint& constraint : result.precondition) constraint = substitute(constraint, replace);
  for (auto& [name, value] : result.example_sizes) {
    if (const auto found = others.find(name); found != others.end()) name = found->second;
  }
  return result;
}

Rule canonical(const Rule& rule) {
  const std::size_t count = rule.inputs.size();
  std::vector<std::size_t> order = input_order(rule.source, count);
  for (const std::size_t input : input_order(rule.target, count)) {
    if (std::find(order.begin(), order.end(), input) == order.end()) order.push_back(input);
  }

  std::vector<std::string> names(count);
  std::vector<std::size_t> position(count, 0);
  Rule result = rule;
  result.inputs.clear();
  result.example.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    names[order[i]] = fmt::format("x{}", i);
    position[order[i]] = i;
  }
  // Match variables in the order of the source as it will be read, which does not depend on names.
  Rule arranged = rule;
  std::vector<std::size_t> in_place(count);
  for (std::size_t i = 0; i < count; ++i) in_place[i] = i;
  arranged.source = arrange(rule.source, in_place, count);
  std::map<SizeVar, SizeVar> others;
  for (const SizeVar variable : match_variables(arranged))
    others.emplace(variable, SizeVar::read(fmt::format("s{}", others.size())));

  const Rule renamed = rename(rule, names, others);
  for (const std::size_t input : order) {
    result.inputs.push_back(renamed.inputs[input]);
    if (input < rule.example.size()) result.example.push_back(rule.example[input]);
  }
  result.example_sizes = renamed.example_sizes;
  result.source = arrange(renamed.source, position, order.size());
  result.target = arrange(renamed.target, position, order.size());

  const SizeOrder sizes = size_order(result);
  std::map<std::string, Constraint> conditions;
  for (const Constraint& constraint : renamed.precondition) {
    Constraint normal = normal_form(constraint, sizes);
    std::string text = to_string(normal);
    conditions.try_emplace(std::move(text), std::move(normal));
  }
  result.precondition.clear();
  for (auto& [text, constraint] : conditions) result.precondition.push_back(std::move(constraint));
  return result;
}

namespace {

// The operators, outermost first.
std::string name_of(const Pattern& pattern, std::size_t input_count) {
  constexpr std::size_t kMost = 6;
  std::string name;
  const std::vector<std::size_t> order = reading_order(pattern, input_count);
  for (std::size_t i = 0; i < std::min(order.size(), kMost); ++i)
    name += (name.empty() ? "" : "-") + pattern.nodes[order[order.size() - 1 - i]].op->name();
  if (order.size() > kMost) name += "-etc";
  return name;
}

}  // namespace

std::string readable_name(const Rule& rule) {
  const std::string source = name_of(rule.source, rule.inputs.size());
  const std::string target = name_of(rule.target, rule.inputs.size());
  if (target.empty()) return source;
  return (source.empty() ? "input" : source) + "-to-" + target;
}

std::string rule_name(const Rule& rule) {
  constexpr std::size_t kDigits = 8;
  return fmt::format("{}-{}", readable_name(rule), rule.id.substr(0, kDigits));
}

std::string unique_name(const Rule& rule, std::set<std::string>& taken) {
  std::string name = rule_name(rule);
  if (!taken.insert(name).second) {
    name = fmt::format("{}-{}", readable_name(rule), rule.id);
    taken.insert(name);
  }
  return name;
}

SizeOrder size_order(const Rule& rule) {
  std::vector<PatternInput> inputs;
  for (const std::size_t input : input_order(rule.source, rule.inputs.size())) inputs.push_back(rule.inputs[input]);
  return size_order(inputs, match_variables(rule));
}

Result<std::vector<Constraint>> open_conditions(const Rule& rule) {
  REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule.inputs, rule.source));
  REWRIGHT_TRY(PatternShapes target, infer_shapes(rule.inputs, rule.target));
  if (rule.source.outputs.size() != rule.target.outputs.size())
    return make_error(ErrorCode::kMismatch,
                      "the source has {} outputs and the target has {}; a rule needs equally many",
                      rule.source.outputs.size(), rule.target.outputs.size());
  std::vector<Constraint> wanted = std::move(target.defined);
  for (std::size_t i = 0; i < rule.source.outputs.size(); ++i) {
    const Port s = rule.source.outputs[i], t = rule.target.outputs[i];
    const SymbolicShape& left = source.of_node[s.node.value][s.output];
    const SymbolicShape& right = target.of_node[t.node.value][t.output];
    if (left.rank() != right.rank())
      return make_error(ErrorCode::kMismatch, "output {} has rank {} in the source and {} in the target", i,
                        left.rank(), right.rank());
    for (int axis = 0; axis < left.rank(); ++axis)
      wanted.push_back({Constraint::Kind::kEqual, left[axis], right[axis]});
  }
  std::vector<Constraint> known = source.defined;
  known.insert(known.end(), rule.precondition.begin(), rule.precondition.end());
  return missing_conditions(known, wanted, size_order(rule));
}

}  // namespace rewright
