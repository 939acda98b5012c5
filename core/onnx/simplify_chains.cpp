#include <algorithm>

#include "onnx/element.h"
#include "onnx/opset_step.h"
#include "onnx/scope.h"
#include "onnx/simplifier.h"

namespace rewright::model {
namespace {

/// Functions of single elements between two Transposes at most.
constexpr int kDeepestChain = 8;

}  // namespace

/// The node takes from further up.
bool GraphSimplifier::shorten(NodeProto& node) {
  if (is_own(node, "Cast")) return shorten_cast(node);
  if (is_own(node, "Reshape") && node.input_size() == 2) return shorten_reshape(node);
  return is_own(node, "Transpose") && shorten_transpose(node);
}

bool GraphSimplifier::shorten_cast(NodeProto& node) {
  const NodeProto* inner = maker(node.input(0), "Cast");
  const auto from = inner == nullptr ? std::nullopt : element(inner->input(0));
  const auto through = element(node.input(0));
  if (!from || !through || !loses_nothing(*from, *through)) return false;
  node.set_input(0, inner->input(0));
  context_.count("chains");
  const auto same = same_as(node);
  return same && replace(node, *same, "nothing");
}

bool GraphSimplifier::shorten_reshape(NodeProto& node) {
  copy_sizes(node);
  const NodeProto* inner = maker(node.input(0), "Reshape");
  const auto sizes = integers(node.input(1));
  if (inner == nullptr || !sizes || std::ranges::find(*sizes, 0) != sizes->end()) return false;
  node.set_input(0, inner->input(0));
  context_.count("chains");
  return false;
}

bool GraphSimplifier::shorten_transpose(NodeProto& node) {
  const auto perm = perm_of(node);
  if (!perm) return false;
  const NodeProto* inner = maker(node.input(0), "Transpose");
  if (inner == nullptr) return cross_transpose(node, *perm);
  const auto before = perm_of(*inner);
  if (!before || before->size() != perm->size()) return false;
  const Integers both = composed(*before, *perm);
  const std::string source = inner->input(0);
  if (is_in_order(both) && replace(node, source, "chains")) return true;
  node.set_input(0, source);
  set_attribute(node, "perm", both);
  context_.count("chains");
  return false;
}

/// Transpose(f(Transpose(x))) = f(x), where the two undo each other.
bool GraphSimplifier::cross_transpose(const NodeProto& node, const Integers& perm) {
  const auto found = makers_.find(node.input(0));
  if (found == makers_.end() || !is_elementwise(nodes_[found->second])) return false;
  std::vector<NodeProto> made;
  if (!untransposed(node.input(0), perm, 0, made) || made.empty()) return false;
  made.back().set_output(0, node.output(0));
  for (NodeProto& step : made) {
    context_.inference->infer(step);
    emit(std::move(step));
  }
  context_.count("chains");
  return true;
}

/// The tensor that `tensor` is before a Transpose undoes `perm`; nothing where it takes more than it saves.
std::optional<std::string> GraphSimplifier::untransposed(const std::string& tensor, const Integers& perm, int depth,
                                                         std::vector<NodeProto>& made) {
  if (const auto type = context_.inference->static_type(tensor);
      depth > 0 && type && type->shape.elements() == 1 && type->shape.rank() <= 1)
    return tensor;
  if (const NodeProto* transpose = maker(tensor, "Transpose")) {
    const auto before = perm_of(*transpose);
    if (!before || before->size() != perm.size() || !is_in_order(composed(*before, perm))) return std::nullopt;
    return transpose->input(0);
  }
  const auto found = makers_.find(tensor);
  if (found == makers_.end() || depth >= kDeepestChain || !is_used_once(tensor) || annotated_.contains(tensor))
    return std::nullopt;
  NodeProto step = nodes_[found->second];
  if (!is_elementwise(step)) return std::nullopt;
  bool is_any = false;
  for (std::string& input : *step.mutable_input()) {
    if (input.empty()) continue;
    auto before = untransposed(input, perm, depth + 1, made);
    if (!before) return std::nullopt;
    is_any = is_any || *before != input;
    input = *std::move(before);
  }
  if (!is_any) return std::nullopt;
  step.set_output(0, context_.fresh(step.output(0)));
  made.push_back(step);
  return step.output(0);
}

}  // namespace rewright::model
