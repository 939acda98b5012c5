#include <algorithm>

#include "onnx/element.h"
#include "onnx/opset_step.h"
#include "onnx/scope.h"
#include "onnx/simplifier.h"

namespace rewright::model {
namespace {

/// Larger values are left to the run.
constexpr std::int64_t kMostFoldedBytes = 64 << 10;

}  // namespace

bool GraphSimplifier::fold(const NodeProto& node) {
  if (is_own(node, "Constant") || !is_function(node)) return false;
  std::map<std::string, std::shared_ptr<const ConstantData>> made;
  for (const std::string& name : node.output()) {
    if (!is_used(name)) continue;
    const auto value = context_.inference->value(name);
    if (value == nullptr || static_cast<std::int64_t>(bytes_of(*value).size()) > kMostFoldedBytes) return false;
    made[name] = value;
  }
  if (made.empty()) return false;
  for (const auto& [name, value] : made) store(to_proto(*value, name));
  context_.count("known");
  return true;
}

/// The nodes of the branch that is always taken, with new names where another graph has theirs; then one Identity for
/// each output.
bool GraphSimplifier::inline_if(const NodeProto& node) {
  if (!is_own(node, "If")) return false;
  const auto condition = repeated_number(node.input(0));
  const AttributeProto* taken =
      condition ? find_attribute(node, *condition != 0 ? "then_branch" : "else_branch") : nullptr;
  if (taken == nullptr || !taken->has_g() || taken->g().output_size() < node.output_size()) return false;
  if (taken->g().sparse_initializer_size() > 0 || taken->g().quantization_annotation_size() > 0) return false;
  const GraphProto& branch = taken->g();
  std::map<std::string, std::string> renamed;
  const auto define = [&](const std::string& name) {
    if (!name.empty() && context_.taken.count(name) > 1) renamed[name] = context_.fresh(name);
  };
  for (const TensorProto& tensor : branch.initializer()) define(tensor.name());
  for (const NodeProto& inner : branch.node())
    for (const std::string& name : inner.output()) define(name);
  const auto now = [&](const std::string& name) {
    const auto found = renamed.find(name);
    return found == renamed.end() ? name : found->second;
  };
  for (TensorProto tensor : branch.initializer()) {
    tensor.set_name(now(tensor.name()));
    uses_[tensor.name()] = 2;
    store(std::move(tensor));
  }
  context_.count("constant If");
  for (NodeProto inner : branch.node()) {
    for (std::string& name : *inner.mutable_input()) name = now(name);
    rename_captures(inner, renamed);
    for (std::string& name : *inner.mutable_output()) {
      name = now(name);
      if (!name.empty()) uses_[name] = 2;
    }
    visit(std::move(inner));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    NodeProto same;
    same.set_op_type("Identity");
    same.add_input(now(branch.output(i).name()));
    same.add_output(node.output(i));
    visit(std::move(same));
  }
  return true;
}

bool GraphSimplifier::share(const NodeProto& node) {
  if (!is_function(node) || is_own(node, "Constant") || node.output_size() == 0) return false;
  NodeProto content = node;
  content.clear_name(), content.clear_doc_string(), content.clear_output();
  std::ranges::sort(*content.mutable_attribute(), {}, [](const AttributeProto& given) { return given.name(); });
  const auto [found, is_new] =
      by_content_.emplace(fmt::format("{} {}", node.output_size(), content.SerializeAsString()), nodes_.size());
  if (is_new) return false;
  const NodeProto& first = nodes_[found->second];
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string &output = node.output(i), &same = first.output(i);
    if (is_used(output) &&
        (same.empty() || is_output(output) || annotated_.contains(output) || !stands_everywhere(same)))
      return false;
  }
  for (int i = 0; i < node.output_size(); ++i)
    if (is_used(node.output(i))) replaced_[node.output(i)] = first.output(i);
  context_.count("shared");
  return true;
}

/// Of equal initializers the first stays.
void GraphSimplifier::share_initializers() {
  std::map<std::string, std::string> first;
  for (const TensorProto& tensor : graph_.initializer()) {
    const std::string& name = tensor.name();
    if (given_.contains(name) || is_output(name) || annotated_.contains(name)) continue;
    if (tensor.data_location() == TensorProto::EXTERNAL) continue;
    TensorProto content = tensor;
    content.clear_name(), content.clear_doc_string();
    const auto [found, is_new] = first.emplace(content.SerializeAsString(), name);
    if (is_new || !stands_everywhere(found->second)) continue;
    replaced_[name] = found->second;
    if (uses_.contains(name)) context_.count("shared");
  }
}

}  // namespace rewright::model
