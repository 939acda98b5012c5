#include "onnx/known_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <variant>

#include "onnx/element.h"

namespace rewright::model {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// A tensor whose elements are integers (booleans are 0 and 1), or numbers with a fraction.
struct Value {
  TensorType type;
  std::variant<Integers, Reals> elements;

  [[nodiscard]] bool is_real() const { return std::holds_alternative<Reals>(elements); }
  [[nodiscard]] const Integers& integers() const { return std::get<Integers>(elements); }
  [[nodiscard]] const Reals& reals() const { return std::get<Reals>(elements); }
};

template <class... Arguments>
Error unsupported(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return make_error(ErrorCode::kUnsupported, "{}", fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// What no run could compute either, or would wrap.
template <class... Arguments>
Error wrong(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return make_error(ErrorCode::kShape, "{}", fmt::format(format, std::forward<Arguments>(arguments)...));
}

// --- elements ------------------------------------------------------------------------------------------------

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

// --- shapes --------------------------------------------------------------------------------------------------

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

/// The elements at these places, in row-major order of a shape.
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

Value reshaped(const Value& from, const Shape& shape) { return {{shape, from.type.element}, from.elements}; }

/// Calls `visit` with each index of a shape, in row-major order.
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

/// The value repeated to a shape that it broadcasts to.
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

// --- nodes ---------------------------------------------------------------------------------------------------

/// A node with its operands; what evaluators ask.
class Call {
 public:
  Call(const NodeProto& node, std::int64_t opset, std::span<const KnownOperand> operands)
      : node(node), opset(opset), operands_(operands) {}

  [[nodiscard]] const AttributeProto* attribute(std::string_view name) const {
    for (const AttributeProto& attribute : node.attribute())
      if (attribute.name() == name) return &attribute;
    return nullptr;
  }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const AttributeProto* found = attribute(name);
    return found == nullptr ? otherwise : found->i();
  }
  [[nodiscard]] bool has(std::size_t i) const {
    return i < operands_.size() && static_cast<int>(i) < node.input_size() && !node.input(static_cast<int>(i)).empty();
  }
  [[nodiscard]] Result<TensorType> type(std::size_t i) const {
    if (!has(i) || !operands_[i].type) return unsupported("the type of input {} is not known before the model runs", i);
    return *operands_[i].type;
  }
  [[nodiscard]] Result<Value> value(std::size_t i) const {
    if (!has(i) || operands_[i].value == nullptr) return unsupported("input {} is not known before the model runs", i);
    return read_value(*operands_[i].value);
  }
  /// Of an input that must be integers.
  [[nodiscard]] Result<Integers> integers(std::size_t i) const {
    REWRIGHT_TRY(const Value known, value(i));
    if (known.is_real()) return unsupported("input {} is not of integers", i);
    return known.integers();
  }
  /// What older opsets say in an attribute and newer ones in an input; none where neither is there.
  [[nodiscard]] Result<std::optional<Integers>> integers_of(std::string_view name, std::size_t i) const {
    if (const AttributeProto* found = attribute(name))
      return std::optional(Integers(found->ints().begin(), found->ints().end()));
    if (!has(i)) return std::optional<Integers>();
    REWRIGHT_TRY(Integers values, integers(i));
    return std::optional(std::move(values));
  }

  const NodeProto& node;
  const std::int64_t opset;

 private:
  std::span<const KnownOperand> operands_;
};

using Values = std::vector<Value>;
using Evaluator = Result<Values> (*)(const Call& call);

Result<Values> only(Value value) {
  Values values;
  values.push_back(std::move(value));
  return values;
}

/// A tensor, or numbers, in an attribute.
Result<Values> evaluate_constant(const Call& call) {
  REWRIGHT_TRY(const ConstantData constant, constant_of_node(call.node, ""));
  REWRIGHT_TRY(Value value, read_value(constant));
  return only(std::move(value));
}

Result<Values> evaluate_shape(const Call& call) {
  REWRIGHT_TRY(const TensorType type, call.type(0));
  const auto rank = static_cast<std::int64_t>(type.shape.rank());
  const auto place = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  const std::int64_t start = place(call.integer("start", 0)), end = place(call.integer("end", rank));
  Integers dims;
  for (std::int64_t i = start; i < end; ++i) dims.push_back(type.shape.dims()[static_cast<std::size_t>(i)]);
  const auto count = static_cast<std::int64_t>(dims.size());
  return only({{Shape{count}, ElementType::kInt64}, std::move(dims)});
}

Result<Values> evaluate_size(const Call& call) {
  REWRIGHT_TRY(const TensorType type, call.type(0));
  return only({{{}, ElementType::kInt64}, Integers{type.shape.elements()}});
}

Result<Values> evaluate_cast(const Call& call) {
  REWRIGHT_TRY(const Value from, call.value(0));
  const auto to = element_type(static_cast<int>(call.integer("to", 0)));
  if (!to || (!is_integer(*to) && !is_real(*to))) return unsupported("its element type is not computed with");
  const ElementType element = *to;
  if (is_real(element)) {
    Reals reals;
    if (from.is_real()) {
      reals = from.reals();
    } else {
      for (const std::int64_t integer : from.integers())  // Not by way of a double, which would round twice.
        reals.push_back(element == ElementType::kFloat32 ? static_cast<double>(static_cast<float>(integer))
                                                         : static_cast<double>(integer));
    }
    for (double& real : reals) real = rounded(real, element);
    return only({{from.type.shape, element}, std::move(reals)});
  }
  Integers integers;
  if (!from.is_real()) {
    integers = from.integers();
  } else {
    for (const double real : from.reals()) {
      constexpr double kLimit = 9.2e18;
      if (element == ElementType::kBool) {
        integers.push_back(static_cast<std::int64_t>(real != 0));
      } else if (!(std::abs(real) < kLimit)) {
        return unsupported("{} is no integer of 64 bits", real);
      } else {
        integers.push_back(static_cast<std::int64_t>(real));
      }
    }
  }
  for (std::int64_t& integer : integers) {
    if (element == ElementType::kBool) integer = static_cast<std::int64_t>(integer != 0);
    REWRIGHT_CHECK(in_range(integer, element));
  }
  return only({{from.type.shape, element}, std::move(integers)});
}

Result<Values> evaluate_range(const Call& call) {
  REWRIGHT_TRY(const Value start, call.value(0));
  REWRIGHT_TRY(const Value limit, call.value(1));
  REWRIGHT_TRY(const Value delta, call.value(2));
  for (const Value* value : {&start, &limit, &delta})
    if (value->is_real() || value->integers().size() != 1) return unsupported("its bounds are not integers");
  const std::int64_t first = start.integers()[0], last = limit.integers()[0], step = delta.integers()[0];
  if (step == 0) return wrong("its step is 0");
  std::int64_t distance = 0;
  if (__builtin_sub_overflow(last, first, &distance)) return wrong("{} - {} passes 64 bits", last, first);
  const bool is_empty = step > 0 ? distance <= 0 : distance >= 0;
  const std::int64_t count = is_empty ? 0 : distance / step + static_cast<std::int64_t>(distance % step != 0);
  REWRIGHT_TRY(const Shape shape, shape_of({count}));
  Integers values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + i * step);
  return only({{shape, start.type.element}, std::move(values)});
}

/// The number that ConstantOfShape repeats.
Result<Value> repeated_number(const Call& call) {
  const AttributeProto* given = call.attribute("value");
  if (given == nullptr) return read_value({{Shape{1}, ElementType::kFloat32}, 0.0});
  REWRIGHT_TRY(const ConstantData constant, read_tensor(given->t(), ""));
  if (constant.type.shape.elements() != 1) return unsupported("its value is not one number");
  return read_value(constant);
}

Result<Values> evaluate_constant_of_shape(const Call& call) {
  REWRIGHT_TRY(const Integers dims, call.integers(0));
  REWRIGHT_TRY(const Shape shape, shape_of(dims));
  REWRIGHT_TRY(const Value number, repeated_number(call));
  return only(taken(number, shape, std::vector<std::size_t>(static_cast<std::size_t>(shape.elements()), 0)));
}

Result<Values> evaluate_identity(const Call& call) {
  REWRIGHT_TRY(Value value, call.value(0));
  return only(std::move(value));
}

Result<Values> evaluate_gather(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  REWRIGHT_TRY(const Value indices, call.value(1));
  if (indices.is_real()) return unsupported("its indices are not integers");
  const Integers dims = dims_of(data.type.shape), at = dims_of(indices.type.shape);
  REWRIGHT_TRY(const std::size_t axis, axis_of(call.integer("axis", 0), dims.size()));
  Integers out(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), at.begin(), at.end());
  out.insert(out.end(), dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end());
  REWRIGHT_TRY(const Shape shape, shape_of(out));
  const auto size = static_cast<std::size_t>(dims[axis]);
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < dims.size(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : static_cast<std::size_t>(dims[i]);
  std::vector<std::size_t> places;
  for (std::size_t before = 0; before < outer; ++before) {
    for (const std::int64_t index : indices.integers()) {
      REWRIGHT_TRY(const std::size_t chosen, axis_of(index, size));
      for (std::size_t after = 0; after < inner; ++after) places.push_back((before * size + chosen) * inner + after);
    }
  }
  return only(taken(data, shape, places));
}

Result<Values> evaluate_concat(const Call& call) {
  REWRIGHT_TRY(const Value first, call.value(0));
  Integers dims = dims_of(first.type.shape);
  REWRIGHT_TRY(const std::size_t axis, axis_of(call.integer("axis", 0), dims.size()));
  Value all{{Shape{}, first.type.element}, first.is_real() ? decltype(first.elements)(Reals()) : Integers()};
  std::vector<Value> parts;
  dims[axis] = 0;
  for (int i = 0; i < call.node.input_size(); ++i) {
    REWRIGHT_TRY(Value part, call.value(static_cast<std::size_t>(i)));
    Integers own = dims_of(part.type.shape);
    if (own.size() != dims.size() || part.type.element != first.type.element) return wrong("its operands do not fit");
    dims[axis] += own[axis];
    own[axis] = dims[axis];
    if (own != dims) return wrong("its operands do not fit");
    parts.push_back(std::move(part));
  }
  REWRIGHT_TRY(all.type.shape, shape_of(dims));
  std::size_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(dims[i]);
  for (std::size_t block = 0; block < outer; ++block) {
    for (const Value& part : parts) {
      std::visit(
          [&](auto& elements) {
            const auto& source = std::get<std::remove_cvref_t<decltype(elements)>>(part.elements);
            const std::size_t length = source.size() / outer;
            const auto begin = source.begin() + static_cast<std::ptrdiff_t>(block * length);
            elements.insert(elements.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
          },
          all.elements);
    }
  }
  return only(std::move(all));
}

/// Attributes until opset 9, inputs since 10.
Result<Values> evaluate_slice(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  REWRIGHT_TRY(const auto starts, call.integers_of("starts", 1));
  REWRIGHT_TRY(const auto ends, call.integers_of("ends", 2));
  REWRIGHT_TRY(auto axes, call.integers_of("axes", 3));
  REWRIGHT_TRY(auto steps, call.integers_of("steps", 4));
  if (!starts || !ends || starts->size() != ends->size()) return wrong("its starts and ends do not fit");
  if (!axes) axes.emplace(starts->size()), std::iota(axes->begin(), axes->end(), 0);
  if (!steps) steps.emplace(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size()) return wrong("its axes do not fit");
  const Integers dims = dims_of(data.type.shape);
  Integers first(dims.size(), 0), step(dims.size(), 1), out = dims;
  for (std::size_t k = 0; k < axes->size(); ++k) {
    REWRIGHT_TRY(const std::size_t axis, axis_of((*axes)[k], dims.size()));
    const std::int64_t size = dims[axis], by = (*steps)[k];
    if (size == 0) continue;
    if (by == 0 || by == std::numeric_limits<std::int64_t>::min()) return wrong("its step is {}", by);
    const auto place = [&](std::int64_t given, std::int64_t least, std::int64_t most) {
      return std::clamp(given < 0 ? given + size : given, least, most);
    };
    const std::int64_t from = by > 0 ? place((*starts)[k], 0, size) : place((*starts)[k], 0, size - 1);
    const std::int64_t to = by > 0 ? place((*ends)[k], 0, size) : place((*ends)[k], -1, size - 1);
    const std::int64_t distance = by > 0 ? to - from : from - to, stride = std::abs(by);
    first[axis] = from, step[axis] = by;
    out[axis] = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  }
  REWRIGHT_TRY(const Shape shape, shape_of(out));
  const Integers strides = strides_of(dims);
  std::vector<std::size_t> places;
  for_each_index(out, [&](const Integers& index) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) place += strides[i] * (first[i] + step[i] * index[i]);
    places.push_back(static_cast<std::size_t>(place));
  });
  return only(taken(data, shape, places));
}

