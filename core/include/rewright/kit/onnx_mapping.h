// What translations between operators and ONNX have in common.
#pragma once

#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

/// kUnsupported: the node stays in the model as it is, for the reason given.
template <class... Args>
[[nodiscard]] Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kUnsupported, format, std::forward<Args>(args)...);
}

/// The outputs of a node that has one.
[[nodiscard]] inline Result<std::vector<Port>> single(const Result<Port>& port) {
  if (!port) return port.error();
  return std::vector{*port};
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

/// Whether a broadcasting product with x is one with a number: s has one element and does not raise the rank.
[[nodiscard]] inline bool is_factor(const Shape& s, const Shape& x) {
  return s.elements() == 1 && s.rank() <= x.rank();
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

/// The operator's parameters: integers and real ones from the attributes of the same names, or as ONNX has their
/// defaults; the others at the operator's own.
[[nodiscard]] inline Result<Params> params_from_attributes(const OperatorInfo& info, const OnnxNode& node) {
  std::vector<NamedParam> named;
  for (const ParamSpec& spec : info.params) {
    if (spec.kind == ParamKind::kReal)
      named.push_back({spec.name, node.real(spec.name, std::get<double>(spec.default_value))});
    if (spec.kind == ParamKind::kInt && node.attributes.contains(spec.name))
      named.push_back({spec.name, node.integer(spec.name, 0)});
  }
  return make_params(info.name, info.params, named);
}

/// The other way round.
[[nodiscard]] inline std::map<std::string, OnnxAttribute> attributes_from_params(const OperatorInfo& info,
                                                                                 const Params& params) {
  std::map<std::string, OnnxAttribute> attributes;
  for (std::size_t i = 0; i < info.params.size(); ++i) {
    const ParamSpec& spec = info.params[i];
    if (spec.kind == ParamKind::kReal) attributes[spec.name] = params.real(i);
    if (spec.kind == ParamKind::kInt) attributes[spec.name] = params.integer(i);
  }
  return attributes;
}

/// An operator that is a node of the first type of info().onnx, on the same operands, its integer and real parameters
/// being attributes of the same names. If there is no such type it is not written.
template <class Self>
class OnnxNodeOf : public OperatorOf<Self> {
 public:
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(static_cast<std::size_t>(this->info().min_arity)));
    REWRIGHT_TRY(Params params, params_from_attributes(this->info(), node));
    return graph.apply(*this, std::move(params), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    if (this->info().onnx.empty()) return Operator::to_onnx(params, in, shapes, writer);
    return writer.emit(this->info().onnx[0], {in.begin(), in.end()}, attributes_from_params(this->info(), params));
  }
};

}  // namespace rewright
