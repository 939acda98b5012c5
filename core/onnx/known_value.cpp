#include "onnx/known_value.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "onnx/element.h"

namespace rewright::model {
namespace {

/// The least and the greatest integer of a type.
std::pair<std::int64_t, std::int64_t> range_of(ElementType type) {
  switch (type) {
    case ElementType::kBool: return {0, 1};
    case ElementType::kUint8: return {0, 255};
    case ElementType::kInt8: return {-128, 127};
    case ElementType::kUint16: return {0, 65535};
    case ElementType::kInt16: return {-32768, 32767};
    case ElementType::kUint32: return {0, std::numeric_limits<std::uint32_t>::max()};
    case ElementType::kInt32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default: return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
}

}  // namespace

bool is_integer(ElementType type) {
  switch (type) {
    case ElementType::kBool:
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kInt64: return true;
    default: return false;
  }
}

bool is_real(ElementType type) { return type == ElementType::kFloat32 || type == ElementType::kFloat64; }

Result<std::int64_t> in_range(std::int64_t value, ElementType type) {
  const auto [least, greatest] = range_of(type);
  if (value < least || value > greatest)
    return wrong("{} is out of the range of its element type, {} to {}", value, least, greatest);
  return value;
}

double rounded(double value, ElementType type) {
  return type == ElementType::kFloat32 ? static_cast<double>(static_cast<float>(value)) : value;
}

Result<Value> read_value(const ConstantData& constant) {
  const ElementType element = constant.type.element;
  if (!is_integer(element) && !is_real(element)) return unsupported("it has an element type that is not computed with");
  const std::int64_t count = constant.type.shape.elements();
  if (count > kMostKnownElements) return unsupported("it has {} elements", count);
  const std::vector<std::byte> bytes = bytes_of(constant);
  const std::size_t size = element_size(element);
  if (bytes.size() != static_cast<std::size_t>(count) * size) return unsupported("it is cut short");
  Value value{constant.type, {}};
  if (is_real(element)) {
    Reals reals;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      reals.push_back(read_element(element, bytes.data() + i * size));
    value.elements = std::move(reals);
    return value;
  }
  Integers integers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    std::int64_t integer = 0;
    if (element == ElementType::kInt64) {
      std::memcpy(&integer, bytes.data() + i * size, size);
    } else {
      integer = static_cast<std::int64_t>(read_element(element, bytes.data() + i * size));
    }
    integers.push_back(element == ElementType::kBool ? static_cast<std::int64_t>(integer != 0) : integer);
  }
  value.elements = std::move(integers);
  return value;
}

ConstantData to_constant(const Value& value) {
  if (value.is_real()) return {value.type, encode(value.type.element, value.reals())};
  if (value.type.element == ElementType::kInt64) return integers_of_shape(value.type.shape, value.integers());
  return {value.type, encode(value.type.element, Reals(value.integers().begin(), value.integers().end()))};
}

Integers dims_of(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

Result<Shape> shape_of(const Integers& dims) {
  const auto count = checked_elements(dims);
  if (!count || dims.size() > kMaxRank) return wrong("its shape would be ({})", fmt::join(dims, ", "));
  if (*count > kMostKnownElements) return unsupported("it would have {} elements", *count);
  return Shape(dims);
}

Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return wrong("axis {} is none of rank {}", axis, rank);
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

Integers strides_of(const Integers& dims) {
  Integers strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Value taken(const Value& from, const Shape& shape, const std::vector<std::size_t>& places) {
  Value value{{shape, from.type.element}, {}};
  std::visit(
      [&](const auto& elements) {
        std::decay_t<decltype(elements)> chosen;
        for (const std::size_t place : places) chosen.push_back(elements[place]);
        value.elements = std::move(chosen);
      },
      from.elements);
  return value;
}

void for_each_index(const Integers& dims, const std::function<void(const Integers&)>& visit) {
  if (std::ranges::find(dims, 0) != dims.end()) return;
  Integers index(dims.size(), 0);
  while (true) {
    visit(index);
    std::size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

Result<Integers> broadcast(const Integers& a, const Integers& b) {
  Integers joint(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < joint.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1, right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1)
      return wrong("shapes ({}) and ({}) do not fit", fmt::join(a, ", "), fmt::join(b, ", "));
    joint[joint.size() - 1 - i] = left == 1 ? right : left;
  }
  return joint;
}

Result<Value> expanded(const Value& from, const Integers& dims) {
  REWRIGHT_TRY(const Shape shape, shape_of(dims));
  const Integers own = dims_of(from.type.shape), strides = strides_of(own);
  std::vector<std::size_t> places;
  for_each_index(dims, [&](const Integers& index) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] != 1) place += strides[i] * index[dims.size() - own.size() + i];
    places.push_back(static_cast<std::size_t>(place));
  });
  return taken(from, shape, places);
}

Result<Values> only(Value value) {
  Values values;
  values.push_back(std::move(value));
  return values;
}

}  // namespace rewright::model
