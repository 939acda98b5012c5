#include <algorithm>
#include <cmath>
#include <numeric>

#include "onnx/annotations.h"
#include "onnx/element.h"
#include "onnx/importer.h"
#include "onnx/known_values.h"
#include "onnx/opset_step.h"
#include "onnx/scope.h"
#include "onnx/simplifier.h"

namespace rewright::model {

std::string SimplifyContext::fresh(const std::string& hint) {
  std::string name = hint;
  for (int i = 1; name.empty() || taken.contains(name); ++i) name = fmt::format("{}_{}", hint, i);
  taken.insert(name);
  return name;
}

GraphSimplifier::GraphSimplifier(GraphProto& graph, SimplifyContext& context, const GraphSimplifier* outer)
    : graph_(graph), context_(context), outer_(outer) {
  std::unordered_set<std::string> initializers;
  for (const TensorProto& tensor : graph_.initializer()) initializers.insert(tensor.name());
  const bool are_defaults = outer_ != nullptr || context_.stores_initializers;
  for (const auto& input : graph_.input())
    if (are_defaults || !initializers.contains(input.name())) given_.insert(input.name());
  for (const TensorProto& tensor : graph_.initializer())
    if (!given_.contains(tensor.name())) stored_[tensor.name()] = &tensor;
  for (const auto& output : graph_.output()) outputs_.insert(output.name());
  defined_ = given_;
  defined_.insert(initializers.begin(), initializers.end());
  for (const NodeProto& node : graph_.node()) {
    defined_.insert(node.output().begin(), node.output().end());
    for (std::string& name : inner_names(node)) inner_.insert(std::move(name));
  }
  annotated_ = annotating_tensors(graph_);
  for (const auto& annotation : graph_.quantization_annotation()) annotated_.insert(annotation.tensor_name());
}

void GraphSimplifier::walk() {
  count_uses();
  share_initializers();
  const auto walked = graph_.node();
  for (const NodeProto& node : walked) visit(node);
  graph_.clear_node();
  for (NodeProto& node : nodes_) *graph_.add_node() = std::move(node);
  remove_unused();
}

void GraphSimplifier::count_uses() {
  uses_.clear();
  for (const NodeProto& node : graph_.node()) {
    for (const std::string& name : node.input()) ++uses_[name];
    for (const std::string& name : captures(node)) ++uses_[name];
  }
  for (const auto& output : graph_.output()) ++uses_[output.name()];
}

/// Nodes that no output needs, and initializers that nothing uses any more.
void GraphSimplifier::remove_unused() {
  std::unordered_set<std::string> needed = outputs_;
  std::vector<bool> stays(static_cast<std::size_t>(graph_.node_size()), false);
  for (int i = graph_.node_size(); i-- > 0;) {
    const NodeProto& node = graph_.node(i);
    if (std::ranges::none_of(node.output(), [&](const std::string& name) { return needed.contains(name); })) continue;
    stays[static_cast<std::size_t>(i)] = true;
    needed.insert(node.input().begin(), node.input().end());
    for (std::string& name : captures(node)) needed.insert(std::move(name));
  }
  for (int i = graph_.node_size(); i-- > 0;)
    if (!stays[static_cast<std::size_t>(i)]) graph_.mutable_node()->DeleteSubrange(i, 1), context_.count("unused");
  auto& tensors = *graph_.mutable_initializer();
  for (int i = tensors.size(); i-- > 0;) {
    const std::string& name = tensors.Get(i).name();
    const bool was_used = uses_.contains(name) || replaced_.contains(name);
    if (was_used && !needed.contains(name) && !given_.contains(name) && !annotated_.contains(name)) {
      auto& inputs = *graph_.mutable_input();  // Which name every initializer before IR 4.
      for (int k = inputs.size(); k-- > 0;)
        if (inputs.Get(k).name() == name) inputs.DeleteSubrange(k, 1);
      tensors.DeleteSubrange(i, 1);
    }
  }
}

void GraphSimplifier::rename_inputs(NodeProto& node) const {
  for (std::string& name : *node.mutable_input())
    if (const auto found = replaced_.find(name); found != replaced_.end()) name = found->second;
  rename_captures(node, replaced_);
}

void GraphSimplifier::visit(NodeProto node) {
  rename_inputs(node);
  context_.inference->infer(node);
  if (context_.local.contains(node.domain() + ":" + node.op_type())) return emit(std::move(node));
  if (fold(node) || inline_if(node)) return;
  simplify_graphs(node);
  if (drop(node) || shorten(node) || fuse(node) || share(node)) return;
  emit(std::move(node));
}

void GraphSimplifier::simplify_graphs(NodeProto& node) {
  if (!context_.inference->runs_graphs(node)) return;
  const TypeInference::Types types = context_.inference->inputs_of_graphs(node);
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    const auto scope = context_.inference->enter(attribute.g(), types);
    GraphSimplifier(*attribute.mutable_g(), context_, this).walk();
  }
}