Result<Values> evaluate_unsqueeze(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  REWRIGHT_TRY(const auto axes, call.integers_of("axes", 1));
  if (!axes) return unsupported("its axes are left out");
  Integers dims(data.type.shape.rank() + axes->size(), -1);
  for (const std::int64_t given : *axes) {
    REWRIGHT_TRY(const std::size_t axis, axis_of(given, dims.size()));
    if (dims[axis] == 1) return wrong("axis {} is given twice", given);
    dims[axis] = 1;
  }
  std::size_t next = 0;
  for (std::int64_t& dim : dims)
    if (dim < 0) dim = data.type.shape.dims()[next++];
  REWRIGHT_TRY(const Shape shape, shape_of(dims));
  return only(reshaped(data, shape));
}

Result<Values> evaluate_squeeze(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  REWRIGHT_TRY(const auto axes, call.integers_of("axes", 1));
  const Integers dims = dims_of(data.type.shape);
  std::vector<bool> drops(dims.size(), false);
  for (std::size_t i = 0; i < dims.size(); ++i) drops[i] = !axes && dims[i] == 1;
  for (const std::int64_t given : axes.value_or(Integers())) {
    REWRIGHT_TRY(const std::size_t axis, axis_of(given, dims.size()));
    if (dims[axis] != 1) return wrong("axis {} has size {}", given, dims[axis]);
    drops[axis] = true;
  }
  Integers out;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!drops[i]) out.push_back(dims[i]);
  REWRIGHT_TRY(const Shape shape, shape_of(out));
  return only(reshaped(data, shape));
}

