#include "interchange/taso_generalise.h"

#include <rewright/tensor/linear.h>

#include <algorithm>
#include <array>
#include <set>

#include "rule/canonical.h"
#include "rule/conditions.h"

namespace rewright::taso_format {
namespace {

/// Sizes of 2 to 4, of which those that equations decide may be others.
std::vector<SizeAssignment> draw_sizes(const std::vector<SizeVar>& variables,
                                       const std::vector<Constraint>& constraints, std::size_t count) {
  std::vector<SizeAssignment> drawn;
  const SizeSystem system(constraints);
  std::uint64_t state = 1;
  for (int attempt = 0; attempt < 300 && drawn.size() < count; ++attempt) {
    SizeAssignment sizes;
    const DimBinding binding = [&](SizeVar name) -> std::optional<std::int64_t> {
      const auto found = sizes.find(name);
      if (found == sizes.end()) return std::nullopt;
      return found->second;
    };
    for (const SizeVar name : variables) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      if (!system.solved().contains(name)) sizes[name] = 2 + static_cast<std::int64_t>((state >> 33) % 3);
    }
    bool fits = true;
    for (const auto& [name, form] : system.solved()) {
      const auto value = form.evaluate(binding);
      fits = fits && value && *value >= 1 && *value <= 64;
      sizes[name] = value.value_or(0);
    }
    if (fits && std::ranges::all_of(constraints, [&](const Constraint& c) { return c.holds(binding).value_or(false); }))
      drawn.push_back(std::move(sizes));
  }
  return drawn;
}

/// Those of the inputs, and those that the sides' parameters name.
std::vector<SizeVar> size_variables(std::span<const PatternInput> inputs, std::span<const Side* const> sides) {
  std::set<SizeVar> names;
  for (const PatternInput& input : inputs) {
    for (int axis = 0; axis < input.rank; ++axis) names.insert(SizeVar::axis(input.name, axis));
  }
  for (const Side* side : sides) {
    for (const PatternNode& node : side->pattern.nodes) {
      for (const auto& value : node.params.values()) {
        const auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
        if (!list) continue;
        for (const SymbolicDim& size : list->values) {
          for (const SizeVar name : size.variables()) names.insert(name);
        }
      }
    }
  }
  return {names.begin(), names.end()};
}

std::optional<SizeAssignment> find_sizes(std::span<const PatternInput> inputs, const Side& source, const Side& target,
                                         const std::vector<Constraint>& constraints) {
  const std::array<const Side*, 2> sides = {&source, &target};
  const std::vector<SizeVar> variables = size_variables(inputs, sides);
  if (auto drawn = draw_sizes(variables, constraints, 1); !drawn.empty()) return std::move(drawn.front());
  std::optional<SizeAssignment> found;
  for_each_solution(
      variables, constraints, 1, 6,
      [&](const SizeAssignment& sizes) {
        found = sizes;
        return false;
      },
      100'000);
  return found;
}

/// Outputs per group are as many in each of the source's convolutions: what most laws of groups need. Nothing where all
/// convolutions have one group.
std::vector<Constraint> even_groups(const Side& source, const Side& target) {
  const auto has_groups = [](const Side& side) {
    return std::ranges::any_of(side.convolutions, [](const auto& conv) { return conv.second > 1; });
  };
  std::vector<Constraint> even;
  if (source.convolutions.empty() || (!has_groups(source) && !has_groups(target))) return even;
  const auto& [first, of_first] = source.convolutions.front();
  for (const auto& [channels, groups] : source.convolutions)
    even.push_back({Constraint::Kind::kEqual, channels * SymbolicDim(of_first), first * SymbolicDim(groups)});
  return even;
}

/// Kernel sizes that the file asks for, as conditions, where the weight is an input.
Result<Rule> with_kernels(Rule rule, const std::vector<Constraint>& kernels) {
  std::vector<Constraint> wanted;
  for (const Constraint& kernel : kernels) {
    if (kernel.decided()) continue;  // It holds: the sizes that were found meet all of them.
    const auto names = kernel.left.variables();
    const bool of_inputs = std::ranges::all_of(names, [&](SizeVar size) {
      return size.is_axis() && std::ranges::find(rule.inputs, size.tensor(), &PatternInput::name) != rule.inputs.end();
    });
    if (of_inputs) wanted.push_back(kernel);
  }
  if (wanted.empty()) return rule;
  wanted.insert(wanted.end(), rule.precondition.begin(), rule.precondition.end());
  REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule.inputs, rule.source));
  REWRIGHT_TRY(rule.precondition, missing_conditions(source.defined, wanted, size_order(rule)));
  rule.id = rule_id(rule);
  rule.name = rule_name(rule);
  return rule;
}

}  // namespace

std::vector<SizeAssignment> source_sizes(std::span<const PatternInput> inputs, const Side& source, std::size_t count) {
  std::vector<Constraint> constraints = source.defined;
  constraints.insert(constraints.end(), source.kernels.begin(), source.kernels.end());
  const std::array<const Side*, 1> sides = {&source};
  return draw_sizes(size_variables(inputs, sides), constraints, count);
}

Result<Rule> make_rule(std::span<const PatternInput> inputs, const Side& source, const Side& target) {
  const std::vector<Constraint>& kernels = source.kernels;
  std::vector<Constraint> all = source.defined;
  all.insert(all.end(), target.defined.begin(), target.defined.end());
  all.insert(all.end(), kernels.begin(), kernels.end());
  for (std::size_t k = 0; k < source.pattern.outputs.size(); ++k) {
    const Port s = source.pattern.outputs[k], t = target.pattern.outputs[k];
    const SymbolicShape &left = source.shapes[s.node.value][s.output], &right = target.shapes[t.node.value][t.output];
    if (left.rank() != right.rank())
      return make_error(ErrorCode::kShape, "output {} has rank {} in the source and {} in the target", k, left.rank(),
                        right.rank());
    for (int axis = 0; axis < left.rank(); ++axis) all.push_back({Constraint::Kind::kEqual, left[axis], right[axis]});
  }
  // A prover looks for conditions that hold at these sizes; so where it can be, they are met.
  std::vector<Constraint> preferred = even_groups(source, target);
  preferred.insert(preferred.end(), all.begin(), all.end());
  auto sizes = preferred.size() > all.size() ? find_sizes(inputs, source, target, preferred) : std::nullopt;
  if (!sizes) sizes = find_sizes(inputs, source, target, all);
  if (!sizes) return make_error(ErrorCode::kShape, "no small sizes were found at which both sides are defined");
  std::vector<Shape> shapes;
  for (const PatternInput& input : inputs) {
    Shape shape;
    for (int axis = 0; axis < input.rank; ++axis) shape.append(sizes->at(SizeVar::axis(input.name, axis)));
    shapes.push_back(std::move(shape));
  }
  const DimBinding binding = [&](SizeVar name) -> std::optional<std::int64_t> {
    const auto found = sizes->find(name);
    if (found == sizes->end()) return std::nullopt;
    return found->second;
  };
  REWRIGHT_TRY(const Graph left, instantiate(inputs, source.pattern, shapes, binding));
  REWRIGHT_TRY(const Graph right, instantiate(inputs, target.pattern, shapes, binding));
  Result<Rule> rule = generalise(left, right, FreeSizes::kVariable);
  if (!rule) rule = generalise(left, right, FreeSizes::kNumber);
  if (!rule) return rule;
  return with_kernels(*std::move(rule), kernels);
}

}  // namespace rewright::taso_format
