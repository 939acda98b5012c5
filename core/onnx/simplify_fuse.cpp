// Nodes that the weights of another node take in. Right of real numbers; numbers are rounded elsewhere.
//
//   (conv(x, w) + b) * s + t       = conv(x, w*s) + (b*s + t)       s, t: one number a channel, of stored tensors:
//                                                                   BatchNormalization, Mul, Div, Add, Sub
//   (a @ w + b) * s + t            = a @ (w*s) + (b*s + t)          matrices; s, t: one number a column
//   a @ b + c                      = Gemm(a, b, c)                  matrices
//   conv(Pad(x, 0), w), p          = conv(x, w), p + the padding
//   Clip(Relu(x), low, high)       = Clip(x, low, high)             low >= 0
//
// Shapes  conv: Conv and ConvTranspose with any number of axes and groups; w is [out, in/groups, ...] for the former,
//         [in, out/groups, ...] for the latter.
// Exact   Weights are computed in double precision and rounded once. Where that loses a number (lossy.h) or is not
//         finite, the nodes stay; so do weights whose values lie in another file.
// Once    The node whose weights change has no other user.
// Source  Ioffe and Szegedy, Batch Normalization, 2015, section 3.1, for s and t.
#include <algorithm>
#include <cmath>

#include "onnx/element.h"
#include "onnx/lossy.h"
#include "onnx/opset_step.h"
#include "onnx/simplifier.h"

namespace rewright::model {
namespace {

/// Before, BatchNormalization may have one number an element.
constexpr std::int64_t kOpsetWithoutSpatial = 9;
constexpr float kEpsilon = 1e-5F;
/// One number repeated more often is stored in short.
constexpr std::size_t kMostWrittenOut = 4096;
constexpr std::int64_t kMostPadding = 1 << 20;

float float_or(const NodeProto& node, std::string_view name, float otherwise) {
  const AttributeProto* given = find_attribute(node, name);
  return given == nullptr ? otherwise : given->f();
}

bool is_all(const std::vector<double>& values, double number) {
  return std::ranges::all_of(values, [&](double value) { return value == number; });
}

bool is_convolution(const NodeProto& node) { return is_own(node, "Conv") || is_own(node, "ConvTranspose"); }

/// The output channel that each element of a convolution's weights belongs to.
struct ChannelOfWeight {
  ChannelOfWeight(const NodeProto& conv, const Shape& weights) : is_transposed(conv.op_type() == "ConvTranspose") {
    const std::int64_t groups = integer_or(conv, "group", 1);
    for (const std::int64_t size : weights.dims().subspan(2)) window *= size;
    per_group = weights.dims()[1];
    if (groups < 1 || groups > weights.dims()[0] || weights.dims()[0] % groups != 0) return;  // It cannot run.
    inputs = weights.dims()[0] / groups;
    channels = is_transposed ? per_group * groups : weights.dims()[0];
  }
  [[nodiscard]] std::int64_t operator()(std::int64_t element) const {
    const std::int64_t row = element / window;
    if (!is_transposed) return row / per_group;
    return row / per_group / inputs * per_group + row % per_group;
  }

  bool is_transposed;
  std::int64_t window = 1, per_group = 0, inputs = 0, channels = 0;
};

}  // namespace

/// One number a channel, the second axis of `axes`: what the tensor adds to or multiplies with.
std::optional<std::vector<double>> GraphSimplifier::per_channel(const std::string& tensor, std::int64_t channels,
                                                                std::int64_t axes) const {
  const auto known = numbers(tensor);
  if (!known) return std::nullopt;
  const auto own = static_cast<std::int64_t>(known->type.shape.rank());
  if (own > axes) return std::nullopt;
  for (std::int64_t i = 0; i < own; ++i) {
    const std::int64_t size = known->type.shape.dims()[static_cast<std::size_t>(i)], axis = axes - own + i;
    if (size != 1 && (axis != 1 || size != channels)) return std::nullopt;
  }
  if (known->values.size() == 1) return std::vector<double>(static_cast<std::size_t>(channels), known->values.front());
  return known->values;
}

std::optional<GraphSimplifier::Channels> GraphSimplifier::normalization(const NodeProto& node,
                                                                        std::int64_t channels) const {
  if (node.input_size() != 5 || integer_or(node, "training_mode", 0) != 0) return std::nullopt;
  if (context_.opset < kOpsetWithoutSpatial && integer_or(node, "spatial", 1) != 1) return std::nullopt;
  for (int i = 1; i < node.output_size(); ++i)
    if (!node.output(i).empty()) return std::nullopt;
  std::vector<std::vector<double>> given;
  for (int i = 1; i < 5; ++i) {
    auto known = numbers(node.input(i));
    if (!known || static_cast<std::int64_t>(known->values.size()) != channels) return std::nullopt;
    given.push_back(std::move(known->values));
  }
  Channels result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(channels); ++i) {
    const double scale = given[0][i] / std::sqrt(given[3][i] + double{float_or(node, "epsilon", kEpsilon)});
    result.scale.push_back(scale);
    result.shift.push_back(given[1][i] - given[2][i] * scale);
  }
  return result;
}

