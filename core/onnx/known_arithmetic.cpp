// Known nodes that compute with elements.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/element.h"
#include "onnx/known_value.h"

namespace rewright::model {
namespace {

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

}  // namespace

const Evaluators& evaluators_of_arithmetic() {
  static const Evaluators kEvaluators = {{"Cast", evaluate_cast},
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
                                         {"ReduceMax", evaluate_reduction}};
  return kEvaluators;
}

}  // namespace rewright::model
