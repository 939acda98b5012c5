#include "rule/rule_interest.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

namespace rewright {
namespace {

/// Both sides have one commutative operator, as often: a + (b + c) = (a + b) + c.
bool only_reorders(const Rule& rule) {
  if (rule.source.nodes.size() != rule.target.nodes.size()) return false;
  const PatternNode& first = rule.source.nodes.front();
  const auto is_alike = [&](const PatternNode& node) {
    return node.op == first.op && node.params == first.params && first.op->info().commutative;
  };
  return std::ranges::all_of(rule.source.nodes, is_alike) && std::ranges::all_of(rule.target.nodes, is_alike);
}

/// Does one operator take a tensor twice, or do inputs come more than once more than there are of them?
bool has_inputs_again(const Rule& rule) {
  std::vector<std::size_t> times(rule.inputs.size());
  for (const PatternNode& node : rule.source.nodes) {
    for (const Port& operand : node.inputs) {
      if (std::ranges::count(node.inputs, operand) > 1) return true;
      if (operand.node.value < times.size()) ++times[operand.node.value];
    }
  }
  std::size_t again = 0;
  for (const std::size_t each : times) again += each > 1 ? each - 1 : 0;
  return again > 1;
}

bool has_rank_0(const PatternInput& input) { return input.rank == 0; }

/// Operations, and elements written. Nothing where the side is not defined at the example.
std::optional<double> work_at_example(const Rule& rule, const Pattern& side) {
  const auto graph = instantiate(rule.inputs, side, rule.example, bind_sizes(rule.example_sizes));
  if (!graph) return {};
  double work = 0;
  for (const Node& node : graph->nodes()) {
    for (const TensorType& type : node.outputs)
      work += node.is_input() ? 0.0 : static_cast<double>(type.shape.elements());
    const ApplicationNode* application = node.application();
    if (application == nullptr) continue;
    std::vector<Shape> operands;
    for (const Port& operand : node.inputs) operands.push_back(graph->shape(operand));
    work += application->op->work(application->params, operands).flops;
  }
  return work;
}

}  // namespace

RuleInterest interest_of(const Rule& rule, double gain_us) {
  RuleInterest interest;
  interest.is_degenerate =
      std::ranges::all_of(rule.inputs, has_rank_0) || rule.source.nodes.empty() || only_reorders(rule);
  interest.gain_us = std::max(gain_us, 0.0);
  interest.shrinks = rule.target.nodes.size() < rule.source.nodes.size();
  interest.is_special = has_inputs_again(rule);
  interest.conditions = rule.precondition.size();
  interest.operators = rule.source.nodes.size() + rule.target.nodes.size();
  if (rule.example.size() != rule.inputs.size()) return interest;
  const auto source = work_at_example(rule, rule.source), target = work_at_example(rule, rule.target);
  if (source && target) interest.saved = *source - *target;
  return interest;
}

std::vector<std::size_t> interesting_first(std::span<const RuleInterest> rules) {
  std::vector<std::size_t> order(rules.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t position) {
    const RuleInterest& rule = rules[position];
    return std::tuple(rule.is_degenerate, -rule.gain_us, rule.is_special, !rule.shrinks, -rule.saved, rule.conditions,
                      rule.operators);
  };
  std::ranges::stable_sort(order, {}, key);
  return order;
}

}  // namespace rewright