Result<Values> evaluate_reshape(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  REWRIGHT_TRY(Integers dims, call.integers(1));
  const Integers own = dims_of(data.type.shape);
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && call.integer("allowzero", 0) == 0) {
      if (i >= own.size()) return wrong("its shape copies an axis that is not there");
      dims[i] = own[i];
    }
    if (dims[i] == -1 && open) return wrong("its shape leaves two sizes open");
    if (dims[i] == -1) {
      open = i;
    } else if (__builtin_mul_overflow(known, dims[i], &known)) {
      return wrong("the product of its shape passes 64 bits");
    }
  }
  if (open) {
    if (known <= 0 || data.type.shape.elements() % known != 0) return wrong("its shape does not fit");
    dims[*open] = data.type.shape.elements() / known;
  }
  REWRIGHT_TRY(const Shape shape, shape_of(dims));
  if (shape.elements() != data.type.shape.elements()) return wrong("its shape does not fit");
  return only(reshaped(data, shape));
}

Result<Values> evaluate_expand(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  REWRIGHT_TRY(const Integers dims, call.integers(1));
  REWRIGHT_TRY(const Integers joint, broadcast(dims_of(data.type.shape), dims));
  REWRIGHT_TRY(Value value, expanded(data, joint));
  return only(std::move(value));
}

