// Values that are known before the run, and what evaluators of nodes (known_values.h) ask of them.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <variant>

#include "onnx/known_operand.h"
#include "onnx/proto.h"

namespace rewright::model {

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

[[nodiscard]] bool is_integer(ElementType type);
/// Those that are computed with.
[[nodiscard]] bool is_real(ElementType type);
/// Errors: kShape where the type does not have the integer.
[[nodiscard]] Result<std::int64_t> in_range(std::int64_t value, ElementType type);
[[nodiscard]] double rounded(double value, ElementType type);
[[nodiscard]] Result<Value> read_value(const ConstantData& constant);
[[nodiscard]] ConstantData to_constant(const Value& value);

[[nodiscard]] Integers dims_of(const Shape& shape);
[[nodiscard]] Result<Shape> shape_of(const Integers& dims);
[[nodiscard]] Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);
[[nodiscard]] Integers strides_of(const Integers& dims);
/// The elements at these places, in row-major order of a shape.
[[nodiscard]] Value taken(const Value& from, const Shape& shape, const std::vector<std::size_t>& places);
/// Calls `visit` with each index of a shape, in row-major order.
void for_each_index(const Integers& dims, const std::function<void(const Integers&)>& visit);
[[nodiscard]] Result<Integers> broadcast(const Integers& a, const Integers& b);
/// The value repeated to a shape that it broadcasts to.
[[nodiscard]] Result<Value> expanded(const Value& from, const Integers& dims);

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
/// By ONNX's name of the operator.
using Evaluators = std::map<std::string_view, Evaluator>;

[[nodiscard]] Result<Values> only(Value value);
/// known_moves.cpp: nodes that move elements, or make them from shapes.
[[nodiscard]] const Evaluators& evaluators_of_moves();
/// known_arithmetic.cpp: nodes that compute with elements.
[[nodiscard]] const Evaluators& evaluators_of_arithmetic();

}  // namespace rewright::model
