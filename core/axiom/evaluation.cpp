#include "axiom/evaluation.h"

#include <rewright/operator/map_sizes.h>

#include <algorithm>
#include <cfenv>
#include <cmath>

namespace rewright {
namespace {

constexpr std::int64_t kMostElements = 1'000'000;

/// A small number of quarters times a power of two: exact in every algebra that has it.
template <class Scalar>
Scalar scaled(std::uint64_t bits, Draw kind) {
  const auto number = static_cast<int>(bits % 19) - 9;
  constexpr bool kIsExact = std::is_same_v<Scalar, Exact>;
  const int lowest = kind == Draw::kScaled ? -4 : kIsExact ? -20 : -100, highest = kind == Draw::kScaled ? 8 : -lowest;
  const int exponent = lowest + static_cast<int>((bits >> 8) % static_cast<std::uint64_t>(highest - lowest + 1));
  if ((bits >> 32) % 16 == 0 && kind != Draw::kWidePositive) return Scalar::from_integer(0);
  const int whole = kind == Draw::kWidePositive ? std::abs(number) + 1 : number;
  return Scalar::from_double(std::ldexp(static_cast<double>(whole) / 4, exponent));
}

template <class Scalar>
void draw_all(TermBuffer<Scalar>& tensor, Draw kind, std::uint64_t seed) {
  std::vector<Scalar>& values = tensor.values;
  const int rank = tensor.shape.rank();
  const auto columns = rank == 0 ? std::size_t{1} : static_cast<std::size_t>(tensor.shape[rank - 1]);
  const bool quarters = kind == Draw::kQuarters || kind == Draw::kNegative;
  const Scalar quarter = quarters ? Scalar::from_integer(1) / Scalar::from_integer(4) : Scalar{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = mix(seed + (kind == Draw::kEqualRows ? i % columns : i));
    const auto number = static_cast<std::int64_t>(bits % 19);
    switch (kind) {
      case Draw::kWhole:
        if constexpr (std::is_same_v<Scalar, Field>) {
          values[i] = Field::from_residue((bits >> 3) % Field::kPrime);
          break;
        }
        [[fallthrough]];
      case Draw::kSmall: values[i] = Scalar::from_integer(number - 9); break;
      case Draw::kQuarters: values[i] = Scalar::from_integer(number - 9) * quarter; break;
      case Draw::kNegative: values[i] = Scalar::from_integer(-1 - number) * quarter; break;
      case Draw::kSigns: values[i] = Scalar::from_integer(number % 3 - 1); break;
      case Draw::kMostlyNegative:
      case Draw::kEqualRows: values[i] = Scalar::from_integer((bits >> 8) % 4 != 0 ? -1 : number % 5); break;
      case Draw::kScaled:
      case Draw::kWide:
      case Draw::kWidePositive: values[i] = scaled<Scalar>(bits, kind); break;
    }
  }
}

bool same(Field a, Field b) { return a == b; }
bool same(const Exact& a, const Exact& b) { return a == b; }
/// Sums in another order differ by rounding alone.
bool same(Real a, Real b) {
  if (std::isnan(a.value) || std::isnan(b.value)) return std::isnan(a.value) && std::isnan(b.value);
  if (std::isinf(a.value) || std::isinf(b.value)) return a.value == b.value;
  return std::abs(a.value - b.value) <= 1e-9 * std::max({1.0, std::abs(a.value), std::abs(b.value)});
}

bool is_number(Field) { return true; }
bool is_number(const Exact& value) { return value.defined(); }
bool is_number(Real value) { return !std::isnan(value.value); }

/// Moves each element to one of its neighbours, or leaves it: two elements that were rounded alike no longer are.
void perturb(std::vector<Real>& values, Random& random) {
  for (Real& value : values) {
    const std::uint64_t choice = random.bits() % 3;
    if (choice == 0 || value.value == 0) continue;
    value.value = std::nextafter(value.value, choice == 1 ? HUGE_VAL : -HUGE_VAL);
  }
}

/// Puts the rounding of this thread back.
struct RoundingRestored {
  RoundingRestored() = default;
  ~RoundingRestored() { std::fesetround(mode); }
  RoundingRestored(const RoundingRestored&) = delete;
  RoundingRestored& operator=(const RoundingRestored&) = delete;
  int mode = std::fegetround();
};

bool same_application(const AxiomProgram::Step& a, const AxiomProgram::Step& b) {
  return a.op == b.op && a.variable == b.variable && a.operands == b.operands && a.params == b.params;
}

/// One value for each size variable: to ask for traits, which sizes do not change.
std::optional<Params> numbers_for(const SymbolicParams& params) {
  return evaluate(params, [](SizeVar) { return std::optional<std::int64_t>(1); });
}

}  // namespace

// --- the program -------------------------------------------------------------------------------------------------

AxiomProgram::AxiomProgram(const TypedAxiom& axiom, std::span<const SizeVar> names) {
  std::vector<std::pair<std::size_t, std::size_t>> place;  // Of each term: step and output.
  std::vector<std::vector<SymbolicShape>> shapes;          // Of each step.
  for (const TypedTerm& term : axiom.terms) {
    Step step;
    step.variable = term.variable;
    step.op = term.op;
    step.params = term.params;
    std::vector<SymbolicShape> in;
    for (const std::uint32_t operand : term.operands) {
      step.operands.push_back(place[operand]);
      in.push_back(shapes[place[operand].first][place[operand].second]);
    }
    const auto known = std::ranges::find_if(steps_, [&](const Step& other) { return same_application(step, other); });
    if (known != steps_.end()) {
      place.emplace_back(static_cast<std::size_t>(known - steps_.begin()), term.output);
      continue;
    }
    std::vector<SymbolicShape> out = {term.shape};
    if (term.op) {
      Constraints<SymbolicDim> where;
      auto inferred = term.op->infer(term.params, in, where);
      if (!inferred) fail("a typed axiom lost its shapes: " + inferred.error().message);
      out = *std::move(inferred);
      if (const auto params = numbers_for(term.params)) {
        const Traits traits = term.op->traits(*params);
        step.multilinear = traits.multilinear;
        uses_order_ |= traits.uses_order;
        uses_functions_ |= traits.uses_functions;
      }
      bool fixed = true;
      for (const auto& value : term.params.values()) {
        step.size_lists.emplace_back();
        const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value);
        if (!sizes) continue;
        fixed = false;
        for (const SymbolicDim& dim : sizes->values) step.size_lists.back().push_back(size_code(dim, names));
      }
      if (fixed) step.fixed_params = numbers_for(term.params);
    }
    for (const SymbolicShape& shape : out) {
      Output output;
      for (const SymbolicDim& dim : shape) output.shape.push_back(size_code(dim, names));
      step.outputs.push_back(std::move(output));
    }
    shapes.push_back(std::move(out));
    place.emplace_back(steps_.size(), term.output);
    steps_.push_back(std::move(step));
  }
  left_ = place[axiom.left];
  right_ = place[axiom.right];
}