Result<Values> evaluate_transpose(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  const Integers dims = dims_of(data.type.shape), strides = strides_of(dims);
  Integers order(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) order[i] = static_cast<std::int64_t>(dims.size() - 1 - i);
  if (const AttributeProto* given = call.attribute("perm")) order.assign(given->ints().begin(), given->ints().end());
  Integers sorted = order, out;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted.size() != dims.size() || sorted[i] != static_cast<std::int64_t>(i)) return wrong("its perm is none");
  for (const std::int64_t axis : order) out.push_back(dims[static_cast<std::size_t>(axis)]);
  REWRIGHT_TRY(const Shape shape, shape_of(out));
  std::vector<std::size_t> places;
  for_each_index(out, [&](const Integers& index) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < order.size(); ++i) place += strides[static_cast<std::size_t>(order[i])] * index[i];
    places.push_back(static_cast<std::size_t>(place));
  });
  return only(taken(data, shape, places));
}

/// Parts of equal sizes where none are given.
Result<Values> evaluate_split(const Call& call) {
  REWRIGHT_TRY(const Value data, call.value(0));
  const Integers dims = dims_of(data.type.shape);
  REWRIGHT_TRY(const std::size_t axis, axis_of(call.integer("axis", 0), dims.size()));
  REWRIGHT_TRY(auto sizes, call.integers_of("split", 1));
  const auto count = static_cast<std::int64_t>(call.node.output_size());
  if (!sizes) {
    const std::int64_t part = (dims[axis] + count - 1) / count;
    sizes.emplace();
    for (std::int64_t i = 0; i < count; ++i) sizes->push_back(std::clamp<std::int64_t>(dims[axis] - i * part, 0, part));
  }
  if (static_cast<std::int64_t>(sizes->size()) != count || std::ranges::any_of(*sizes, [](auto n) { return n < 0; }) ||
      std::accumulate(sizes->begin(), sizes->end(), std::int64_t{0}) != dims[axis])
    return wrong("its parts do not add up");
  const Integers strides = strides_of(dims);
  Values values;
  std::int64_t first = 0;
  for (const std::int64_t size : *sizes) {
    Integers out = dims;
    out[axis] = size;
    REWRIGHT_TRY(const Shape shape, shape_of(out));
    std::vector<std::size_t> places;
    for_each_index(out, [&](const Integers& index) {
      std::int64_t place = first * strides[axis];
      for (std::size_t i = 0; i < dims.size(); ++i) place += strides[i] * index[i];
      places.push_back(static_cast<std::size_t>(place));
    });
    values.push_back(taken(data, shape, places));
    first += size;
  }
  return values;
}

