#include "onnx/opset_step.h"

#include <algorithm>

#include "onnx/element.h"

namespace rewright::model {

ConversionContext StagedContext::context() {
  ConversionContext staged;
  staged.constant = [this](const std::string& tensor) -> const TensorProto* {
    if (const auto inner = inner_constants_.find(tensor); inner != inner_constants_.end()) return inner->second;
    if (const auto added = added_.find(tensor); added != added_.end()) return &added->second;
    return outer_.constant(tensor);
  };
  staged.known = [this](const std::string& tensor) -> KnownTensor {
    if (const auto known = known_.find(tensor); known != known_.end()) return known->second;
    const TensorProto* value = nullptr;
    if (const auto inner = inner_constants_.find(tensor); inner != inner_constants_.end()) value = inner->second;
    if (const auto added = added_.find(tensor); added != added_.end()) value = &added->second;
    if (value == nullptr) return outer_.known(tensor);
    return {value->data_type(), std::vector<std::int64_t>(value->dims().begin(), value->dims().end())};
  };
  staged.add = [this](TensorProto tensor) {
    std::string name = tensor.name();
    added_[std::move(name)] = std::move(tensor);
  };
  staged.fresh = outer_.fresh;
  return staged;
}

std::string StagedContext::name_of(TensorProto tensor) {
  tensor.clear_name();
  const auto [found, is_new] = by_content_.try_emplace(tensor.SerializeAsString());
  if (!is_new) return found->second;
  const std::string name = found->second = outer_.fresh("constant");
  tensor.set_name(name);
  added_[name] = std::move(tensor);
  return name;
}

void StagedContext::commit() {
  for (auto& [name, tensor] : added_) outer_.add(std::move(tensor));
  added_.clear();
}

Result<std::int64_t> OpsetStep::rank(const std::string& tensor, std::string_view what) const {
  const KnownTensor found = context_.known(tensor);
  if (found.dims) return static_cast<std::int64_t>(found.dims->size());
  return make_error(ErrorCode::kUnsupported, "opset {} needs the rank of '{}' for {}, which is not known", version_,
                    tensor, what);
}

Result<int> OpsetStep::element(const std::string& tensor, std::string_view what) const {
  const KnownTensor found = context_.known(tensor);
  if (found.element != 0) return found.element;
  return make_error(ErrorCode::kUnsupported, "opset {} needs the element type of '{}' for {}, which is not known",
                    version_, tensor, what);
}

namespace {

std::optional<ConstantData> read_known(const ConversionContext& context, const std::string& tensor) {
  const TensorProto* value = tensor.empty() ? nullptr : context.constant(tensor);
  if (value == nullptr) return std::nullopt;
  auto read = read_tensor(*value, "");
  if (!read) return std::nullopt;
  return *std::move(read);
}

}  // namespace

std::optional<std::vector<std::int64_t>> OpsetStep::known_integers(const std::string& tensor) const {
  const auto value = read_known(context_, tensor);
  if (!value) return std::nullopt;
  OnnxNode reader;
  reader.constants.push_back(std::make_shared<const ConstantData>(*value));
  auto numbers = reader.constant_integers(0);
  if (!numbers) return std::nullopt;
  return *std::move(numbers);
}

std::optional<std::vector<double>> OpsetStep::known_reals(const std::string& tensor) const {
  const auto value = read_known(context_, tensor);
  if (!value) return std::nullopt;
  auto numbers = to_reals(*value);
  if (!numbers) return std::nullopt;
  return *std::move(numbers);
}

std::string OpsetStep::integers(std::span<const std::int64_t> values) {
  return constant(to_proto(integers_of_shape(Shape{static_cast<std::int64_t>(values.size())}, values), ""));
}

std::string OpsetStep::numbers(int element, std::span<const double> values, std::span<const std::int64_t> dims) {
  const auto type = static_cast<ElementType>(element);
  ConstantData data;
  data.type = {Shape(std::vector<std::int64_t>(dims.begin(), dims.end())), type};
  data.value = encode(type, values);
  return constant(to_proto(data, ""));
}

std::string OpsetStep::emit(std::string_view type, std::vector<std::string> inputs,
                            const std::map<std::string, OnnxAttribute>& attributes, KnownTensor known) {
  NodeProto& node = before_.emplace_back();
  std::string hint(type);
  std::ranges::transform(hint, hint.begin(), [](unsigned char c) { return std::tolower(c); });
  node.set_name(context_.fresh(hint));
  node.add_output(context_.fresh(node.name() + "_out"));
  become(node, type, inputs, attributes);
  staged_.set_known(node.output(0), std::move(known));
  return node.output(0);
}

const AttributeProto* find_attribute(const NodeProto& node, std::string_view name) {
  const auto found =
      std::ranges::find_if(node.attribute(), [&](const AttributeProto& attribute) { return attribute.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

std::int64_t integer_or(const NodeProto& node, std::string_view name, std::int64_t otherwise) {
  const AttributeProto* attribute = find_attribute(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

std::string text_or(const NodeProto& node, std::string_view name, std::string otherwise) {
  const AttributeProto* attribute = find_attribute(node, name);
  return attribute == nullptr ? otherwise : attribute->s();
}

void set_attribute(NodeProto& node, const std::string& name, const OnnxAttribute& value) {
  remove_attribute(node, name);
  *node.add_attribute() = to_proto(name, value);
}

void remove_attribute(NodeProto& node, std::string_view name) {
  auto& attributes = *node.mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [&](const AttributeProto& attribute) { return attribute.name() == name; }),
                   attributes.end());
}

std::string input_of(const NodeProto& node, int index) {
  return index < node.input_size() ? node.input(index) : std::string();
}

void set_input(NodeProto& node, int index, const std::string& name) {
  while (node.input_size() <= index) node.add_input();
  node.set_input(index, name);
  while (node.input_size() > 0 && node.input(node.input_size() - 1).empty()) node.mutable_input()->RemoveLast();
}

bool makes_output(const NodeProto& node, int index) {
  return index < node.output_size() && !node.output(index).empty();
}

void become(NodeProto& node, std::string_view type, const std::vector<std::string>& inputs,
            const std::map<std::string, OnnxAttribute>& attributes) {
  node.set_op_type(std::string(type));
  node.clear_domain();
  node.mutable_input()->Assign(inputs.begin(), inputs.end());
  node.clear_attribute();
  for (const auto& [name, value] : attributes) *node.add_attribute() = to_proto(name, value);
}

}  // namespace rewright::model