double AxiomProgram::degree(double elements) const {
  std::vector<double> degrees;
  for (const Step& step : steps_) {
    double degree = step.variable ? 1 : 0;
    for (const auto& [operand, output] : step.operands) degree += degrees[operand];
    // A sum of quotients multiplies their denominators; a power multiplies the degree.
    if (!step.variable && !step.multilinear) {
      double factor = 1;
      for (const auto& value : step.params.values()) {
        if (const auto* number = std::get_if<std::int64_t>(&value); number && step.operands.size() == 1)
          factor = std::max(factor, std::abs(static_cast<double>(*number)));
      }
      degree *= factor * (step.operands.size() > 1 ? 1 : elements);
    }
    degrees.push_back(degree);
  }
  return degrees[left_.first] + degrees[right_.first];
}

// --- values ------------------------------------------------------------------------------------------------------

template <class Scalar>
TermValues<Scalar>::TermValues(const AxiomProgram& program) : program_(program) {
  for (const AxiomProgram::Step& step : program.steps()) {
    auto& outputs = values_.emplace_back();
    for (const AxiomProgram::Output& output : step.outputs)
      outputs.push_back({Shape(std::vector<std::int64_t>(output.shape.size(), 0)), {}});
  }
}

template <class Scalar>
bool TermValues<Scalar>::size_outputs(std::size_t at, std::span<const std::int64_t> sizes) {
  const AxiomProgram::Step& step = program_.steps()[at];
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    TermBuffer<Scalar>& tensor = values_[at][i];
    std::int64_t elements = 1;
    for (std::size_t axis = 0; axis < step.outputs[i].shape.size(); ++axis) {
      const auto size = step.outputs[i].shape[axis].value(sizes);
      if (!size || *size < 0) return false;
      tensor.shape[static_cast<int>(axis)] = *size;
      if (__builtin_mul_overflow(elements, *size, &elements) || elements > kMostElements) return false;
    }
    tensor.values.assign(static_cast<std::size_t>(elements), Scalar{});
  }
  return true;
}

