// What a model's nodes read that no node makes: weights, and constants that operators ask for.
#include <cmath>
#include <memory>

#include "onnx/element.h"
#include "onnx/exporter.h"
#include "onnx/external_data.h"
#include "onnx/lossy.h"

namespace rewright {

using namespace model;

namespace {

/// Smaller constants are written out even if they repeat one number.
constexpr std::int64_t kFilledElements = 1024;
/// The same where weights are to be initializers.
constexpr std::int64_t kFilledAsWritten = std::int64_t{1} << 20;

}  // namespace

std::string Exporter::integers(std::span<const std::int64_t> values) {
  return named_constant(integers_of_shape(Shape{static_cast<std::int64_t>(values.size())}, values), "integers");
}

/// A number that an operator writes, as `type` holds it.
void Exporter::note_loss(ElementType type, double number, std::string_view what) const {
  if (options_.fast_math || !options_.lost) return;
  const Real value{number};
  if (const auto loss = loss_in(type, Shape{}, std::span(&value, 1)))
    options_.lost(fmt::format("{} {:.3g} of an operator becomes {:.3g} in {}", what, loss->exact, loss->rounded,
                              name_of_floating(type)));
}

/// Attributes are float32, whatever the element type: exact in a float64 node if the number is one.
void Exporter::note_attribute_loss(double number, std::string_view attribute) const {
  note_loss(ElementType::kFloat32, number, attribute);
  const auto held = static_cast<double>(static_cast<float>(number));
  if (options_.fast_math || !options_.lost || element_ != ElementType::kFloat64 || !(held != number)) return;
  if (std::isnan(number)) return;
  options_.lost(
      fmt::format("{} {} of an operator in float64 becomes {}, as attributes are float32", attribute, number, held));
}

std::string Exporter::constant(const ConstantData& value) {
  const ElementType from = value.type.element;
  if (!is_floating(from) || from == element_) return named_constant(value, "constant");
  ConstantData cast;
  cast.type = {value.type.shape, element_};
  if (const auto* number = std::get_if<double>(&value.value)) {
    note_loss(element_, *number, "the number");
    cast.value = *number;
  } else {
    const std::vector<double> numbers = *to_reals(value);
    for (const double number : numbers) note_loss(element_, number, "the number");
    cast.value = encode(element_, numbers);
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

/// A large tensor of one repeated number becomes a ConstantOfShape node.
std::string Exporter::initializer(const ConstantData& value, std::string_view hint) {
  const std::int64_t most = options_.as_written ? kFilledAsWritten : kFilledElements;
  const auto* number = std::get_if<double>(&value.value);
  if (number != nullptr && value.type.shape.elements() > most && value.type.element != ElementType::kBFloat16)
    return filled(value, *number, hint);
  initializers_.push_back(to_proto(value, fresh(hint)));
  return initializers_.back().name();
}

/// An initializer; equal small ones are one.
std::string Exporter::named_constant(const ConstantData& value, std::string_view hint) {
  const std::int64_t elements = value.type.shape.elements();
  const bool small = elements <= kFilledElements && hint != "weight";
  const std::string key = small ? to_proto(value, "").SerializeAsString() : std::string();
  if (small) {
    if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  }
  std::string name = initializer(value, hint);
  if (small) constants_.emplace(key, name);
  return name;
}

/// The name of a tensor; weights and folded values are written when they are first needed.
Result<std::string> Exporter::operand(Port port) {
  if (const auto known = names_.find(port); known != names_.end()) return known->second;
  const Node& node = graph_.node(port.node);
  std::string name;
  if (const auto folded = folder_.values().find(port); folded != folder_.values().end()) {
    name = named_constant(folded->second, "weight");
  } else {
    name = weight(node);  // Nodes come after their operands, so that what is no weight has its name.
  }
  names_.emplace(port, name);
  return name;
}

/// A weight of the original keeps its name.
std::string Exporter::weight(const Node& node) {
  if (origin_.external.contains(node.name) || !node.constant()) return given(node.name);
  const auto original = origin_.origin.initializers.find(node.name);
  if (original != origin_.origin.initializers.end() && original->second == node.constant()) return given(node.name);
  if (const auto* number = std::get_if<double>(&node.constant()->value))
    note_loss(node.constant()->type.element, *number, node.name);
  return options_.as_written ? weight_as_written(node) : named_constant(*node.constant(), node.name);
}

/// A tensor of the original that no node makes; an initializer is written with its first use.
std::string Exporter::given(const std::string& name) {
  if (originals_.contains(name)) return name;
  if (const auto lies = origin_.external.find(name); lies != origin_.external.end()) {
    originals_[name] = to_proto(lies->second, name);
  } else if (const auto value = origin_.origin.initializers.find(name); value != origin_.origin.initializers.end()) {
    originals_[name] = to_proto(*value->second, name);
  }
  return name;
}

}  // namespace rewright
