// Rules from text, and what they compute.
#pragma once

#include <rewright/rule/rule.h>

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "rule/canonical.h"
#include "rule/conditions.h"
#include "support/operators.h"

namespace rewright::testing {

inline Rule rule(std::string_view text) {
  auto parsed = parse_rule(text, loaded());
  if (!parsed) fail(fmt::format("{}: {}", text, parsed.error().message));
  return *std::move(parsed);
}

/// Both sides of a rule text as graphs at the given shapes, made into a rule again.
inline Result<Rule> generalised(std::string_view text, const std::vector<Shape>& shapes) {
  const Rule given = rule(text);
  REWRIGHT_TRY(const Graph source, instantiate(given.inputs, given.source, shapes));
  REWRIGHT_TRY(const Graph target, instantiate(given.inputs, given.target, shapes));
  return generalise(source, target);
}

inline std::string text_of(const Result<Rule>& rule) { return rule ? to_text(*rule) : rule.error().message; }

/// Sizes of a rule's inputs and match variables.
struct Sizes {
  std::vector<Shape> shapes;
  std::vector<std::pair<SizeVar, std::int64_t>> extra;
};

inline std::vector<Constraint> domain(const Rule& rule, bool with_precondition) {
  std::vector<Constraint> all = infer_shapes(rule.inputs, rule.source)->defined;
  if (with_precondition) all.insert(all.end(), rule.precondition.begin(), rule.precondition.end());
  return all;
}

/// Random sizes of 1 to `most` that meet the constraints; nothing if many tries find none.
inline std::optional<Sizes> sample(const Rule& rule, const std::vector<Constraint>& constraints,
                                   std::mt19937_64& random, std::int64_t most = 5) {
  SizeSystem facts(size_order(rule));
  for (const Constraint& constraint : constraints) facts.add(constraint);
  std::vector<SizeVar> names;
  for (const PatternInput& input : rule.inputs) {
    for (int axis = 0; axis < input.rank; ++axis) names.push_back(SizeVar::axis(input.name, axis));
  }
  for (const SizeVar name : match_variables(rule)) names.push_back(name);
  for (int attempt = 0; attempt < 2000; ++attempt) {
    std::vector<std::pair<SizeVar, std::int64_t>> values;
    for (const SizeVar name : names) {
      if (!facts.solved().contains(name))
        values.emplace_back(name, 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)));
    }
    const auto free = values;
    bool fits = true;
    for (const SizeVar name : names) {
      const auto solution = facts.solved().find(name);
      if (solution == facts.solved().end()) continue;
      const auto value = solution->second.evaluate(bind_sizes(free));
      fits = fits && value && *value >= 1 && *value <= 4 * most;
      values.emplace_back(name, value.value_or(0));
    }
    const DimBinding binding = bind_sizes(values);
    for (const Constraint& constraint : constraints) fits = fits && constraint.holds(binding).value_or(false);
    if (!fits) continue;
    Sizes sizes;
    for (const PatternInput& input : rule.inputs) {
      Shape shape;
      for (int axis = 0; axis < input.rank; ++axis) shape.append(*binding(SizeVar::axis(input.name, axis)));
      sizes.shapes.push_back(std::move(shape));
    }
    for (const SizeVar name : match_variables(rule)) sizes.extra.emplace_back(name, *binding(name));
    return sizes;
  }
  return std::nullopt;
}

/// Values of -3 to 3, so that no relu or max leaves the range where the field's order is that of the integers.
inline std::vector<Tensor<Field>> values(const std::vector<Shape>& shapes, std::mt19937_64& random) {
  std::vector<Tensor<Field>> tensors;
  for (const Shape& shape : shapes) {
    tensors.emplace_back(shape);
    for (Field& value : tensors.back().values())
      value = Field::from_integer(static_cast<std::int64_t>(random() % 7) - 3);
  }
  return tensors;
}

/// The outputs of one side; nothing where it is not defined.
inline std::optional<std::vector<Tensor<Field>>> outputs(const Rule& rule, const Pattern& side, const Sizes& sizes,
                                                         const std::vector<Tensor<Field>>& in) {
  const auto graph = instantiate(rule.inputs, side, sizes.shapes, bind_sizes(sizes.extra));
  if (!graph) return std::nullopt;
  auto out = evaluate<Field>(*graph, in);
  if (!out) return std::nullopt;
  return *std::move(out);
}

inline bool equal(const std::vector<Tensor<Field>>& a, const std::vector<Tensor<Field>>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].shape() != b[i].shape() || a[i].values() != b[i].values()) return false;
  }
  return true;
}

}  // namespace rewright::testing
