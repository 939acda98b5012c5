// Types of what graphs inside nodes give: If, Loop, Scan, and functions of the model.
#include <algorithm>

#include "onnx/infer.h"
#include "onnx/scope.h"

namespace rewright::model {
namespace {

/// Graphs and functions inside each other at most; functions may call each other.
constexpr int kDeepest = 16;

using Types = std::vector<std::optional<TypeProto>>;

const GraphProto* graph_of(const NodeProto& node, std::string_view name) {
  for (const AttributeProto& attribute : node.attribute())
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  return nullptr;
}

std::vector<std::int64_t> integers_of(const NodeProto& node, std::string_view name) {
  for (const AttributeProto& attribute : node.attribute())
    if (attribute.name() == name) return {attribute.ints().begin(), attribute.ints().end()};
  return {};
}

/// What two runs agree on: the element type, the rank, each size. Nothing where they are of two element types.
std::optional<TypeProto> common(const std::optional<TypeProto>& a, const std::optional<TypeProto>& b) {
  if (!a || !b) return std::nullopt;
  if (a->SerializeAsString() == b->SerializeAsString()) return a;
  if (!a->has_tensor_type() || !b->has_tensor_type() || a->tensor_type().elem_type() != b->tensor_type().elem_type())
    return std::nullopt;
  TypeProto both;
  both.mutable_tensor_type()->set_elem_type(a->tensor_type().elem_type());
  const auto& left = a->tensor_type().shape();
  const auto& right = b->tensor_type().shape();
  if (!a->tensor_type().has_shape() || !b->tensor_type().has_shape() || left.dim_size() != right.dim_size())
    return both;
  auto& shape = *both.mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < left.dim_size(); ++i) {
    auto& dim = *shape.add_dim();
    if (left.dim(i).has_dim_value() && right.dim(i).has_dim_value() &&
        left.dim(i).dim_value() == right.dim(i).dim_value())
      dim.set_dim_value(left.dim(i).dim_value());
  }
  return both;
}

bool same(const std::optional<TypeProto>& a, const std::optional<TypeProto>& b) {
  return a.has_value() == b.has_value() && (!a || a->SerializeAsString() == b->SerializeAsString());
}

TypeProto scalar(int element) {
  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(element);
  type.mutable_tensor_type()->mutable_shape();
  return type;
}

/// The type with one more axis; `size` below 0: it is not known.
std::optional<TypeProto> stacked(const std::optional<TypeProto>& part, std::int64_t axis, std::int64_t size) {
  if (!part || !part->has_tensor_type()) return std::nullopt;
  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(part->tensor_type().elem_type());
  if (!part->tensor_type().has_shape()) return type;
  const auto& dims = part->tensor_type().shape().dim();
  if (axis < 0) axis += dims.size() + 1;
  if (axis < 0 || axis > dims.size()) return type;
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (int i = 0; i <= dims.size(); ++i) {
    auto& dim = *shape.add_dim();
    if (i == axis && size >= 0) dim.set_dim_value(size);
    if (i != axis) dim = dims.Get(i < axis ? i : i - 1);
  }
  return type;
}

/// The type without an axis, and that axis's size, -1 where it is not known.
std::pair<std::optional<TypeProto>, std::int64_t> unstacked(const std::optional<TypeProto>& whole, std::int64_t axis) {
  if (!whole || !whole->has_tensor_type() || !whole->tensor_type().has_shape()) return {std::nullopt, -1};
  const auto& dims = whole->tensor_type().shape().dim();
  if (axis < 0) axis += dims.size();
  if (axis < 0 || axis >= dims.size()) return {std::nullopt, -1};
  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(whole->tensor_type().elem_type());
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < dims.size(); ++i)
    if (i != axis) *shape.add_dim() = dims.Get(i);
  const auto& taken = dims.Get(static_cast<int>(axis));
  return {std::move(type), taken.has_dim_value() ? taken.dim_value() : -1};
}

std::optional<std::int64_t> single(const std::shared_ptr<const ConstantData>& value) {
  if (value == nullptr || value->type.shape.elements() != 1) return std::nullopt;
  const auto numbers = to_reals(*value);
  if (!numbers) return std::nullopt;
  return static_cast<std::int64_t>(numbers->front());
}

std::int64_t scanned_count(const NodeProto& node) {
  for (const AttributeProto& attribute : node.attribute())
    if (attribute.name() == "num_scan_inputs") return attribute.i();
  return 0;
}