void GraphSimplifier::emit(NodeProto node) {
  for (const std::string& name : node.output())
    if (!name.empty()) makers_[name] = nodes_.size();
  nodes_.push_back(std::move(node));
}

/// A tensor that is known from now on: an initializer, or a Constant node where an initializer would have to be an
/// input.
void GraphSimplifier::store(TensorProto tensor) {
  const std::string name = tensor.name();
  context_.inference->set_initializer(tensor);
  uses_.emplace(name, 1);  // So that it goes where nothing uses it any more.
  defined_.insert(name);
  if (context_.stores_initializers && (outer_ == nullptr || !is_output(name))) {
    TensorProto& added = *graph_.add_initializer();
    added = std::move(tensor);
    stored_[name] = &added;
    return;
  }
  NodeProto node;
  node.set_op_type("Constant");
  node.add_output(name);
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(AttributeProto::TENSOR);
  tensor.clear_name();
  *attribute.mutable_t() = std::move(tensor);
  emit(std::move(node));
}

/// One number repeated, stored in short.
void GraphSimplifier::store_repeated(const TensorType& type, double number, const std::string& name) {
  const std::string dims = context_.fresh(name + "_shape");
  store(to_proto(integers_of_shape(Shape{static_cast<std::int64_t>(type.shape.rank())}, type.shape.dims()), dims));
  NodeProto node;
  node.set_op_type("ConstantOfShape");
  node.add_input(dims);
  node.add_output(name);
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(AttributeProto::TENSOR);
  const TensorType single{Shape{1}, type.element};
  *attribute.mutable_t() = to_proto(ConstantData{single, encode(type.element, std::vector{number})}, "");
  defined_.insert(name);
  context_.inference->infer(node);
  emit(std::move(node));
}

bool GraphSimplifier::is_used_once(const std::string& tensor) const {
  const auto found = uses_.find(tensor);
  return found != uses_.end() && found->second == 1 && !is_output(tensor);
}

const NodeProto* GraphSimplifier::maker(const std::string& tensor) const {
  const auto found = makers_.find(tensor);
  return found != makers_.end() && nodes_[found->second].output(0) == tensor ? &nodes_[found->second] : nullptr;
}

const NodeProto* GraphSimplifier::maker(const std::string& tensor, std::string_view type) const {
  const NodeProto* found = maker(tensor);
  return found != nullptr && is_own(*found, type) ? found : nullptr;
}

std::optional<Integers> GraphSimplifier::integers(const std::string& tensor) const {
  const auto value = context_.inference->value(tensor);
  if (tensor.empty() || value == nullptr) return std::nullopt;
  OnnxNode asked;
  asked.constants.push_back(value);
  auto values = asked.constant_integers(0);
  return values ? std::optional(*std::move(values)) : std::nullopt;
}

std::optional<double> GraphSimplifier::repeated_number(const std::string& tensor) const {
  const auto value = context_.inference->value(tensor);
  if (tensor.empty() || value == nullptr) return std::nullopt;
  const auto numbers = to_reals(*value);
  if (!numbers || numbers->empty()) return std::nullopt;
  for (const double number : *numbers)
    if (number != numbers->front() || std::signbit(number) != std::signbit(numbers->front())) return std::nullopt;
  return numbers->front();
}

std::optional<std::int64_t> GraphSimplifier::rank(const std::string& tensor) const {
  const TypeProto* type = context_.inference->type(tensor);
  if (type == nullptr || !type->tensor_type().has_shape()) return std::nullopt;
  return type->tensor_type().shape().dim_size();
}