/// What the node makes of its operand, which is not operand `constant`; that is a stored tensor.
std::optional<GraphSimplifier::Channels> GraphSimplifier::channels_of(const NodeProto& node, int constant,
                                                                      std::int64_t channels, std::int64_t axes) const {
  if (is_own(node, "BatchNormalization")) return constant == 1 ? normalization(node, channels) : std::nullopt;
  const std::string& type = node.op_type();
  if (node.input_size() != 2 || (type == "Div" && constant == 0)) return std::nullopt;
  auto given = per_channel(node.input(constant), channels, axes);
  if (!given) return std::nullopt;
  const std::vector<double> ones(given->size(), 1.0), zeros(given->size(), 0.0);
  if (type == "Mul") return Channels{*std::move(given), zeros};
  if (type == "Add") return Channels{ones, *std::move(given)};
  const bool is_negated = type == "Sub" && constant == 1;
  for (double& number : *given) number = type == "Div" ? 1 / number : is_negated ? -number : number;
  if (type == "Div") return Channels{*std::move(given), zeros};
  return Channels{is_negated ? ones : std::vector<double>(given->size(), -1.0), *std::move(given)};
}

/// A new stored tensor; nothing where rounding loses a number, or one is not finite.
std::optional<std::string> GraphSimplifier::store_numbers(const Numbers& made, const std::string& name) {
  std::vector<Real> reals;
  for (const double value : made.values) {
    if (!std::isfinite(value)) return std::nullopt;
    reals.push_back({value});
  }
  if (loss_in(made.type.element, made.type.shape, reals)) return std::nullopt;
  std::string stored = context_.fresh(name);
  if (made.values.size() > kMostWrittenOut && is_all(made.values, made.values.front())) {
    store_repeated(made.type, made.values.front(), stored);
  } else {
    store(to_proto(ConstantData{made.type, encode(made.type.element, made.values)}, stored));
  }
  return stored;
}

/// `fused` makes what `node` made.
bool GraphSimplifier::take_place(NodeProto fused, const NodeProto& node) {
  fused.clear_output();
  fused.add_output(node.output(0));
  context_.inference->infer(fused);
  emit(std::move(fused));
  context_.count("fused");
  return true;
}

bool GraphSimplifier::fuse(const NodeProto& node) {
  static const std::set<std::string_view> kOfChannels = {"BatchNormalization", "Mul", "Div", "Add", "Sub"};
  if (context_.exact() || context_.opset < kOpsetOfBroadcasting || !normal_domain(node.domain()).empty() ||
      node.output_size() == 0)
    return false;
  if (kOfChannels.contains(node.op_type()) && fuse_channels(node)) return true;
  if (is_own(node, "Add")) return fuse_gemm(node);
  if (is_own(node, "Conv")) return fuse_pad(node);
  return is_own(node, "Clip") && fuse_clip(node);
}

bool GraphSimplifier::may_change(const std::string& tensor) const {
  return is_used_once(tensor) && !annotated_.contains(tensor);
}

bool GraphSimplifier::fuse_channels(const NodeProto& node) {
  for (const int operand : {0, 1}) {
    if (operand >= node.input_size() || (operand == 1 && is_own(node, "BatchNormalization"))) break;
    const NodeProto* inner = maker(node.input(operand));
    if (inner == nullptr || !may_change(node.input(operand))) continue;
    const NodeProto copy = *inner;
    if (is_convolution(copy) && fuse_convolution(node, copy, 1 - operand)) return true;
    if ((is_own(copy, "MatMul") || is_own(copy, "Gemm")) && fuse_product(node, copy, 1 - operand)) return true;
  }
  return false;
}

bool GraphSimplifier::fuse_convolution(const NodeProto& node, NodeProto conv, int constant) {
  auto weights = numbers(input_of(conv, 1));
  if (!weights || !is_floating(weights->type.element) || weights->type.shape.rank() < 3) return false;
  const ChannelOfWeight channel_of(conv, weights->type.shape);
  if (channel_of.channels <= 0 || channel_of.inputs <= 0 || weights->values.empty()) return false;
  const auto change =
      channels_of(node, constant, channel_of.channels, static_cast<std::int64_t>(weights->type.shape.rank()));
  if (!change) return false;
  for (std::size_t i = 0; i < weights->values.size(); ++i)
    weights->values[i] *= change->scale[static_cast<std::size_t>(channel_of(static_cast<std::int64_t>(i)))];
  return store_changed(node, std::move(conv), *weights, *change);
}

