#include "rule/example.h"

#include <rewright/linear.h>
#include "rule/canonical.h"

#include <algorithm>

namespace rewright {

namespace {

using Assignment = std::vector<std::pair<std::string, std::int64_t>>;

constexpr std::int64_t kLargest = 64;

std::vector<std::string> size_variables(const Rule& rule) {
  std::vector<std::string> names;
  for (const PatternInput& input : rule.inputs) {
    for (int axis = 0; axis < input.rank; ++axis) names.push_back(fmt::format("{}.{}", input.name, axis));
  }
  for (std::string& name : match_variables(rule)) names.push_back(std::move(name));
  return names;
}

// Free variables get `choose(i)` in order, the others what the equations say; nothing where that breaks a constraint.
template <class Choose>
std::optional<Assignment> assign(const std::vector<std::string>& names, const SizeSystem& facts,
                                 const std::vector<Constraint>& constraints, Choose choose) {
  Assignment free;
  for (const std::string& name : names) {
    if (!facts.solved().contains(name)) free.emplace_back(name, choose(free.size()));
  }
  const DimBinding chosen = bind_sizes(free);
  Assignment all;
  for (const std::string& name : names) {
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

// Unequal sizes first; then pseudo-random ones (splitmix64), from a range that grows.
std::optional<Assignment> search(const std::vector<std::string>& names, const SizeSystem& facts,
                                 const std::vector<Constraint>& constraints) {
  for (const std::int64_t first : {2, 3, 1}) {
    const auto found =
        assign(names, facts, constraints, [&](std::size_t i) { return first + static_cast<std::int64_t>(i % 6); });
    if (found) return found;
  }
  std::uint64_t state = 0;
  for (std::uint64_t attempt = 0; attempt < 600; ++attempt) {
    const auto found = assign(names, facts, constraints, [&](std::size_t) {
      state += 0x9e3779b97f4a7c15;
      std::uint64_t bits = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
      bits ^= bits >> 27;
      return 1 + static_cast<std::int64_t>(bits % (4 + attempt / 100));
    });
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

void find_example(Rule& rule) {
  rule.example.clear();
  rule.example_sizes.clear();
  auto source = infer_shapes(rule.inputs, rule.source);
  if (!source) return;
  std::vector<Constraint> constraints = std::move(source->defined);
  constraints.insert(constraints.end(), rule.precondition.begin(), rule.precondition.end());
  SizeSystem facts(size_order(rule));
  for (const Constraint& constraint : constraints) facts.add(constraint);

  const auto found = search(size_variables(rule), facts, constraints);
  if (!found) return;
  const DimBinding binding = bind_sizes(*found);
  for (const PatternInput& input : rule.inputs) {
    Shape shape;
    for (int axis = 0; axis < input.rank; ++axis) shape.append(*binding(fmt::format("{}.{}", input.name, axis)));
    rule.example.push_back(std::move(shape));
  }
  for (std::string& name : match_variables(rule)) {
    const std::int64_t value = *binding(name);
    rule.example_sizes.emplace_back(std::move(name), value);
  }
}

}  // namespace rewright