/// Known, or by the same name that the model gives to sizes of its inputs.
bool GraphSimplifier::is_same_size(const std::string& a, std::int64_t axis_of_a, const std::string& b,
                                   std::int64_t axis_of_b) const {
  const auto left = size(a, axis_of_a), right = size(b, axis_of_b);
  if (left || right) return left == right;
  const auto name_of = [&](const std::string& tensor, std::int64_t axis) -> std::string {
    const TypeProto* type = context_.inference->type(tensor);
    const bool is_there = type != nullptr && axis >= 0 && axis < type->tensor_type().shape().dim_size();
    return is_there ? type->tensor_type().shape().dim(static_cast<int>(axis)).dim_param() : "";
  };
  const std::string name = name_of(a, axis_of_a);
  return context_.open_sizes.contains(name) && name == name_of(b, axis_of_b);
}

std::optional<std::int64_t> GraphSimplifier::size(const std::string& tensor, std::int64_t axis) const {
  const TypeProto* type = context_.inference->type(tensor);
  if (type == nullptr || !type->tensor_type().has_shape()) return std::nullopt;
  const auto& dims = type->tensor_type().shape().dim();
  if (axis < 0 || axis >= dims.size()) return std::nullopt;
  const auto& dim = dims.Get(static_cast<int>(axis));
  return dim.has_dim_value() && dim.dim_value() >= 0 ? std::optional(dim.dim_value()) : std::nullopt;
}

/// All known, and equal.
bool GraphSimplifier::same_sizes(const std::string& a, const std::string& b) const {
  const auto left = context_.inference->static_type(a), right = context_.inference->static_type(b);
  return left && right && *left == *right;
}

std::optional<ElementType> GraphSimplifier::element(const std::string& tensor) const {
  const TypeProto* type = context_.inference->type(tensor);
  if (type == nullptr || !type->has_tensor_type()) return std::nullopt;
  return element_type(type->tensor_type().elem_type());
}

std::optional<Integers> GraphSimplifier::perm_of(const NodeProto& transpose) const {
  if (const AttributeProto* perm = find_attribute(transpose, "perm"))
    return Integers(perm->ints().begin(), perm->ints().end());
  const auto axes = rank(transpose.input(0));
  if (!axes) return std::nullopt;
  Integers reversed(static_cast<std::size_t>(*axes));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

std::optional<Integers> GraphSimplifier::integers_of(const NodeProto& node, std::string_view attribute,
                                                     int input) const {
  if (const AttributeProto* given = find_attribute(node, attribute))
    return Integers(given->ints().begin(), given->ints().end());
  return integers(input_of(node, input));
}

/// Of a ConstantOfShape whose shape is known.
std::optional<GraphSimplifier::Numbers> GraphSimplifier::repeated_numbers(const NodeProto& node) const {
  const auto type = context_.inference->static_type(node.output(0));
  if (!type) return std::nullopt;
  double number = 0;
  if (const AttributeProto* given = find_attribute(node, "value")) {
    const auto value = read_tensor(given->t(), "");
    const auto values = value ? to_reals(*value) : Result<std::vector<double>>(value.error());
    if (!values || values->size() != 1) return std::nullopt;
    number = values->front();
  }
  return Numbers{*type, std::vector<double>(static_cast<std::size_t>(type->shape.elements()), number)};
}

std::optional<GraphSimplifier::Numbers> GraphSimplifier::numbers(const std::string& tensor) const {
  const auto read = [](const ConstantData& value) -> std::optional<Numbers> {
    auto values = to_reals(value);
    return values ? std::optional(Numbers{value.type, *std::move(values)}) : std::nullopt;
  };
  if (tensor.empty()) return std::nullopt;
  if (const auto value = context_.inference->value(tensor)) return read(*value);
  if (const auto found = stored_.find(tensor); found != stored_.end()) {
    if (found->second->data_location() == TensorProto::EXTERNAL) return std::nullopt;
    const auto value = read_tensor(*found->second, "");
    return value ? read(*value) : std::nullopt;
  }
  if (const NodeProto* constant = maker(tensor, "Constant")) {
    const auto value = constant_of_node(*constant, "");
    return value ? read(*value) : std::nullopt;
  }
  if (const NodeProto* filled = maker(tensor, "ConstantOfShape")) return repeated_numbers(*filled);
  return outer_ != nullptr && !defined_.contains(tensor) ? outer_->numbers(tensor) : std::nullopt;
}

}  // namespace rewright::model
