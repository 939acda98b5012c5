// What translations between operators and ONNX have in common.
#pragma once

#include <rewright/onnx/onnx.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

/// kUnsupported: the node stays in the model as it is, for the reason given.
template <class... Args>
[[nodiscard]] Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kUnsupported, format, std::forward<Args>(args)...);
}

/// An ONNX axis counted from the front. Errors: kShape if there is no such axis.
[[nodiscard]] inline Result<std::int64_t> axis_from_front(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return shape_error("axis {} of a tensor of rank {}", axis, rank);
  return axis < 0 ? axis + rank : axis;
}
[[nodiscard]] inline Result<std::vector<std::int64_t>> axes_from_front(std::vector<std::int64_t> axes, int rank) {
  for (std::int64_t& axis : axes) {
    REWRIGHT_TRY(axis, axis_from_front(axis, rank));
  }
  return axes;
}

/// A weight that holds one number in a tensor of rank 0, of the element type of `like`.
[[nodiscard]] inline Port scalar_like(GraphBuilder& graph, Port like, double value) {
  return graph.constant({{Shape{}, graph.type(like).element}, value});
}

/// The number that input `i` stands for, if it is a known constant of one element: 0.1, where it is the nearest
/// float32.
[[nodiscard]] inline std::optional<double> known_number(const OnnxNode& node, std::size_t i) {
  if (i >= node.constants.size() || !node.constants[i] || node.constants[i]->type.shape.elements() != 1) return {};
  auto values = to_reals(*node.constants[i]);
  return values ? std::optional(meant_number(node.constants[i]->type.element, values->front())) : std::nullopt;
}

/// A list of integers that older opsets give as an attribute and newer ones as input `i`; `otherwise` if it is left
/// out. Errors: kUnsupported if it is computed by the model.
[[nodiscard]] inline Result<std::vector<std::int64_t>> listed(const OnnxNode& node, const std::string& attribute,
                                                              std::size_t i, std::vector<std::int64_t> otherwise) {
  if (node.attributes.contains(attribute) || !node.has_input(i)) return node.integers(attribute, std::move(otherwise));
  return node.constant_integers(i);
}

/// Reshaped, unless it has that shape already.
[[nodiscard]] inline Result<Port> reshaped(GraphBuilder& graph, Port x, const Shape& shape) {
  if (graph.shape(x) == shape) return x;
  return graph.apply1("reshape", {{"sizes", std::vector<std::int64_t>(shape.begin(), shape.end())}}, {x});
}

/// Operand `i` of a broadcasting node as today's ONNX has it: before opset 7, "axis" says where its first axis belongs.
[[nodiscard]] inline Result<Port> broadcast_operand(const OnnxNode& node, GraphBuilder& graph, std::size_t i) {
  const Port operand = *node.inputs[i];
  if (node.opset >= 7 || !node.attributes.contains("axis")) return operand;
  const int rank = graph.shape(*node.inputs[0]).rank();
  REWRIGHT_TRY(const auto axis, axis_from_front(node.integer("axis", 0), rank));
  Shape shape = graph.shape(operand);
  while (shape.rank() + axis < rank) shape.append(1);
  return reshaped(graph, operand, shape);
}

/// The operator's parameters: real ones from the attributes of the same names, or as ONNX has their defaults; the
/// others at the operator's own.
[[nodiscard]] inline Result<Params> params_from_attributes(const OperatorInfo& info, const OnnxNode& node) {
  std::vector<NamedParam> named;
  for (const ParamSpec& spec : info.params) {
    if (spec.kind == ParamKind::kReal)
      named.push_back({spec.name, node.real(spec.name, std::get<double>(spec.default_value))});
  }
  return make_params(info.name, info.params, named);
}

/// The other way round.
[[nodiscard]] inline std::map<std::string, OnnxAttribute> attributes_from_params(const OperatorInfo& info,
                                                                                 const Params& params) {
  std::map<std::string, OnnxAttribute> attributes;
  for (std::size_t i = 0; i < info.params.size(); ++i) {
    if (info.params[i].kind == ParamKind::kReal) attributes[info.params[i].name] = params.real(i);
  }
  return attributes;
}

}  // namespace rewright