Result<Values> evaluate_where(const Call& call) {
  REWRIGHT_TRY(const Value condition, call.value(0));
  REWRIGHT_TRY(const Value yes, call.value(1));
  REWRIGHT_TRY(const Value no, call.value(2));
  if (condition.type.element != ElementType::kBool || yes.type.element != no.type.element)
    return wrong("its operands do not fit");
  REWRIGHT_TRY(const Integers pair, broadcast(dims_of(yes.type.shape), dims_of(no.type.shape)));
  REWRIGHT_TRY(const Integers dims, broadcast(dims_of(condition.type.shape), pair));
  REWRIGHT_TRY(const Value chosen, expanded(condition, dims));
  REWRIGHT_TRY(Value result, expanded(yes, dims));
  REWRIGHT_TRY(const Value other, expanded(no, dims));
  std::visit(
      [&](auto& elements) {
        const auto& source = std::get<std::remove_cvref_t<decltype(elements)>>(other.elements);
        for (std::size_t i = 0; i < elements.size(); ++i)
          if (chosen.integers()[i] == 0) elements[i] = source[i];
      },
      result.elements);
  return only(std::move(result));
}

// --- arithmetic ----------------------------------------------------------------------------------------------

Result<std::int64_t> binary(const std::string& type, std::int64_t a, std::int64_t b, const Call& call) {
  std::int64_t result = 0;
  bool overflows = false;
  if (type == "Add") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (type == "Sub") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (type == "Mul") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else if (type == "Div" || type == "Mod") {
    if (b == 0) return wrong("it divides {} by 0", a);
    if (b == -1) {
      overflows = type == "Div" && __builtin_sub_overflow(std::int64_t{0}, a, &result);
    } else if (type == "Div") {
      result = a / b;
    } else {
      result = a % b;
      if (call.integer("fmod", 0) == 0 && result != 0 && (result < 0) != (b < 0)) result += b;
    }
  } else if (type == "Min") {
    result = std::min(a, b);
  } else if (type == "Max") {
    result = std::max(a, b);
  } else {
    return unsupported("it is not computed on integers");
  }
  if (overflows) return wrong("{} of {} and {} passes 64 bits", type, a, b);
  return result;
}

