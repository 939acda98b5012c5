#include "onnx/known_values.h"

#include "onnx/element.h"
#include "onnx/known_value.h"

namespace rewright::model {
namespace {

/// A tensor, or numbers, in an attribute.
Result<Values> evaluate_constant(const Call& call) {
  REWRIGHT_TRY(const ConstantData constant, constant_of_node(call.node, ""));
  REWRIGHT_TRY(Value value, read_value(constant));
  return only(std::move(value));
}

/// Null where it is not computed. Before opset 6 Cast, Concat and Reshape say otherwise what they do; before opset 7
/// operands do not broadcast as they do now.
Evaluator evaluator_of(const std::string& type, std::int64_t opset) {
  constexpr std::int64_t kOldest = 6, kFirstBroadcasting = 7;
  if (type == "Constant") return evaluate_constant;
  const auto find = [&](const Evaluators& known) {
    const auto found = known.find(type);
    return found == known.end() ? nullptr : found->second;
  };
  const Evaluator move = opset >= kOldest ? find(evaluators_of_moves()) : nullptr;
  return move == nullptr && opset >= kFirstBroadcasting ? find(evaluators_of_arithmetic()) : move;
}

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
  const Evaluator evaluator = evaluator_of(node.op_type(), opset);
  if (evaluator == nullptr || !normal_domain(node.domain()).empty())
    return unsupported("{} is not computed before the run", qualified_type(node));
  auto values = evaluator(Call(node, opset, operands));
  if (!values) return make_error(values.error().code, "{}: {}", node.op_type(), values.error().message);
  std::vector<ConstantData> constants;
  for (const Value& value : *values) constants.push_back(to_constant(value));
  return constants;
}

}  // namespace rewright::model
