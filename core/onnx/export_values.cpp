// What a model's nodes read that no node makes: weights, and constants that operators ask for.
#include <memory>

#include "onnx/element.h"
#include "onnx/exporter.h"
#include "onnx/external_data.h"

namespace rewright {

using namespace model;

namespace {

/// Smaller constants are written out even if they repeat one number.
constexpr std::int64_t kFilledElements = 1024;

}  // namespace

std::string Exporter::integers(std::span<const std::int64_t> values) {
  return named_constant(integers_of_shape(Shape{static_cast<std::int64_t>(values.size())}, values), "integers");
}

std::string Exporter::constant(const ConstantData& value) {
  const ElementType from = value.type.element;
  if (!is_floating(from) || from == element_) return named_constant(value, "constant");
  ConstantData cast;
  cast.type = {value.type.shape, element_};
  if (const auto* number = std::get_if<double>(&value.value)) {
    cast.value = *number;
  } else {
    cast.value = encode(element_, *to_reals(value));
  }
  return named_constant(cast, "constant");
}

std::string Exporter::filled(const ConstantData& value, double number, std::string_view hint) {
  const auto fill = std::make_shared<ConstantData>();
  fill->type.shape.append(1);
  fill->type.element = value.type.element;
  fill->value = encode(value.type.element, std::span(&number, 1));
  NodeProto node;
  node.set_op_type("ConstantOfShape");
  node.set_name(fresh(std::string(hint) + "_fill"));
  node.add_input(integers(value.type.shape.dims()));
  node.add_output(fresh(hint));
  *node.add_attribute() = to_proto("value", std::shared_ptr<const ConstantData>(fill));
  nodes_.push_back({node, true});
  return node.output(0);
}

/// An initializer; equal small ones are one. A large tensor of one repeated number becomes a ConstantOfShape node.
std::string Exporter::named_constant(const ConstantData& value, std::string_view hint) {
  const std::int64_t elements = value.type.shape.elements();
  const auto* number = std::get_if<double>(&value.value);
  if (number != nullptr && elements > kFilledElements && value.type.element != ElementType::kBFloat16)
    return filled(value, *number, hint);
  TensorProto tensor = to_proto(value, "");
  const bool small = elements <= kFilledElements && hint != "weight";
  const std::string key = small ? tensor.SerializeAsString() : std::string();
  if (small) {
    if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  }
  tensor.set_name(fresh(hint));
  if (small) constants_.emplace(key, tensor.name());
  initializers_.push_back(std::move(tensor));
  return initializers_.back().name();
}

/// The name of a tensor; weights and folded values are written when they are first needed.
Result<std::string> Exporter::operand(Port port) {
  if (const auto known = names_.find(port); known != names_.end()) return known->second;
  const Node& node = graph_.node(port.node);
  std::string name;
  if (const auto folded = folding_.values.find(port); folded != folding_.values.end()) {
    name = named_constant(folded->second, "weight");
  } else {
    name = weight(node);  // Nodes come after their operands, so that what is no weight has its name.
  }
  names_.emplace(port, name);
  return name;
}

std::string Exporter::weight(const Node& node) {
  if (const auto lies = external_.find(node.name); lies != external_.end()) {
    initializers_.push_back(to_proto(lies->second, fresh(node.name)));
    return initializers_.back().name();
  }
  if (given_.contains(node.name) || !node.constant) return node.name;
  return named_constant(*node.constant, node.name);
}

}  // namespace rewright
