// Rules that enumeration finds, and mutants of them: one change in the target, meant to make the rule false.
#pragma once

#include <rewright/rule/rule.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "enumerate/enumerator.h"
#include "rule/canonical.h"
#include "support/operators.h"

namespace rewright::testing {

/// Every candidate over the given inputs and operators, generalised in both directions; in order of id.
inline std::vector<Rule> enumerated_rules(const std::vector<std::string>& operators,
                                          std::vector<EnumerationInput> inputs, int max_operators) {
  EnumerationConfig config;
  for (const std::string& text : operators) {
    const Call made = call(text);
    config.operators.push_back({made.op, made.params});
  }
  // Split takes the point of the last concatenation.
  for (const std::int64_t axis : {0, 1})
    config.operators.push_back({&operator_named("split"), Params({axis, SizeList<std::int64_t>{}})});
  config.inputs = std::move(inputs);
  config.max_operators = max_operators;
  std::map<std::string, Rule> rules;
  const auto report = enumerate(config, [&](Candidate candidate) -> Status {
    for (const bool turned : {false, true}) {
      auto made =
          generalise(turned ? candidate.target : candidate.source, turned ? candidate.source : candidate.target);
      if (made) rules.emplace(made->id, *std::move(made));
    }
    return {};
  });
  if (!report) fail(report.error().message);
  std::vector<Rule> list;
  for (auto& [id, made] : rules) list.push_back(std::move(made));
  return list;
}

/// Sums, products, layout and constants on matrices.
inline std::vector<Rule> matrix_rules(int max_operators) {
  return enumerated_rules({"ewadd", "ewmul", "matmul", "relu", "transpose", "concat", "concat[axis=1]", "smul"},
                          {{"a", {2, 3}}, {"b", {3, 3}}, {"c", {3, 3}}, {"d", {3, 3}}, {"s", {}}}, max_operators);
}

/// Convolution, pooling and layout on images.
inline std::vector<Rule> image_rules(int max_operators) {
  return enumerated_rules(
      {"ewadd", "ewmul", "relu", "conv2d", "conv2d[activation=relu]", "conv2d[strides=[2, 2]]",
       "pool2d_avg[kernel=[3, 3]]", "pool2d_max[kernel=[3, 3]]", "concat", "concat[axis=1]", "smul"},
      {{"x", {1, 2, 3, 4}},
       {"y", {1, 2, 3, 4}},
       {"v", {2, 2, 3, 3}, InputKind::kWeight},
       {"w", {2, 2, 3, 3}, InputKind::kWeight},
       {"s", {}}},
      max_operators);
}

/// One random change of the target: an operator, an axis, a stride, two operands, or an operand. Nothing where the
/// changed target fits nowhere, or is what it was.
inline std::optional<Rule> mutant(const Rule& rule, std::mt19937_64& random) {
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  if (rule.target.nodes.empty()) return std::nullopt;
  Rule changed = rule;
  changed.precondition.clear();
  PatternNode& node = changed.target.nodes[pick(changed.target.nodes.size())];
  switch (random() % 4) {
    case 0: {
      static const std::vector<std::vector<std::string>> kFamilies = {
          {"ewadd", "ewmul", "matmul"}, {"relu", "transpose", "sigmoid"}, {"pool2d_avg", "pool2d_max"}};
      for (const auto& family : kFamilies) {
        if (std::find(family.begin(), family.end(), node.op->name()) == family.end()) continue;
        const Operator& other = operator_named(family[pick(family.size())]);
        if (other.info().params.size() != node.params.size()) break;
        node.op = &other;
      }
      break;
    }
    case 1: {
      std::vector<BasicParamValue<SymbolicDim>> values(node.params.values().begin(), node.params.values().end());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& name = node.op->info().params[i].name;
        if (name == "axis") values[i] = std::int64_t{1} - std::get<std::int64_t>(values[i]);
        if (name == "strides") values[i] = std::vector<std::int64_t>{1, 2};
        if (name == "activation") values[i] = std::int64_t{1} - std::get<std::int64_t>(values[i]);
      }
      node.params = SymbolicParams(std::move(values));
      break;
    }
    case 2:
      if (node.inputs.size() >= 2) std::swap(node.inputs[0], node.inputs[1]);
      break;
    default:
      if (!node.inputs.empty()) {
        Port& operand = node.inputs[pick(node.inputs.size())];
        operand = {NodeId{static_cast<std::uint32_t>(pick(rule.inputs.size()))}, 0};
      }
  }
  auto conditions = open_conditions(changed);
  if (!conditions) return std::nullopt;
  changed.precondition = *std::move(conditions);
  if (to_text(changed) == to_text(rule)) return std::nullopt;
  auto read = parse_rule(to_text(changed), loaded());
  if (!read || read->example.empty()) return std::nullopt;
  return *std::move(read);
}

/// Up to `count` mutants of these rules, distinct, each from a rule drawn at random.
inline std::vector<Rule> mutants(const std::vector<Rule>& rules, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<std::string, Rule> found;
  for (std::size_t attempt = 0; attempt < 8 * count && found.size() < count; ++attempt) {
    if (auto made = mutant(rules[random() % rules.size()], random)) found.emplace(made->id, *std::move(made));
  }
  std::vector<Rule> list;
  for (auto& [id, made] : found) list.push_back(std::move(made));
  return list;
}

}  // namespace rewright::testing
