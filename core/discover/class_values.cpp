#include "discover/class_values.h"

#include <rewright/base/mixing.h>
#include <rewright/operator/map_sizes.h>
#include <rewright/tensor/scalar.h>
#include <rewright/tensor/tensor.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace rewright {

using namespace egraph;

// --- sizes -----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kMostTried = 3000, kMostFound = 32;
constexpr std::int64_t kMostElements = 4096;

std::size_t distinct(const SizeAssignment& sizes) {
  std::set<std::int64_t> values;
  for (const auto& [name, size] : sizes) values.insert(size);
  return values.size();
}

SizeAssignment example_of(const Rule& rule, std::span<const SizeVar> names) {
  const DimBinding sizes = bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes));
  SizeAssignment example;
  for (const SizeVar name : names) {
    if (const auto size = sizes(name)) example.emplace(name, *size);
  }
  return example;
}

}  // namespace

std::vector<SizeAssignment> sizes_to_try(const Rule& rule, std::span<const SizeVar> names, std::size_t most) {
  const auto source = infer_shapes(rule.inputs, rule.source), target = infer_shapes(rule.inputs, rule.target);
  if (!source || !target) return {};
  std::vector<Constraint> constraints = rule.precondition;
  constraints.insert(constraints.end(), source->defined.begin(), source->defined.end());
  constraints.insert(constraints.end(), target->defined.begin(), target->defined.end());
  std::vector<SizeAssignment> found;
  for_each_solution(
      names, constraints, 1, 3,
      [&](const SizeAssignment& sizes) {
        found.push_back(sizes);
        return found.size() < kMostFound;
      },
      kMostTried);
  if (found.size() < most && !rule.example.empty()) found.push_back(example_of(rule, names));
  std::ranges::stable_sort(found, std::greater(), distinct);
  if (found.size() > most) found.resize(most);
  return found;
}

// --- values ----------------------------------------------------------------------------------------------------------

namespace {

enum class Algebra : std::uint8_t { kField, kExact, kReal };

Params params_at(const GraphView& view, egraph::NodeId node, const DimBinding& sizes) {
  std::vector<ParamValue> values;
  std::size_t next = 0;
  for (const ValueId id : view.heads[view.graph.head(node)].params) {
    values.push_back(map_sizes(view.heads(id), [&](std::int64_t) {
      return view.sizes.symbolic(view.graph.sizes(node)[next++], view.names).evaluate(sizes).value_or(-1);
    }));
  }
  return Params(std::move(values));
}

/// The one in which all terms can be compared.
Algebra algebra_of(const GraphView& view, std::span<const Params> params) {
  Algebra algebra = Algebra::kField;
  for (egraph::NodeId node = 0; node < view.graph.size(); ++node) {
    if (view.graph.is_input(node)) continue;
    const Traits traits = view.heads[view.graph.head(node)].op->traits(params[node]);
    if (traits.uses_functions) return Algebra::kReal;
    if (traits.uses_order) algebra = Algebra::kExact;
  }
  return algebra;
}

/// Point 0: the whole field; small integers elsewhere. Point 1: quarters, mostly negative. Point 2: positive quarters.
template <class Scalar>
Scalar drawn(std::uint64_t bits, int point) {
  if constexpr (std::is_same_v<Scalar, Field>) {
    return Field::from_residue((bits >> 3) % Field::kPrime);
  } else {
    const auto number = static_cast<std::int64_t>(bits % 9);
    if (point == 0) return Scalar::from_integer(number - 4);
    return Scalar::from_integer(point == 1 ? number - 6 : number + 1) / Scalar::from_integer(4);
  }
}

bool same(Field a, Field b) { return a == b; }
bool same(Exact a, Exact b) { return a == b; }
bool same(Real a, Real b) { return std::abs(a.value - b.value) <= 1e-6 * (1 + std::abs(a.value) + std::abs(b.value)); }

bool is_number(Field) { return true; }
bool is_number(Exact value) { return value.defined(); }
bool is_number(Real value) { return std::isfinite(value.value); }

std::string text_of(Field value) { return fmt::format("{} (mod 2^61 - 1)", value.to_signed()); }
std::string text_of(Exact value) { return to_string(value); }
std::string text_of(Real value) { return fmt::format("{}", value.value); }

}  // namespace

/// The values of all nodes at one point.
class ClassValues::Values {
 public:
  virtual ~Values() = default;
  [[nodiscard]] virtual bool known(egraph::NodeId node) const = 0;
  /// Empty where they do not differ, as far as both are known.
  [[nodiscard]] virtual std::string difference(egraph::NodeId a, egraph::NodeId b) const = 0;
};

