#include "onnx/annotations.h"
#include "onnx/element.h"
#include "onnx/external_data.h"
#include "onnx/importer.h"
#include "onnx/known_values.h"
#include "onnx/scope.h"

namespace rewright {
namespace {

/// Weights below this are read from external data, too.
constexpr std::uint64_t kLeastLeftBytes = 64 << 10;

/// A size of -1 is open, too.
model::TypeProto without_negative_sizes(model::TypeProto type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return type;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
    if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_dim_value();
  return type;
}

}  // namespace

using namespace model;

Status Importer::add_inputs() {
  std::unordered_set<std::string> initializers;
  for (const auto& tensor : graph_.initializer()) initializers.insert(tensor.name());
  for (const auto& input : graph_.input()) {
    if (initializers.contains(input.name()) && proto_.ir_version() < kIrOfDefaults) continue;
    if (input.type().has_tensor_type() && input.type().tensor_type().has_shape()) {
      std::vector<std::int64_t> dims;
      for (const auto& dim : input.type().tensor_type().shape().dim()) dims.push_back(dim.dim_value());
      if (!checked_elements(dims)) {
        return make_error(ErrorCode::kParse, "{}: input '{}' has sizes ({}), more than 2^40 elements", options_.file,
                          input.name(), fmt::join(dims, ", "));
      }
    }
    const auto type = static_type(input.type());
    REWRIGHT_TRY(const Port port, builder_.input(input.name(), type.value_or(kNoType)));
    define(input.name(), port);
    if (!type) inference_->set_type(input.name(), input.type());
    if (general_) general_->set_type(input.name(), type_at_all_sizes(input.name()));
    if (initializers.contains(input.name())) kept_.insert(input.name());
  }
  return {};
}

/// As the model declares it.
TypeProto Importer::type_at_all_sizes(const std::string& input) const {
  for (const auto& declared : declarations_.input())
    if (declared.name() == input) return without_negative_sizes(declared.type());
  return {};
}

Status Importer::add_initializers() {
  std::unordered_set<std::string> used;
  for (const NodeProto& node : graph_.node()) {
    used.insert(node.input().begin(), node.input().end());
    for (std::string& name : captures(node)) used.insert(std::move(name));
  }
  for (const auto& output : graph_.output()) used.insert(output.name());
  const std::set<std::string> annotating = annotating_tensors(graph_);
  for (TensorProto& tensor : *graph_.mutable_initializer()) {
    origin_.initializer_order.push_back(tensor.name());
    if (!used.contains(tensor.name()) && annotating.contains(tensor.name())) {
      kept_.insert(tensor.name());
      continue;
    }
    if (!used.contains(tensor.name()) && !kept_.contains(tensor.name())) continue;
    if (auto status = add_initializer(tensor); !status) {
      return make_error(status.error().code, "{}: {}", options_.file, status.error().message);
    }
  }
  for (const auto& tensor : graph_.sparse_initializer()) {
    REWRIGHT_TRY(const Port port, builder_.input(tensor.values().name(), kNoType, InputKind::kWeight));
    define(tensor.values().name(), port);
  }
  return {};
}

/// True for a large weight of numbers with a fraction in another file: nothing looks at its values but folding.
Result<bool> Importer::leave_external(const TensorProto& tensor) {
  if (!options_.leave_external || tensor.data_location() != TensorProto::EXTERNAL || ports_.contains(tensor.name()))
    return false;
  const auto element = element_type(tensor.data_type());
  const auto count = checked_elements(std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end()));
  if (!element || !is_floating(*element) || !count || tensor.dims_size() > kMaxRank) return false;
  if (static_cast<std::uint64_t>(*count) * element_size(*element) < kLeastLeftBytes) return false;
  REWRIGHT_TRY(const auto lies, where_it_lies(tensor, options_.directory));
  REWRIGHT_TRY(const Port port, builder_.input(tensor.name(), lies->type, InputKind::kWeight));
  define(tensor.name(), port);
  if (general_) general_->set_type(tensor.name(), to_proto(lies->type));
  external_.emplace(tensor.name(), *lies);
  return true;
}

Status Importer::add_initializer(TensorProto& tensor) {
  REWRIGHT_TRY(const bool left, leave_external(tensor));
  if (left) return {};
  auto value = read_tensor(tensor, options_.directory);
  if (!value && value.error().code != ErrorCode::kUnsupported) return value.error();
  const std::string& name = tensor.name();
  const bool external = tensor.data_location() == TensorProto::EXTERNAL;
  if (ports_.contains(name)) {  // The default of an input.
    if (external && value) tensor = to_proto(*value, name);
    return {};
  }
  if (!value) {
    if (external) REWRIGHT_CHECK(where_it_lies(tensor, options_.directory));  // They stay there, of whatever type.
    kept_.insert(name);
    REWRIGHT_TRY(const Port port, builder_.input(name, kNoType, InputKind::kWeight));
    define(name, port);
    ::onnx::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(tensor.data_type());
    for (const auto dim : tensor.dims()) type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
    if (general_) general_->set_type(name, type);
    inference_->set_type(name, std::move(type));
    return {};
  }
  const TensorType type = value->type;
  const auto constant = std::make_shared<const ConstantData>(*std::move(value));
  origin_.initializers[name] = constant;
  REWRIGHT_TRY(const Port port, builder_.input(name, type, InputKind::kWeight, constant));
  define(name, port);
  know(name, constant);
  tensor.clear_raw_data();
  return {};
}

void Importer::add_weight(const std::string& name, ConstantData value) {
  const Port port = builder_.constant(std::move(value), name);
  define(name, port);
  know(name, builder_.node(port.node).constant());
}

/// Constant: a tensor, or numbers, in an attribute.
Result<bool> Importer::add_constant(const NodeProto& node) {
  auto value = constant_of_node(node, options_.directory);
  if (value) return add_weight(node.output(0), *std::move(value)), true;
  const ErrorCode code = value.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kUnsupported) return false;
  return named(node, value.error());
}

/// ConstantOfShape of a known shape: one number and a shape, however many elements.
Result<bool> Importer::add_filled(const NodeProto& node) {
  if (node.op_type() != "ConstantOfShape" || !normal_domain(node.domain()).empty() || node.input_size() != 1) {
    return false;
  }
  OnnxNode seen;
  seen.type = node.op_type();
  const auto known = constants_.find(node.input(0));
  seen.constants.push_back(known == constants_.end() ? inference_->value(node.input(0)) : known->second);
  auto dims = seen.constant_integers(0);
  if (!dims || dims->size() > kMaxRank) return false;
  if (!checked_elements(*dims)) {
    return make_error(ErrorCode::kShape,
                      "{}: {} fills a tensor of sizes ({}): each must be at least 0, the product at "
                      "most 2^40",
                      options_.file, describe(node), fmt::join(*dims, ", "));
  }
  ConstantData value;
  value.type.shape = Shape(*std::move(dims));
  if (node.attribute_size() == 1) {
    const auto number = read_tensor(node.attribute(0).t(), "");
    if (!number || number->type.shape.elements() != 1) return false;
    value.type.element = number->type.element;
    REWRIGHT_TRY(const std::vector<double> reals, to_reals(*number));
    constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: up to here a double holds every integer.
    if (!is_floating(value.type.element) && std::abs(reals.front()) >= kExactIntegers) return false;
    value.value = reals.front();
  }
  add_weight(node.output(0), std::move(value));
  return true;
}

}  // namespace rewright