std::int64_t axis_of(const std::vector<std::int64_t>& axes, std::size_t i) { return i < axes.size() ? axes[i] : 0; }

}  // namespace

TypeInference::Scope::Scope(TypeInference& inference, std::vector<std::string> names)
    : inference_(inference), names_(std::move(names)) {
  ++inference_.depth_;
  for (const std::string& name : names_) {
    types_.push_back(inference_.type_copy(name));
    values_.push_back(inference_.value(name));
    inference_.types_.erase(name), inference_.values_.erase(name), inference_.followed_.erase(name);
  }
}

TypeInference::Scope::~Scope() {
  --inference_.depth_;
  for (std::size_t i = names_.size(); i-- > 0;) {
    inference_.types_.erase(names_[i]), inference_.values_.erase(names_[i]), inference_.followed_.erase(names_[i]);
    if (types_[i]) inference_.types_[names_[i]] = std::move(*types_[i]);
    if (values_[i]) inference_.values_[names_[i]] = std::move(values_[i]);
  }
}

bool TypeInference::runs_graphs(const NodeProto& node) const {
  if (!normal_domain(node.domain()).empty() || functions_.contains(node.domain() + ":" + node.op_type())) return false;
  return node.op_type() == "If" || node.op_type() == "Loop" || (node.op_type() == "Scan" && opset_ >= 9);
}

std::unique_ptr<TypeInference::Scope> TypeInference::enter(const GraphProto& graph, const Types& inputs) {
  std::vector<std::string> names;
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const TensorProto& tensor : graph.initializer()) names.push_back(tensor.name());
  for (const NodeProto& node : graph.node()) names.insert(names.end(), node.output().begin(), node.output().end());
  auto scope = std::make_unique<Scope>(*this, std::move(names));
  for (const TensorProto& tensor : graph.initializer()) set_initializer(tensor);
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    values_.erase(graph.input(i).name());
    if (k < inputs.size() && inputs[k]) set_type(graph.input(i).name(), *inputs[k]);
  }
  return scope;
}

TypeInference::Types TypeInference::inputs_of_graphs(const NodeProto& node) {
  if (node.op_type() == "Loop") return loop_inputs(node, nullptr);
  if (node.op_type() == "Scan") return scan_inputs(node, nullptr);
  return {};
}

bool TypeInference::infer_graphs(const NodeProto& node) {
  if (functions_.contains(node.domain() + ":" + node.op_type())) return infer_function(node);
  if (!normal_domain(node.domain()).empty()) return false;
  if (node.op_type() == "If") return infer_if(node), true;
  if (node.op_type() == "Loop") return infer_loop(node), true;
  if (node.op_type() == "Scan" && opset_ >= 9) return infer_scan(node), true;
  return false;
}

/// The types of the graph's outputs, where its inputs have these.
Types TypeInference::walk(const GraphProto& graph, const Types& inputs) {
  Types outputs(static_cast<std::size_t>(graph.output_size()));
  if (depth_ >= kDeepest) return outputs;
  const auto scope = enter(graph, inputs);
  for (const NodeProto& node : graph.node()) infer(node);
  for (int i = 0; i < graph.output_size(); ++i)
    outputs[static_cast<std::size_t>(i)] = type_copy(graph.output(i).name());
  return outputs;
}

void TypeInference::set_outputs(const NodeProto& node, const Types& types) {
  trouble_.clear();
  for (int i = 0; i < node.output_size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!node.output(i).empty() && k < types.size() && types[k]) set_type(node.output(i), *types[k]);
  }
}

/// Those of the branch that is taken, where that is known.
void TypeInference::infer_if(const NodeProto& node) {
  const GraphProto* yes = graph_of(node, "then_branch");
  const GraphProto* no = graph_of(node, "else_branch");
  if (yes == nullptr || no == nullptr || node.input_size() != 1) return;
  if (const auto condition = single(value(node.input(0))))
    return set_outputs(node, walk(*condition != 0 ? *yes : *no, {}));
  const Types then_types = walk(*yes, {}), else_types = walk(*no, {});
  Types types;
  for (std::size_t i = 0; i < std::min(then_types.size(), else_types.size()); ++i)
    types.push_back(common(then_types[i], else_types[i]));
  set_outputs(node, types);
}