template <class Scalar>
class ClassValues::ValuesOver final : public Values {
 public:
  ValuesOver(const GraphView& view, std::span<const Params> params, const DimBinding& sizes, std::uint64_t seed,
             int point)
      : view_(view), values_(view.graph.size()) {
    for (egraph::NodeId node = 0; node < view.graph.size(); ++node) {
      if (view.graph.is_input(node))
        draw(node, sizes, seed, point);
      else
        apply(node, params[node]);
    }
  }
  bool known(egraph::NodeId node) const override { return values_[node].state != State::kUnknown; }
  std::string difference(egraph::NodeId a, egraph::NodeId b) const override {
    const Tensor &left = values_[a], &right = values_[b];
    if (!known(a) || !known(b)) return "";
    if (left.state != right.state)
      return fmt::format("the {} term is not defined", left.state == State::kUndefined ? "first" : "second");
    if (left.shape != right.shape)
      return fmt::format("the shapes {} and {} differ", to_string(left.shape), to_string(right.shape));
    for (std::size_t i = 0; i < left.elements.size(); ++i) {
      if (!same(left.elements[i], right.elements[i]))
        return fmt::format("element {} of {} is {} and {}", i, to_string(left.shape), text_of(left.elements[i]),
                           text_of(right.elements[i]));
    }
    return "";
  }

 private:
  /// Unknown is what is too large, or rests on a logarithm of -1: axioms speak of numbers.
  enum class State : std::uint8_t { kDefined, kUndefined, kUnknown };
  struct Tensor {
    State state = State::kDefined;
    Shape shape;
    std::vector<Scalar> elements;
  };

  void draw(egraph::NodeId node, const DimBinding& sizes, std::uint64_t seed, int point) {
    Tensor& tensor = values_[node];
    for (const DimId dim : view_.graph.shape(node))
      tensor.shape.append(view_.sizes.symbolic(dim, view_.names).evaluate(sizes).value_or(0));
    const std::uint64_t start = mix(mix(seed + static_cast<std::uint64_t>(point)) + view_.graph.input_index(node));
    for (std::int64_t i = 0; i < tensor.shape.elements(); ++i)
      tensor.elements.push_back(drawn<Scalar>(mix(start + static_cast<std::uint64_t>(i)), point));
  }

  void apply(egraph::NodeId node, const Params& params) {
    Tensor& result = values_[node];
    const Head& head = view_.heads[view_.graph.head(node)];
    std::vector<Shape> in_shapes;
    std::vector<TensorView<const Scalar>> in;
    for (const egraph::NodeId operand : view_.graph.operands(node)) {
      const Tensor& tensor = values_[operand];
      result.state = std::max(result.state, tensor.state);
      in_shapes.push_back(tensor.shape);
      in.emplace_back(tensor.elements.data(), tensor.shape);
    }
    if (result.state != State::kDefined) return;
    const auto shapes = head.op->infer(params, in_shapes);
    if (!shapes || head.output >= shapes->size()) {
      result.state = State::kUndefined;
      return;
    }
    std::vector<std::vector<Scalar>> outputs;
    std::vector<TensorView<Scalar>> out;
    for (const Shape& shape : *shapes) {
      if (shape.elements() > kMostElements) {
        result.state = State::kUnknown;
        return;
      }
      outputs.emplace_back(static_cast<std::size_t>(shape.elements()));
      out.emplace_back(outputs.back().data(), shape);
    }
    head.op->evaluate(params, Inputs<Scalar>(in), Outputs<Scalar>(out));
    result.shape = (*shapes)[head.output];
    result.elements = std::move(outputs[head.output]);
    if (!std::ranges::all_of(result.elements, [](Scalar value) { return is_number(value); }))
      result.state = State::kUnknown;
  }

  const GraphView& view_;
  std::vector<Tensor> values_;
};

ClassValues::ClassValues(const GraphView& view, const SizeAssignment& place, std::uint64_t seed) {
  const DimBinding sizes = [&](SizeVar name) -> std::optional<std::int64_t> {
    const auto found = place.find(name);
    if (found == place.end()) return std::nullopt;
    return found->second;
  };
  std::vector<Params> params(view.graph.size());
  for (egraph::NodeId node = 0; node < view.graph.size(); ++node) {
    if (!view.graph.is_input(node)) params[node] = params_at(view, node, sizes);
  }
  switch (algebra_of(view, params)) {
    case Algebra::kField: points_.push_back(std::make_unique<ValuesOver<Field>>(view, params, sizes, seed, 0)); break;
    case Algebra::kExact:
      for (const int point : {0, 1})
        points_.push_back(std::make_unique<ValuesOver<Exact>>(view, params, sizes, seed, point));
      break;
    case Algebra::kReal:
      for (const int point : {0, 1, 2})
        points_.push_back(std::make_unique<ValuesOver<Real>>(view, params, sizes, seed, point));
      break;
  }
  for (const auto& values : points_) {
    std::vector<egraph::NodeId> first(view.graph.size(), kNoId);  // By root of the class.
    for (egraph::NodeId node = 0; node < view.graph.size(); ++node) {
      if (!values->known(node)) continue;
      egraph::NodeId& leader = first[view.graph.find(node)];
      if (leader == kNoId) {
        leader = node;
        continue;
      }
      ++pairs_;
      if (!differing_ && !values->difference(leader, node).empty()) differing_.emplace(leader, node);
    }
  }
}
ClassValues::~ClassValues() = default;

bool ClassValues::agree(egraph::NodeId a, egraph::NodeId b) const {
  return std::ranges::all_of(points_, [&](const auto& values) { return values->difference(a, b).empty(); });
}

std::string ClassValues::difference(std::pair<egraph::NodeId, egraph::NodeId> pair) const {
  for (const auto& values : points_) {
    if (std::string difference = values->difference(pair.first, pair.second); !difference.empty()) return difference;
  }
  return "they do not differ";
}

}  // namespace rewright
