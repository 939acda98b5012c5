#include <rewright/hash_reduction.h>
#include <rewright/sum_of_products.h>

namespace rewright {

namespace {
// Splitmix64 (Steele, Lea & Flood, OOPSLA 2014).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
}  // namespace

HashPoint::HashPoint(std::uint64_t seed, std::int64_t largest) {
  std::uint64_t state = seed;
  for (std::vector<Field>& powers : powers_) {
    const Field base = Field::from_residue(next_random(state) % Field::kPrime);
    Field power = Field::from_integer(1);
    powers.reserve(static_cast<std::size_t>(largest));
    for (std::int64_t i = 0; i < largest; ++i) {
      powers.push_back(power);
      power = power * base;
    }
  }
}

std::vector<Field> HashPoint::weights(const Shape& shape) const {
  std::vector<Field> weights{Field::from_integer(1)};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    std::vector<Field> longer;
    longer.reserve(weights.size() * static_cast<std::size_t>(shape[axis]));
    for (const Field outer : weights) {
      for (std::int64_t i = 0; i < shape[axis]; ++i)
        longer.push_back(outer * powers(axis)[static_cast<std::size_t>(i)]);
    }
    weights = std::move(longer);
  }
  return weights;
}

Field HashPoint::hash(TensorView<const Field> value) const {
  if (value.rank() == 0) return value[0];
  const auto last = powers(value.rank() - 1);
  const std::int64_t length = value.size(value.rank() - 1);
  Shape outer;
  for (int axis = 0; axis + 1 < value.rank(); ++axis) outer.append(value.size(axis));
  const std::vector<Field> of_row = weights(outer);
  SumOfProducts<Field> sum;
  for (std::size_t row = 0; row < of_row.size(); ++row) {
    SumOfProducts<Field> of_elements;
    for (std::int64_t i = 0; i < length; ++i)
      of_elements.add(value[static_cast<std::int64_t>(row) * length + i], last[static_cast<std::size_t>(i)]);
    sum.add(of_elements.value(), of_row[row]);
  }
  return sum.value();
}

HashReduction::~HashReduction() = default;

}  // namespace rewright