template <class Scalar>
bool TermValues<Scalar>::apply(std::size_t at, std::span<const std::int64_t> sizes) {
  const AxiomProgram::Step& step = program_.steps()[at];
  in_.clear();
  out_.clear();
  for (const auto& [operand, output] : step.operands)
    in_.emplace_back(values_[operand][output].values.data(), values_[operand][output].shape);
  for (TermBuffer<Scalar>& tensor : values_[at]) out_.emplace_back(tensor.values.data(), tensor.shape);
  if (step.fixed_params) {
    step.op->evaluate(*step.fixed_params, in_, out_);
    return true;
  }
  std::vector<ParamValue> values;
  bool known = true;
  for (std::size_t i = 0; i < step.size_lists.size(); ++i) {
    std::size_t next = 0;
    values.push_back(map_sizes(step.params[i], [&](const SymbolicDim&) {
      const auto value = step.size_lists[i][next++].value(sizes);
      known = known && value.has_value();
      return value.value_or(0);
    }));
  }
  if (!known) return false;
  step.op->evaluate(Params(std::move(values)), in_, out_);
  return true;
}

template <class Scalar>
bool TermValues<Scalar>::run(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed) {
  return run_steps(sizes, draw, seed, nullptr);
}
template <class Scalar>
bool TermValues<Scalar>::run_rounded(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed,
                                     Random& modes) {
  const RoundingRestored restored;
  return run_steps(sizes, draw, seed, &modes);
}

template <class Scalar>
bool TermValues<Scalar>::run_steps(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed, Random* modes) {
  static const std::vector<int> kModes = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  for (std::size_t at = 0; at < values_.size(); ++at) {
    if (!size_outputs(at, sizes)) return false;
    if (const auto variable = program_.steps()[at].variable) {
      draw_all(values_[at][0], draw, mix(seed + *variable * 7919));
      continue;
    }
    if (modes != nullptr) std::fesetround(modes->pick(kModes));
    if (!apply(at, sizes)) return false;
    if constexpr (std::is_same_v<Scalar, Real>) {
      for (TermBuffer<Real>& tensor : values_[at])
        if (modes != nullptr) perturb(tensor.values, *modes);
    }
  }
  return true;
}

template <class Scalar>
const TermBuffer<Scalar>& TermValues<Scalar>::value(std::pair<std::size_t, std::size_t> at) const {
  return values_[at.first][at.second];
}

template <class Scalar>
bool TermValues<Scalar>::equal() const {
  const TermBuffer<Scalar>&left = value(program_.left()), &right = value(program_.right());
  return left.shape == right.shape &&
         std::ranges::equal(left.values, right.values, [](const Scalar& a, const Scalar& b) { return same(a, b); });
}

template <class Scalar>
bool TermValues<Scalar>::defined() const {
  const auto& values = value(program_.left()).values;
  return values.empty() || std::ranges::any_of(values, [](const Scalar& value) { return is_number(value); });
}

template <class Scalar>
std::int64_t TermValues<Scalar>::input_elements() const {
  std::int64_t total = 0;
  for (std::size_t at = 0; at < values_.size(); ++at) {
    if (program_.steps()[at].variable) total += std::ssize(values_[at][0].values);
  }
  return total;
}

template <class Scalar>
std::int64_t TermValues<Scalar>::greatest_tensor() const {
  std::ptrdiff_t greatest = 1;
  for (const auto& outputs : values_) {
    for (const TermBuffer<Scalar>& tensor : outputs) greatest = std::max(greatest, std::ssize(tensor.values));
  }
  return greatest;
}

template class TermValues<Field>;
template class TermValues<Exact>;
template class TermValues<Real>;

}  // namespace rewright