Result<double> binary(const std::string& type, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return unsupported("an operand is no number");
  if (type == "Add") return a + b;
  if (type == "Sub") return a - b;
  if (type == "Mul") return a * b;
  if (type == "Div") return a / b;
  if (type == "Min") return std::min(a, b);
  if (type == "Max") return std::max(a, b);
  return unsupported("it is not computed on numbers with a fraction");
}

template <class T>
std::optional<bool> compare(const std::string& type, T a, T b) {
  if (type == "Equal") return a == b;
  if (type == "Less") return a < b;
  if (type == "Greater") return a > b;
  if (type == "LessOrEqual") return a <= b;
  if (type == "GreaterOrEqual") return a >= b;
  return std::nullopt;
}

std::optional<bool> connect(const std::string& type, bool a, bool b) {
  if (type == "And") return a && b;
  if (type == "Or") return a || b;
  if (type == "Xor") return a != b;
  return std::nullopt;
}

/// Two operands at a time; Min and Max take any number.
Result<Value> combine(const Call& call, const Value& left, const Value& right) {
  const std::string& type = call.node.op_type();
  if (left.type.element != right.type.element) return wrong("its operands are of two element types");
  REWRIGHT_TRY(const Integers dims, broadcast(dims_of(left.type.shape), dims_of(right.type.shape)));
  REWRIGHT_TRY(const Value a, expanded(left, dims));
  REWRIGHT_TRY(const Value b, expanded(right, dims));
  const ElementType element = left.type.element;
  const auto count = static_cast<std::size_t>(a.type.shape.elements());
  Integers integers;
  Reals reals;
  bool is_truth = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto truth = element == ElementType::kBool && type != "Equal"
                           ? connect(type, a.integers()[i] != 0, b.integers()[i] != 0)
                       : a.is_real() ? compare(type, a.reals()[i], b.reals()[i])
                                     : compare(type, a.integers()[i], b.integers()[i]);
    if (truth) {
      is_truth = true;
      integers.push_back(static_cast<std::int64_t>(*truth));
    } else if (element == ElementType::kBool) {
      return unsupported("it is not computed on booleans");
    } else if (a.is_real()) {
      REWRIGHT_TRY(const double result, binary(type, a.reals()[i], b.reals()[i]));
      reals.push_back(rounded(result, element));
    } else {
      REWRIGHT_TRY(const std::int64_t result, binary(type, a.integers()[i], b.integers()[i], call));
      REWRIGHT_CHECK(in_range(result, element));
      integers.push_back(result);
    }
  }
  static const std::map<std::string_view, bool> kTruths = {
      {"Equal", true}, {"Less", true}, {"Greater", true}, {"LessOrEqual", true}, {"GreaterOrEqual", true}};
  is_truth = is_truth || kTruths.contains(type);
  if (a.is_real() && !is_truth) return Value{{a.type.shape, element}, std::move(reals)};
  return Value{{a.type.shape, is_truth ? ElementType::kBool : element}, std::move(integers)};
}

Result<Values> evaluate_binary(const Call& call) {
  REWRIGHT_TRY(Value result, call.value(0));
  for (int i = 1; i < call.node.input_size(); ++i) {
    REWRIGHT_TRY(const Value next, call.value(static_cast<std::size_t>(i)));
    REWRIGHT_TRY(result, combine(call, result, next));
  }
  return only(std::move(result));
}

