// Shapes that copy sizes of other tensors.
//
//   Reshape(x, [Shape(x)[0], 3, n])        = Reshape(x, [0, 3, -1])   of real shapes (not at SimplifyLevel::kExact)
//   Reshape(x, [Shape(x)[0], 3, -1])       = Reshape(x, [0, 3, -1])
//   Reshape(x, Shape(x)), Expand(x, Shape(x)) = x
//
// Shape(f(x)) counts as Shape(x) where f keeps sizes. Where one size is left to be found out, all others' product must
// not be 0; so `n` becomes -1 only where empty tensors need not give the same error.
#include <algorithm>

#include "onnx/element.h"
#include "onnx/opset_step.h"
#include "onnx/simplifier.h"

namespace rewright::model {
namespace {

constexpr int kDeepestShape = 32;

}  // namespace

/// The tensor furthest up that has the sizes of this one in every run.
std::string GraphSimplifier::with_same_sizes(std::string tensor) const {
  for (int i = 0; i < kDeepestShape; ++i) {
    const NodeProto* made_by = maker(tensor);
    if (made_by == nullptr || !keeps_sizes(*made_by)) break;
    tensor = made_by->input(0);
  }
  return tensor;
}

/// What the elements of a tensor of integers are; nothing where their number is not known.
std::optional<GraphSimplifier::ShapeElements> GraphSimplifier::shape_elements(const std::string& tensor,
                                                                              int depth) const {
  if (const auto known = integers(tensor)) {
    ShapeElements elements;
    for (const std::int64_t number : *known) elements.push_back({number});
    return elements;
  }
  const NodeProto* node = depth < kDeepestShape ? maker(tensor) : nullptr;
  if (node != nullptr && rank(tensor) && *rank(tensor) <= 1) {
    if (is_own(*node, "Shape")) return shape_of(*node);
    if (is_own(*node, "Concat")) return joined(*node, depth);
    if (is_own(*node, "Gather")) return gathered(*node, depth);
    if (is_own(*node, "Slice")) return sliced(*node, depth);
    const bool is_moved = is_own(*node, "Unsqueeze") || is_own(*node, "Squeeze") || is_own(*node, "Identity") ||
                          (is_own(*node, "Cast") && element(tensor) == ElementType::kInt64);
    const auto before = is_moved ? rank(node->input(0)) : std::nullopt;
    if (before && *before <= 1 && element(node->input(0)) == ElementType::kInt64)
      return shape_elements(node->input(0), depth + 1);
  }
  const auto type = context_.inference->static_type(tensor);
  if (!type || type->shape.rank() > 1) return std::nullopt;
  return ShapeElements(static_cast<std::size_t>(type->shape.elements()));
}

std::optional<GraphSimplifier::ShapeElements> GraphSimplifier::shape_of(const NodeProto& shape) const {
  const std::string& whole = shape.input(0);
  const auto axes = rank(whole);
  if (!axes) return std::nullopt;
  const auto place = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? given + *axes : given, 0, *axes);
  };
  ShapeElements elements;
  for (std::int64_t i = place(integer_or(shape, "start", 0)); i < place(integer_or(shape, "end", *axes)); ++i) {
    if (const auto number = size(whole, i)) {
      elements.push_back({number});
    } else {
      elements.push_back({std::nullopt, with_same_sizes(whole), i});
    }
  }
  return elements;
}

std::optional<GraphSimplifier::ShapeElements> GraphSimplifier::joined(const NodeProto& concat, int depth) const {
  ShapeElements elements;
  for (const std::string& part : concat.input()) {
    const auto inner = shape_elements(part, depth + 1);
    if (!inner) return std::nullopt;
    elements.insert(elements.end(), inner->begin(), inner->end());
  }
  return elements;
}

std::optional<GraphSimplifier::ShapeElements> GraphSimplifier::gathered(const NodeProto& gather, int depth) const {
  const auto whole = shape_elements(gather.input(0), depth + 1);
  const auto places = integers(gather.input(1));
  if (!whole || !places) return std::nullopt;
  ShapeElements elements;
  for (std::int64_t place : *places) {
    const auto count = static_cast<std::int64_t>(whole->size());
    if (place < 0) place += count;
    if (place < 0 || place >= count) return std::nullopt;
    elements.push_back((*whole)[static_cast<std::size_t>(place)]);
  }
  return elements;
}

/// Forwards, one by one.
std::optional<GraphSimplifier::ShapeElements> GraphSimplifier::sliced(const NodeProto& slice, int depth) const {
  const auto whole = shape_elements(slice.input(0), depth + 1);
  const auto starts = integers_of(slice, "starts", 1), ends = integers_of(slice, "ends", 2);
  const bool is_forward = input_of(slice, 4).empty() || repeated_number(slice.input(4)) == 1.0;
  if (!whole || !starts || !ends || starts->size() != 1 || ends->size() != 1 || !is_forward) return std::nullopt;
  const auto count = static_cast<std::int64_t>(whole->size());
  const auto place = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? given + count : given, 0, count);
  };
  const std::int64_t first = place(starts->front()), last = std::max(first, place(ends->front()));
  return ShapeElements(whole->begin() + first, whole->begin() + last);
}

/// Reshape and Expand whose shape is that of the operand.
bool GraphSimplifier::is_shaped_as_before(const NodeProto& node) const {
  if (node.input_size() != 2 || integer_or(node, "allowzero", 0) != 0) return false;
  const auto elements = shape_elements(node.input(1));
  const auto axes = rank(node.input(0));
  if (!elements || !axes || static_cast<std::int64_t>(elements->size()) != *axes) return false;
  const std::string whole = with_same_sizes(node.input(0));
  for (std::int64_t i = 0; i < *axes; ++i) {
    const ShapeElement& at = (*elements)[static_cast<std::size_t>(i)];
    const bool is_same = at.number ? at.number == size(node.input(0), i) : at.tensor == whole && at.axis == i;
    if (!is_same) return false;
  }
  return true;
}

bool GraphSimplifier::copy_sizes(NodeProto& reshape) {
  if (integers(reshape.input(1)) || integer_or(reshape, "allowzero", 0) != 0) return false;
  const auto elements = shape_elements(reshape.input(1));
  const auto axes = rank(reshape.input(0));
  if (!elements || elements->empty()) return false;
  const std::string whole = with_same_sizes(reshape.input(0));
  Integers sizes;
  int unknown = 0;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    const ShapeElement& at = (*elements)[i];
    const auto axis = static_cast<std::int64_t>(i);
    const bool is_copied = !at.number && at.tensor == whole && at.axis == axis && axes && axis < *axes;
    if (!at.number && !is_copied && context_.exact()) return false;
    sizes.push_back(at.number ? *at.number : is_copied ? 0 : -1);
    unknown += static_cast<int>(sizes.back() < 0);
  }
  if (unknown > 1) return false;
  const std::string name = context_.fresh(reshape.output(0) + "_shape");
  store(to_proto(integers_of_shape(Shape{static_cast<std::int64_t>(sizes.size())}, sizes), name));
  reshape.set_input(1, name);
  context_.count("chains");
  return true;
}

}  // namespace rewright::model
