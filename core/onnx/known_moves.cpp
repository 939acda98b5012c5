// Known nodes that move elements, or make them from shapes.
#include <algorithm>
#include <numeric>

#include "onnx/known_value.h"

namespace rewright::model {
namespace {

Value reshaped(const Value& from, const Shape& shape) { return {{shape, from.type.element}, from.elements}; }

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

}  // namespace

const Evaluators& evaluators_of_moves() {
  static const Evaluators kEvaluators = {{"Shape", evaluate_shape},
                                         {"Size", evaluate_size},
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
                                         {"Where", evaluate_where}};
  return kEvaluators;
}

}  // namespace rewright::model