Result<Values> evaluate_unary(const Call& call) {
  REWRIGHT_TRY(Value value, call.value(0));
  const std::string& type = call.node.op_type();
  if (value.is_real()) {
    Reals reals = value.reals();
    for (double& real : reals) {
      if (type == "Neg") real = -real;
      if (type == "Abs") real = std::abs(real);
      if (type == "Floor") real = std::floor(real);
      if (type == "Ceil") real = std::ceil(real);
      if (type == "Round") real = std::nearbyint(real);
      if (type == "Sqrt") real = rounded(std::sqrt(real), value.type.element);
      if (std::isnan(real)) return unsupported("its result is no number");
    }
    if (type == "Not") return unsupported("its operand is not boolean");
    value.elements = std::move(reals);
    return only(std::move(value));
  }
  const bool is_boolean = value.type.element == ElementType::kBool;
  if (is_boolean != (type == "Not") || (type != "Not" && type != "Neg" && type != "Abs"))
    return unsupported("it is not computed on that element type");
  Integers integers = value.integers();
  for (std::int64_t& integer : integers) {
    if (is_boolean) {
      integer = 1 - integer;
    } else if (type == "Neg" || integer < 0) {
      if (integer == std::numeric_limits<std::int64_t>::min()) return wrong("-({}) passes 64 bits", integer);
      integer = -integer;
      REWRIGHT_CHECK(in_range(integer, value.type.element));
    }
  }
  value.elements = std::move(integers);
  return only(std::move(value));
}

// --- reductions ----------------------------------------------------------------------------------------------

/// One more element; numbers with a fraction only where nothing is rounded, so that no order of them matters.
Result<std::int64_t> accumulate(const std::string& binary_type, std::int64_t so_far, std::int64_t next,
                                const Call& call, ElementType element) {
  REWRIGHT_TRY(const std::int64_t result, binary(binary_type, so_far, next, call));
  return in_range(result, element);
}

Result<double> accumulate(const std::string& binary_type, double so_far, double next, const Call&,
                          ElementType element) {
  REWRIGHT_TRY(const double result, binary(binary_type, so_far, next));
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const bool is_exact =
      binary_type == "Min" || binary_type == "Max" ||
      (std::abs(result) < kExact && std::floor(result) == result && rounded(result, element) == result);
  if (!is_exact) return unsupported("its result depends on the order in which it is computed");
  return result;
}

Result<Values> evaluate_reduction(const Call& call) {
  static const std::map<std::string_view, std::string> kBinary = {
      {"ReduceSum", "Add"}, {"ReduceProd", "Mul"}, {"ReduceMin", "Min"}, {"ReduceMax", "Max"}};
  const std::string& step = kBinary.at(call.node.op_type());
  REWRIGHT_TRY(const Value data, call.value(0));
  REWRIGHT_TRY(const auto axes, call.integers_of("axes", 1));
  const Integers dims = dims_of(data.type.shape);
  const bool keeps = call.integer("keepdims", 1) != 0;
  if ((!axes || axes->empty()) && call.integer("noop_with_empty_axes", 0) != 0) return only(data);
  std::vector<bool> reduced(dims.size(), !axes || axes->empty());
  for (const std::int64_t given : axes.value_or(Integers())) {
    REWRIGHT_TRY(const std::size_t axis, axis_of(given, dims.size()));
    reduced[axis] = true;
  }
  Integers kept = dims, out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (reduced[i]) kept[i] = 1;
    if (!reduced[i] || keeps) out.push_back(kept[i]);
  }
  if (data.type.shape.elements() == 0) return unsupported("it has no elements");
  if (data.is_real() && step == "Add") return unsupported("its result depends on the order in which it is computed");
  REWRIGHT_TRY(const Shape shape, shape_of(out));
  const Integers strides = strides_of(kept);
  std::vector<std::size_t> places;
  for_each_index(dims, [&](const Integers& index) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (!reduced[i]) place += strides[i] * index[i];
    places.push_back(static_cast<std::size_t>(place));
  });
  const auto reduce = [&](const auto& elements) -> Result<Value> {
    using Element = typename std::decay_t<decltype(elements)>::value_type;
    std::vector<std::optional<Element>> sums(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      auto& sum = sums[places[i]];
      if (sum) {
        REWRIGHT_TRY(sum, accumulate(step, *sum, elements[i], call, data.type.element));
      } else {
        sum = elements[i];
      }
    }
    std::vector<Element> result;
    for (const auto& sum : sums) result.push_back(*sum);
    return Value{{shape, data.type.element}, std::move(result)};
  };
  REWRIGHT_TRY(Value value, data.is_real() ? reduce(data.reals()) : reduce(data.integers()));
  return only(std::move(value));
}

