#include <algorithm>
#include <cmath>
#include <set>

#include "onnx/opset_step.h"
#include "onnx/scope.h"
#include "onnx/simplifier.h"

namespace rewright::model {
namespace {

/// Since then training_mode of Dropout is an input.
constexpr std::int64_t kOpsetOfTrainingInput = 12;

}  // namespace

/// Takes `by` where the node's first output stood. The graph's outputs keep their names.
bool GraphSimplifier::replace(const NodeProto& node, const std::string& by, const std::string& kind) {
  const std::string& output = node.output(0);
  if (annotated_.contains(output) || annotated_.contains(by)) return false;
  if (!stands_everywhere(by) || !stands_everywhere(output)) return false;
  if (is_output(output)) {
    if (!makers_.contains(by) || is_output(by) || given_.contains(by)) return false;
    rename_made(by, output);
  } else {
    replaced_[output] = by;
  }
  context_.count(kind);
  return true;
}

/// Another name for a tensor that a node makes, with all that uses it.
void GraphSimplifier::rename_made(const std::string& from, const std::string& to) {
  const std::map<std::string, std::string> renamed = {{from, to}};
  for (NodeProto& node : nodes_) {
    for (std::string& name : *node.mutable_output())
      if (name == from) name = to;
    for (std::string& name : *node.mutable_input())
      if (name == from) name = to;
    rename_captures(node, renamed);
  }
  for (auto& [name, by] : replaced_)
    if (by == from) by = to;
  replaced_[from] = to;
  makers_[to] = makers_.at(from);
  makers_.erase(from);
  by_content_.clear();  // It names operands.
}

bool GraphSimplifier::drop(const NodeProto& node) {
  if (!normal_domain(node.domain()).empty() || node.output_size() == 0 || node.input_size() == 0) return false;
  for (int i = 1; i < node.output_size(); ++i)
    if (is_used(node.output(i))) return false;
  const auto same = same_as(node);
  if (!same) return false;
  const bool is_sum = is_own(node, "Add") || is_own(node, "Sub");
  return replace(node, *same, is_sum && !neutral(node, true) ? "x+0" : "nothing");
}

bool GraphSimplifier::is_dropout_without_effect(const NodeProto& node) const {
  if (context_.opset < kOpsetOfBroadcasting) return false;  // It drops without a word.
  if (context_.opset < kOpsetOfTrainingInput || input_of(node, 2).empty()) return true;
  return repeated_number(node.input(2)) == 0.0;
}

/// The operand that the node's first output always is.
std::optional<std::string> GraphSimplifier::same_as(const NodeProto& node) const {
  const std::string &type = node.op_type(), &first = node.input(0), &output = node.output(0);
  if (first.empty()) return std::nullopt;
  const auto yes_if = [&](bool is_same) { return is_same ? std::optional(first) : std::nullopt; };
  if (type == "Identity") return first;
  if (type == "Dropout") return yes_if(is_dropout_without_effect(node));
  if (type == "Cast") {
    const auto from = element(first);
    return yes_if(from && static_cast<std::int64_t>(*from) == integer_or(node, "to", 0));
  }
  if (type == "Concat" || type == "Sum" || type == "Mean" || type == "Max" || type == "Min")
    return yes_if(node.input_size() == 1);
  if (type == "Transpose") {
    const auto perm = perm_of(node);
    return yes_if(perm && is_in_order(*perm));
  }
  if (type == "Pad") {
    const auto pads = integers_of(node, "pads", 1);
    return yes_if(pads && std::ranges::all_of(*pads, [](std::int64_t pad) { return pad == 0; }));
  }
  if (type == "Reshape" || type == "Flatten" || type == "Expand")
    return yes_if(same_sizes(first, output) || is_shaped_as_before(node));
  if (type == "Slice") {
    const bool is_forward = input_of(node, 4).empty() || repeated_number(node.input(4)) == 1.0;
    return yes_if(is_forward && same_sizes(first, output));
  }
  if (type == "Tile")
    return yes_if(context_.opset >= kOpsetOfBroadcasting && repeated_number(input_of(node, 1)) == 1.0);
  if (type == "Squeeze") {
    const NodeProto* inner = maker(first, "Unsqueeze");
    if (inner == nullptr) return std::nullopt;
    const auto added = integers_of(*inner, "axes", 1), taken = integers_of(node, "axes", 1);
    return added && added == taken ? std::optional(inner->input(0)) : std::nullopt;
  }
  if (!context_.exact()) {  // A search has rules for these.
    static const std::set<std::string_view> kIdempotent = {"Abs", "Ceil", "Floor", "Relu", "Round", "Sign"};
    if (kIdempotent.contains(type)) return yes_if(maker(first, type) != nullptr);
    const NodeProto* inner = type == "Neg" || type == "Not" ? maker(first, type) : nullptr;
    if (inner != nullptr) return inner->input(0);
  }
  return neutral(node, context_.exact());
}

/// x*1, 1*x, x/1, x-0, x+0 and 0+x. To the last bit numbers with a fraction take only x+(-0): x+0 makes -0 into 0.
/// The constant must not make x larger.
std::optional<std::string> GraphSimplifier::neutral(const NodeProto& node, bool exact) const {
  const std::string& type = node.op_type();
  const bool is_product = type == "Mul" || type == "Div", is_sum = type == "Add" || type == "Sub";
  if (context_.opset < kOpsetOfBroadcasting || (!is_product && !is_sum) || node.input_size() != 2) return std::nullopt;
  for (const int constant : {1, 0}) {
    if (constant == 0 && (type == "Div" || type == "Sub")) break;
    const std::string &x = node.input(1 - constant), &one = node.input(constant);
    const auto number = repeated_number(one);
    const auto kind = element(x);
    if (!number || !kind || *number != (is_product ? 1 : 0)) continue;
    if (exact && is_floating(*kind) && is_sum && (type == "Add") != std::signbit(*number)) continue;
    const auto small = context_.inference->static_type(one);
    const auto own = rank(x);
    const bool is_single =
        small && own && small->shape.elements() == 1 && static_cast<std::int64_t>(small->shape.rank()) <= *own;
    if (is_single || same_sizes(x, node.output(0))) return x;
  }
  return std::nullopt;
}

}  // namespace rewright::model
