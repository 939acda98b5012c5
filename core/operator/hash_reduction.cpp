#include <rewright/base/mixing.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/tensor/sum_of_products.h>

namespace rewright {

HashPoint::HashPoint(std::uint64_t seed, std::int64_t largest) {
  Random random(seed);
  for (std::vector<Field>& powers : powers_) {
    const Field base = Field::from_residue(random.bits() % Field::kPrime);
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

namespace {
/// Of the axes from `axis` on; `value` moves on behind what is summed up.
Field hash_from(const HashPoint& point, const Shape& shape, int axis, const Field*& value) {
  const std::span<const Field> powers = point.powers(axis);
  const auto size = static_cast<std::size_t>(shape[axis]);
  SumOfProducts<Field> sum;
  if (axis + 1 == shape.rank()) {
    for (std::size_t i = 0; i < size; ++i) sum.add(*value++, powers[i]);
  } else {
    for (std::size_t i = 0; i < size; ++i) sum.add(hash_from(point, shape, axis + 1, value), powers[i]);
  }
  return sum.value();
}
}  // namespace

Field HashPoint::hash(TensorView<const Field> value) const {
  const Field* elements = value.data();
  return value.rank() == 0 ? *elements : hash_from(*this, value.shape(), 0, elements);
}

HashReduction::~HashReduction() = default;

}  // namespace rewright