const std::map<std::string_view, Evaluator> kEvaluators = {
    {"Constant", evaluate_constant},
    {"Shape", evaluate_shape},
    {"Size", evaluate_size},
    {"Cast", evaluate_cast},
    {"Range", evaluate_range},
    {"Identity", evaluate_identity},
    {"ConstantOfShape", evaluate_constant_of_shape},
    {"Gather", evaluate_gather},
    {"Concat", evaluate_concat},
    {"Slice", evaluate_slice},
    {"Unsqueeze", evaluate_unsqueeze},
    {"Squeeze", evaluate_squeeze},
    {"Reshape", evaluate_reshape},
    {"Expand", evaluate_expand},
    {"Transpose", evaluate_transpose},
    {"Split", evaluate_split},
    {"Where", evaluate_where},
    {"Add", evaluate_binary},
    {"Sub", evaluate_binary},
    {"Mul", evaluate_binary},
    {"Div", evaluate_binary},
    {"Mod", evaluate_binary},
    {"Min", evaluate_binary},
    {"Max", evaluate_binary},
    {"Equal", evaluate_binary},
    {"Less", evaluate_binary},
    {"Greater", evaluate_binary},
    {"LessOrEqual", evaluate_binary},
    {"GreaterOrEqual", evaluate_binary},
    {"And", evaluate_binary},
    {"Or", evaluate_binary},
    {"Xor", evaluate_binary},
    {"Neg", evaluate_unary},
    {"Abs", evaluate_unary},
    {"Not", evaluate_unary},
    {"Floor", evaluate_unary},
    {"Ceil", evaluate_unary},
    {"Round", evaluate_unary},
    {"Sqrt", evaluate_unary},
    {"ReduceSum", evaluate_reduction},
    {"ReduceProd", evaluate_reduction},
    {"ReduceMin", evaluate_reduction},
    {"ReduceMax", evaluate_reduction},
};

}  // namespace

Result<ConstantData> constant_of_node(const NodeProto& node, const std::string& folder) {
  if (node.op_type() != "Constant" || !normal_domain(node.domain()).empty() || node.attribute_size() != 1 ||
      node.output_size() != 1)
    return make_error(ErrorCode::kNotFound, "it is no Constant with one value");
  const AttributeProto& attribute = node.attribute(0);
  ConstantData value;
  if (attribute.name() == "value") return read_tensor(attribute.t(), folder);
  if (attribute.name() == "value_float") {
    value.value = encode(ElementType::kFloat32, Reals{attribute.f()});
  } else if (attribute.name() == "value_floats") {
    value.type.shape.append(attribute.floats_size());
    value.value = encode(ElementType::kFloat32, Reals(attribute.floats().begin(), attribute.floats().end()));
  } else if (attribute.name() == "value_int") {
    value = integers_of_shape({}, Integers{attribute.i()});
  } else if (attribute.name() == "value_ints") {
    value = integers_of_shape(Shape{attribute.ints_size()}, Integers(attribute.ints().begin(), attribute.ints().end()));
  } else {
    return make_error(ErrorCode::kNotFound, "it is no Constant of numbers");
  }
  return value;
}

Result<std::vector<ConstantData>> evaluate_known(const NodeProto& node, std::int64_t opset,
                                                 std::span<const KnownOperand> operands) {
  constexpr std::int64_t kFirstBroadcasting = 7;
  const auto found = kEvaluators.find(node.op_type());
  if (found == kEvaluators.end() || !normal_domain(node.domain()).empty() || opset < kFirstBroadcasting)
    return unsupported("{} is not computed before the run", qualified_type(node));
  auto values = found->second(Call(node, opset, operands));
  if (!values) return make_error(values.error().code, "{}: {}", node.op_type(), values.error().message);
  std::vector<ConstantData> constants;
  for (const Value& value : *values) constants.push_back(to_constant(value));
  return constants;
}

}  // namespace rewright::model