/// With two operands that are matrices, of which the second is stored.
bool GraphSimplifier::fuse_product(const NodeProto& node, NodeProto product, int constant) {
  const bool is_gemm = product.op_type() == "Gemm";
  auto weights = numbers(input_of(product, 1));
  if (!weights || !is_floating(weights->type.element) || weights->type.shape.rank() != 2) return false;
  if (rank(product.input(0)) != 2 || weights->values.empty()) return false;
  if (is_gemm && (float_or(product, "alpha", 1) != 1 || float_or(product, "beta", 1) != 1)) return false;
  const bool is_transposed = is_gemm && integer_or(product, "transB", 0) != 0;
  const auto rows = weights->type.shape.dims()[0], columns = weights->type.shape.dims()[1];
  const auto change = channels_of(node, constant, is_transposed ? rows : columns, 2);
  if (!change) return false;
  for (std::size_t i = 0; i < weights->values.size(); ++i) {
    const auto width = static_cast<std::size_t>(columns);
    weights->values[i] *= change->scale[is_transposed ? i / width : i % width];
  }
  const bool needs_gemm = !is_all(change->shift, 0);
  if (needs_gemm && !is_gemm) product.set_op_type("Gemm");
  return store_changed(node, std::move(product), *weights, *change);
}

/// The node before, with its weights (input 1) and its bias (input 2) changed.
bool GraphSimplifier::store_changed(const NodeProto& node, NodeProto before, const Numbers& weights,
                                    const Channels& change) {
  if (context_.level != SimplifyLevel::kWeights && !is_all(change.scale, 1)) return false;
  const std::string bias = input_of(before, 2);
  const auto channels = static_cast<std::int64_t>(change.scale.size());
  if (!bias.empty() || !is_all(change.shift, 0)) {
    Numbers sum{{Shape{channels}, weights.type.element}, change.shift};
    if (!bias.empty()) {
      const auto own = per_channel(bias, channels, 2);  // As a row.
      if (!own) return false;
      for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += (*own)[i] * change.scale[i];
    }
    const auto stored = store_numbers(sum, bias.empty() ? before.output(0) + "_bias" : bias);
    if (!stored) return false;
    set_input(before, 2, *stored);
  }
  if (!is_all(change.scale, 1)) {
    const auto stored = store_numbers(weights, before.input(1));
    if (!stored) return false;
    before.set_input(1, *stored);
  }
  return take_place(std::move(before), node);
}

/// a @ b + c, where c has the product's sizes, or one row, one column or one number.
bool GraphSimplifier::fuse_gemm(const NodeProto& node) {
  if (node.input_size() != 2) return false;
  for (const int operand : {0, 1}) {
    const std::string &product = node.input(operand), &added = node.input(1 - operand);
    const NodeProto* inner = maker(product, "MatMul");
    if (inner == nullptr || !may_change(product) || rank(inner->input(0)) != 2 || rank(inner->input(1)) != 2) continue;
    const auto kind = element(product);
    if (kind != ElementType::kFloat32 && kind != ElementType::kFloat64 && kind != ElementType::kFloat16) continue;
    const auto axes = rank(added);
    if (!axes || *axes > 2) continue;
    bool fits = true;
    for (std::int64_t i = 0; i < *axes; ++i)
      fits = fits && (size(added, i) == 1 || is_same_size(added, i, product, 2 - *axes + i));
    if (!fits) continue;
    NodeProto gemm = *inner;
    gemm.set_op_type("Gemm");
    gemm.add_input(added);
    return take_place(std::move(gemm), node);
  }
  return false;
}

bool GraphSimplifier::fuse_pad(const NodeProto& node) {
  const NodeProto* pad = maker(node.input(0), "Pad");
  if (pad == nullptr || !may_change(node.input(0)) || text_or(*pad, "mode", "constant") != "constant") return false;
  if (text_or(node, "auto_pad", "NOTSET") != "NOTSET" || !input_of(*pad, 3).empty()) return false;
  const auto padding = integers_of(*pad, "pads", 1);
  const std::string value = input_of(*pad, 2);
  if (float_or(*pad, "value", 0) != 0 || (!value.empty() && repeated_number(value) != 0.0)) return false;
  if (!padding || padding->size() < 6 || padding->size() % 2 != 0) return false;
  const std::size_t axes = padding->size() / 2;
  Integers pads(2 * (axes - 2), 0);
  if (const AttributeProto* own = find_attribute(node, "pads")) pads.assign(own->ints().begin(), own->ints().end());
  if (pads.size() != 2 * (axes - 2)) return false;
  for (std::size_t i = 0; i < padding->size(); ++i) {
    const std::size_t axis = i % axes;
    const std::int64_t more = (*padding)[i];
    if (more < 0 || more > kMostPadding || (axis < 2 && more != 0)) return false;
    if (axis >= 2) pads[(i < axes ? 0 : axes - 2) + axis - 2] += more;
  }
  NodeProto fused = node;
  fused.set_input(0, pad->input(0));
  set_attribute(fused, "pads", pads);
  return take_place(std::move(fused), node);
}

bool GraphSimplifier::fuse_clip(const NodeProto& node) {
  const NodeProto* relu = maker(node.input(0), "Relu");
  if (relu == nullptr || !may_change(node.input(0))) return false;
  const std::string low = input_of(node, 1);
  const auto least =
      find_attribute(node, "min") != nullptr ? std::optional<double>(float_or(node, "min", 0)) : repeated_number(low);
  if (!least || !(*least >= 0)) return false;
  NodeProto fused = node;
  fused.set_input(0, relu->input(0));
  return take_place(std::move(fused), node);
}

}  // namespace rewright::model
