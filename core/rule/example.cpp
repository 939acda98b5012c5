#include "rule/example.h"

#include <rewright/base/mixing.h>
#include <rewright/tensor/linear.h>

#include <algorithm>
#include <numeric>

#include "rule/canonical.h"

namespace rewright {

namespace {

using Assignment = std::vector<std::pair<SizeVar, std::int64_t>>;

constexpr std::int64_t kLargest = 64;
/// Draws of small_sizes: few, as most rules take almost any sizes.
constexpr std::uint64_t kFewDraws = 60;

std::vector<SizeVar> size_variables(const Rule& rule) {
  std::vector<SizeVar> names;
  for (const PatternInput& input : rule.inputs) {
    for (int axis = 0; axis < input.rank; ++axis) names.push_back(SizeVar::axis(input.name, axis));
  }
  for (const SizeVar name : match_variables(rule)) names.push_back(name);
  return names;
}

/// What a variable has to be a multiple of, by the constraints that say so of it alone: "16 | w.0".
std::int64_t divisor_of(SizeVar name, const std::vector<Constraint>& constraints) {
  std::int64_t divisor = 1;
  for (const Constraint& constraint : constraints) {
    const auto number = constraint.left.constant();
    if (constraint.kind == Constraint::Kind::kDivides && number && constraint.right.variable() == name)
      divisor = std::min(std::lcm(divisor, *number), kLargest + 1);
  }
  return divisor;
}

// Free variables get `choose(i, name)` in order, the others what the equations say; nothing where that breaks a
// constraint.
template <class Choose>
std::optional<Assignment> assign(const std::vector<SizeVar>& names, const SizeSystem& facts,
                                 const std::vector<Constraint>& constraints, Choose choose) {
  Assignment free;
  for (const SizeVar name : names) {
    if (!facts.solved().contains(name)) free.emplace_back(name, choose(free.size(), name));
  }
  const DimBinding chosen = bind_sizes(free);
  Assignment all;
  for (const SizeVar name : names) {
    const auto value = facts.normalise(SymbolicDim::variable(name)).evaluate(chosen);
    if (!value || *value < 1 || *value > kLargest) return std::nullopt;
    all.emplace_back(name, *value);
  }
  const DimBinding binding = bind_sizes(all);
  const bool fits = std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& constraint) {
    return constraint.holds(binding).value_or(false);
  });
  if (!fits) return std::nullopt;
  return all;
}

// Unequal sizes first; then pseudo-random ones, from a range that grows.
std::optional<Assignment> search(const std::vector<SizeVar>& names, const SizeSystem& facts,
                                 const std::vector<Constraint>& constraints) {
  for (const std::int64_t first : {2, 3, 1}) {
    const auto found = assign(names, facts, constraints,
                              [&](std::size_t i, SizeVar) { return first + static_cast<std::int64_t>(i % 6); });
    if (found) return found;
  }
  Random random(0);
  for (std::uint64_t attempt = 0; attempt < 600; ++attempt) {
    const auto found = assign(names, facts, constraints, [&](std::size_t, SizeVar) {
      return random.between(1, 4 + static_cast<std::int64_t>(attempt / 100));
    });
    if (found) return found;
  }
  return std::nullopt;
}

/// Where the source is defined and the rule may be used. Nothing where the source is defined nowhere.
struct Domain {
  std::vector<Constraint> constraints;
  SizeSystem facts;
  static std::optional<Domain> of(const Rule& rule) {
    auto source = infer_shapes(rule.inputs, rule.source);
    if (!source) return std::nullopt;
    Domain domain{std::move(source->defined), SizeSystem(size_order(rule))};
    domain.constraints.insert(domain.constraints.end(), rule.precondition.begin(), rule.precondition.end());
    for (const Constraint& constraint : domain.constraints) domain.facts.add(constraint);
    return domain;
  }
};

RuleSizes sizes_of(const Rule& rule, const Assignment& found) {
  const DimBinding binding = bind_sizes(found);
  RuleSizes sizes;
  for (const PatternInput& input : rule.inputs) {
    Shape shape;
    for (int axis = 0; axis < input.rank; ++axis) shape.append(*binding(SizeVar::axis(input.name, axis)));
    sizes.shapes.push_back(std::move(shape));
  }
  for (const SizeVar name : match_variables(rule)) sizes.extra.emplace_back(name, *binding(name));
  return sizes;
}

}  // namespace

void find_example(Rule& rule) {
  rule.example.clear();
  rule.example_sizes.clear();
  const auto domain = Domain::of(rule);
  if (!domain) return;
  const auto found = search(size_variables(rule), domain->facts, domain->constraints);
  if (!found) return;
  RuleSizes sizes = sizes_of(rule, *found);
  rule.example = std::move(sizes.shapes);
  rule.example_sizes = std::move(sizes.extra);
}

std::vector<RuleSizes> small_sizes(const Rule& rule, std::size_t count) {
  const std::vector<SizeVar> names = size_variables(rule);
  std::vector<Assignment> found;
  if (const auto domain = Domain::of(rule)) {
    const std::vector<Constraint>& constraints = domain->constraints;
    const auto add = [&](auto choose) {
      auto sizes = assign(names, domain->facts, constraints,
                          [&](std::size_t i, SizeVar name) { return choose(i) * divisor_of(name, constraints); });
      if (sizes && std::ranges::find(found, *sizes) == found.end()) found.push_back(*std::move(sizes));
    };
    add([](std::size_t i) { return 2 + static_cast<std::int64_t>(i % 2); });
    add([](std::size_t i) { return 3 - static_cast<std::int64_t>(i % 2); });
    Random random(0);
    for (std::uint64_t draw = 0; draw < kFewDraws && found.size() < count; ++draw)
      add([&](std::size_t) { return random.between(1, 3 + static_cast<std::int64_t>(draw / 20)); });
  }
  std::vector<RuleSizes> sizes;
  for (std::size_t i = 0; i < std::min(found.size(), count); ++i) sizes.push_back(sizes_of(rule, found[i]));
  if (sizes.empty() && rule.example.size() == rule.inputs.size()) sizes.push_back({rule.example, rule.example_sizes});
  return sizes;
}

}  // namespace rewright
