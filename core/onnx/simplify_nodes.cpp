#include "onnx/simplify_nodes.h"

#include <map>
#include <set>

#include "onnx/scope.h"

namespace rewright::model {

bool is_own(const NodeProto& node, std::string_view type) {
  return node.op_type() == type && normal_domain(node.domain()).empty();
}

bool has_graphs(const NodeProto& node) {
  bool found = false;
  for_each_subgraph(node, [&](const GraphProto&) { found = true; });
  return found;
}

bool is_elementwise(const NodeProto& node) {
  static const std::set<std::string_view> kTypes = {"Abs",
                                                    "Acos",
                                                    "Acosh",
                                                    "Add",
                                                    "And",
                                                    "Asin",
                                                    "Asinh",
                                                    "Atan",
                                                    "Atanh",
                                                    "Cast",
                                                    "Ceil",
                                                    "Celu",
                                                    "Clip",
                                                    "Cos",
                                                    "Cosh",
                                                    "Div",
                                                    "Elu",
                                                    "Equal",
                                                    "Erf",
                                                    "Exp",
                                                    "Floor",
                                                    "Gelu",
                                                    "Greater",
                                                    "HardSwish",
                                                    "LeakyRelu",
                                                    "HardSigmoid",
                                                    "IsInf",
                                                    "IsNaN",
                                                    "Less",
                                                    "Log",
                                                    "Max",
                                                    "Min",
                                                    "Mish",
                                                    "Mod",
                                                    "Mul",
                                                    "Neg",
                                                    "Not",
                                                    "Or",
                                                    "Pow",
                                                    "Relu",
                                                    "Reciprocal",
                                                    "Round",
                                                    "Selu",
                                                    "Sigmoid",
                                                    "Sign",
                                                    "Sin",
                                                    "Sinh",
                                                    "Softplus",
                                                    "Softsign",
                                                    "Sqrt",
                                                    "Sub",
                                                    "Sum",
                                                    "Tan",
                                                    "Tanh",
                                                    "Where",
                                                    "Xor",
                                                    "Swish",
                                                    "ThresholdedRelu",
                                                    "GreaterOrEqual",
                                                    "LessOrEqual"};
  return normal_domain(node.domain()).empty() && node.output_size() == 1 && kTypes.contains(node.op_type());
}

bool is_function(const NodeProto& node) {
  static const std::set<std::string_view> kRandom = {"RandomNormal",      "RandomNormalLike",  "RandomUniform",
                                                     "RandomUniformLike", "Multinomial",       "Bernoulli",
                                                     "Dropout",           "BatchNormalization"};
  return normal_domain(node.domain()).empty() && !kRandom.contains(node.op_type()) && !has_graphs(node);
}

bool loses_nothing(ElementType from, ElementType to) {
  using enum ElementType;
  static const std::map<ElementType, std::set<ElementType>> kWider = {
      {kBool, {kUint8, kInt8, kUint16, kInt16, kInt32, kInt64, kUint32, kUint64, kFloat16, kFloat32, kFloat64}},
      {kUint8, {kUint16, kInt16, kInt32, kInt64, kUint32, kUint64, kFloat16, kFloat32, kFloat64}},
      {kInt8, {kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64}},
      {kUint16, {kInt32, kInt64, kUint32, kUint64, kFloat32, kFloat64}},
      {kInt16, {kInt32, kInt64, kFloat32, kFloat64}},
      {kUint32, {kInt64, kUint64, kFloat64}},
      {kInt32, {kInt64, kFloat64}},
      {kFloat16, {kFloat32, kFloat64}},
      {kBFloat16, {kFloat32, kFloat64}},
      {kFloat32, {kFloat64}}};
  const auto found = kWider.find(from);
  return found != kWider.end() && found->second.contains(to);
}

bool keeps_sizes(const NodeProto& node) {
  static const std::set<std::string_view> kTypes = {
      "BatchNormalization", "Dropout", "InstanceNormalization", "LayerNormalization", "LogSoftmax", "LRN", "Softmax"};
  if (!normal_domain(node.domain()).empty() || node.input_size() == 0) return false;
  return kTypes.contains(node.op_type()) || is_own(node, "Identity") ||
         (is_elementwise(node) && node.input_size() == 1);
}

Integers composed(const Integers& first, const Integers& second) {
  Integers both;
  for (const std::int64_t axis : second) both.push_back(first[static_cast<std::size_t>(axis)]);
  return both;
}

bool is_in_order(const Integers& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

}  // namespace rewright::model
