#include "rule/usable.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {
namespace {

/// A side written out, with the operands of commutative operators in one order: equal for sides that matching cannot
/// tell apart.
std::vector<std::string> spelled(const Pattern& side, std::span<const PatternInput> inputs) {
  std::vector<std::string> of_node;
  const auto text = [&](Port port) {
    const std::size_t i = port.node.value;
    if (i < inputs.size()) return inputs[i].name;
    return fmt::format("{}#{}", of_node[i - inputs.size()], port.output);
  };
  for (const PatternNode& node : side.nodes) {
    std::vector<std::string> operands;
    for (Port port : node.inputs) operands.push_back(text(port));
    if (node.op->info().commutative && operands.size() > 1 && operands[1] < operands[0])
      std::swap(operands[0], operands[1]);
    std::string call = node.op->name() + to_string(node.op->info().params, node.params) + "(";
    for (const std::string& operand : operands) call += operand + ",";
    of_node.push_back(call + ")");
  }
  std::vector<std::string> outputs;
  for (Port port : side.outputs) outputs.push_back(text(port));
  return outputs;
}

/// By port of the side's inputs and nodes: does an output need it? An operator that none needs would match work that
/// the rule does not speak of.
std::vector<bool> needed_ports(const Pattern& side, std::size_t input_count) {
  std::vector<bool> needed(input_count + side.nodes.size(), false);
  for (Port port : side.outputs) needed[port.node.value] = true;
  for (std::size_t i = needed.size(); i-- > input_count;) {
    if (!needed[i]) continue;
    for (Port port : side.nodes[i - input_count].inputs) needed[port.node.value] = true;
  }
  return needed;
}

/// A size that the target or the precondition needs and the source does not give.
std::optional<SizeVar> open_size(const Rule& rule) {
  std::set<SizeVar> known = size_variables(rule.source), wanted = size_variables(rule.target);
  for (const PatternInput& input : rule.inputs)
    for (int axis = 0; axis < input.rank; ++axis) known.insert(SizeVar::axis(input.name, axis));
  for (const Constraint& constraint : rule.precondition)
    for (const SymbolicDim* side : {&constraint.left, &constraint.right})
      for (const SizeVar size : side->variables()) wanted.insert(size);
  const auto open = std::ranges::find_if(wanted, [&](SizeVar size) { return !known.contains(size); });
  return open == wanted.end() ? std::nullopt : std::optional(*open);
}

}  // namespace

std::set<SizeVar> size_variables(const Pattern& side) {
  std::set<SizeVar> all;
  for (const PatternNode& node : side.nodes) {
    for (const auto& value : node.params.values()) {
      const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value);
      if (sizes == nullptr) continue;
      for (const SymbolicDim& size : sizes->values)
        for (const SizeVar variable : size.variables()) all.insert(variable);
    }
  }
  return all;
}

Status check_usable(const Rule& rule) {
  const auto unusable = [&](std::string_view reason) {
    return make_error(ErrorCode::kUnsupported, "rule {} cannot be applied: {}", rule.name.empty() ? rule.id : rule.name,
                      reason);
  };
  const std::size_t input_count = rule.inputs.size();
  if (std::ranges::any_of(rule.source.outputs, [&](Port port) { return port.node.value < input_count; }))
    return unusable("an output of its source is a bare input, which matches anything");
  if (rule.source.nodes.empty()) return unusable("its source has no operator");
  if (rule.source.outputs.size() != rule.target.outputs.size()) return unusable("its sides differ in outputs");
  const std::vector<bool> needed = needed_ports(rule.source, input_count);
  const auto first_node = needed.begin() + static_cast<std::ptrdiff_t>(input_count);
  if (std::find(first_node, needed.end(), false) != needed.end())
    return unusable("an operator of its source serves no output");
  if (const auto input = std::find(needed.begin(), first_node, false); input != first_node)
    return unusable(fmt::format("its source does not use input {}",
                                rule.inputs[static_cast<std::size_t>(input - needed.begin())].name));
  if (spelled(rule.source, rule.inputs) == spelled(rule.target, rule.inputs))
    return unusable("its sides differ in the order of operands alone, which matching does not see");
  if (const auto size = open_size(rule))
    return unusable(fmt::format("its source does not determine the size {}", size->text()));
  return {};
}

}  // namespace rewright