/// Inputs: how often, the condition, what is carried. The body's: the count so far, the condition, what is carried; it
/// gives the condition, what is carried, what is stacked. Empty where the node is no Loop.
Types TypeInference::loop_inputs(const NodeProto& node, Types* body_outputs) {
  const GraphProto* body = graph_of(node, "body");
  const auto carried = static_cast<std::size_t>(std::max(0, node.input_size() - 2));
  if (body == nullptr || static_cast<std::size_t>(body->output_size()) < 1 + carried) return {};
  Types inputs = {scalar(TensorProto::INT64), scalar(TensorProto::BOOL)};
  for (std::size_t i = 0; i < carried; ++i) inputs.push_back(type_copy(node.input(static_cast<int>(i) + 2)));
  for (bool is_stable = false; !is_stable;) {  // Each round forgets a size, a rank or a type.
    const Types outputs = walk(*body, inputs);
    is_stable = true;
    for (std::size_t i = 0; i < carried; ++i) {
      auto kept = common(inputs[i + 2], outputs[i + 1]);
      if (same(kept, inputs[i + 2])) continue;
      inputs[i + 2] = std::move(kept);
      is_stable = false;
    }
    if (is_stable && body_outputs != nullptr) *body_outputs = outputs;
  }
  return inputs;
}

void TypeInference::infer_loop(const NodeProto& node) {
  Types outputs;
  const Types inputs = loop_inputs(node, &outputs);
  if (inputs.empty()) return;
  Types types(inputs.begin() + 2, inputs.end());
  for (std::size_t i = 1 + types.size(); i < outputs.size(); ++i) types.push_back(stacked(outputs[i], 0, -1));
  set_outputs(node, types);
}

/// Inputs: what is carried, then what is cut into slices, so many. Empty where the node is no Scan.
Types TypeInference::scan_inputs(const NodeProto& node, std::int64_t* length) {
  const GraphProto* body = graph_of(node, "body");
  const std::int64_t scanned = scanned_count(node), carried = node.input_size() - scanned;
  if (body == nullptr || scanned < 1 || carried < 0 || body->output_size() < carried) return {};
  const std::vector<std::int64_t> cut_axes = integers_of(node, "scan_input_axes");
  Types inputs;
  for (int i = 0; i < node.input_size(); ++i) {
    auto given = type_copy(node.input(i));
    if (i >= carried) {
      const auto [slice, size] = unstacked(given, axis_of(cut_axes, static_cast<std::size_t>(i - carried)));
      given = slice;
      if (length != nullptr) *length = std::max(*length, size);
    }
    inputs.push_back(std::move(given));
  }
  const auto forget = [&](const Types& outputs) {
    bool is_stable = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(carried); ++i) {
      auto kept = common(inputs[i], outputs[i]);
      if (same(kept, inputs[i])) continue;
      inputs[i] = std::move(kept);
      is_stable = false;
    }
    return is_stable;
  };
  while (carried > 0 && !forget(walk(*body, inputs))) continue;
  return inputs;
}

/// The body gives what is carried, then slices that are stacked.
void TypeInference::infer_scan(const NodeProto& node) {
  std::int64_t length = -1;
  const Types inputs = scan_inputs(node, &length);
  if (inputs.empty()) return;
  const std::vector<std::int64_t> stack_axes = integers_of(node, "scan_output_axes");
  const auto state = static_cast<std::size_t>(node.input_size() - scanned_count(node));
  const Types outputs = walk(*graph_of(node, "body"), inputs);
  Types types;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    types.push_back(i < state ? common(inputs[i], outputs[i])
                              : stacked(outputs[i], axis_of(stack_axes, i - state), length));
  set_outputs(node, types);
}

/// Its nodes, in place of the node; attributes that the call gives say nothing about types here.
bool TypeInference::infer_function(const NodeProto& node) {
  const ::onnx::FunctionProto& function = *functions_.at(node.domain() + ":" + node.op_type());
  GraphProto body;
  for (const std::string& name : function.input()) body.add_input()->set_name(name);
  for (const std::string& name : function.output()) body.add_output()->set_name(name);
  for (const NodeProto& inner : function.node()) {
    if (std::ranges::any_of(inner.attribute(), [](const auto& given) { return !given.ref_attr_name().empty(); }))
      return true;
    *body.add_node() = inner;
  }
  for (const auto& import : function.opset_import())
    if (normal_domain(import.domain()).empty() && import.version() != opset_) return true;
  Types inputs;
  for (const std::string& name : node.input()) inputs.push_back(type_copy(name));
  set_outputs(node, walk(body, inputs));
  return true;
}

}  // namespace rewright::model
