#include "onnx/opset_changes.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <variant>

#include "onnx/opset.h"
#include "onnx/opset_rewrites.h"

namespace rewright::model {
namespace {

using namespace rewrites;

/// How an attribute is said as an input.
enum class As { kIntegers, kIntegerOfRank1, kInteger, kFloats, kFloat, kLikeData };

/// An attribute until the opset before, an input from `version` on.
struct Moved {
  std::string_view type;
  std::int64_t version;
  std::string_view attribute;
  int input;
  As as = As::kIntegers;
  bool may_omit_zero = false;  ///< Zero is what an input that is left out means.
};
constexpr std::array kMoved = {
    Moved{"Upsample", 9, "scales", 1, As::kFloats},
    Moved{"Slice", 10, "starts", 1},
    Moved{"Slice", 10, "ends", 2},
    Moved{"Slice", 10, "axes", 3},
    Moved{"TopK", 10, "k", 1, As::kIntegerOfRank1},
    Moved{"Clip", 11, "min", 1, As::kLikeData},
    Moved{"Clip", 11, "max", 2, As::kLikeData},
    Moved{"Pad", 11, "pads", 1},
    Moved{"Pad", 11, "value", 2, As::kLikeData, true},
    Moved{"Dropout", 12, "ratio", 1, As::kFloat},
    Moved{"Split", 13, "split", 1},
    Moved{"Squeeze", 13, "axes", 1},
    Moved{"Unsqueeze", 13, "axes", 1},
    Moved{"ReduceSum", 13, "axes", 1},
    Moved{"ReduceL1", 18, "axes", 1},
    Moved{"ReduceL2", 18, "axes", 1},
    Moved{"ReduceLogSum", 18, "axes", 1},
    Moved{"ReduceLogSumExp", 18, "axes", 1},
    Moved{"ReduceMax", 18, "axes", 1},
    Moved{"ReduceMean", 18, "axes", 1},
    Moved{"ReduceMin", 18, "axes", 1},
    Moved{"ReduceProd", 18, "axes", 1},
    Moved{"ReduceSumSquare", 18, "axes", 1},
    Moved{"DFT", 20, "axis", 2, As::kInteger},
};

/// What an attribute must be for the operator to mean what it meant before the attribute was there.
struct Anything {};
struct Ones {};
using Neutral = std::variant<Anything, Ones, std::int64_t, std::string_view>;

/// An attribute that came with `version`.
struct Came {
  std::string_view type;
  std::int64_t version;
  std::string_view attribute;
  Neutral neutral = std::int64_t{0};
};
constexpr std::array kCame = {
    Came{"MaxPool", 8, "storage_order", Anything{}},  // Of the indices, which are refused there.
    Came{"AveragePool", 10, "ceil_mode"},
    Came{"MaxPool", 10, "ceil_mode"},
    Came{"MaxPool", 10, "dilations", Ones{}},
    Came{"DepthToSpace", 11, "mode", std::string_view("DCR")},
    Came{"TopK", 11, "largest", std::int64_t{1}},
    Came{"TopK", 11, "sorted", Anything{}},  // It was always sorted.
    Came{"ArgMax", 12, "select_last_index"},
    Came{"ArgMin", 12, "select_last_index"},
    Came{"Dropout", 12, "seed", Anything{}},  // Of training, which is refused there.
    Came{"GatherND", 12, "batch_dims"},
    Came{"ReduceSum", 13, "noop_with_empty_axes"},
    Came{"QuantizeLinear", 13, "axis", Anything{}},
    Came{"DequantizeLinear", 13, "axis", Anything{}},
    Came{"BatchNormalization", 14, "training_mode"},
    Came{"GRU", 14, "layout"},
    Came{"LSTM", 14, "layout"},
    Came{"RNN", 14, "layout"},
    Came{"ScatterElements", 16, "reduction", std::string_view("none")},
    Came{"ScatterND", 16, "reduction", std::string_view("none")},
    Came{"LpPool", 18, "ceil_mode"},
    Came{"LpPool", 18, "dilations", Ones{}},
    Came{"ReduceL1", 18, "noop_with_empty_axes"},
    Came{"ReduceL2", 18, "noop_with_empty_axes"},
    Came{"ReduceLogSum", 18, "noop_with_empty_axes"},
    Came{"ReduceLogSumExp", 18, "noop_with_empty_axes"},
    Came{"ReduceMax", 18, "noop_with_empty_axes"},
    Came{"ReduceMean", 18, "noop_with_empty_axes"},
    Came{"ReduceMin", 18, "noop_with_empty_axes"},
    Came{"ReduceProd", 18, "noop_with_empty_axes"},
    Came{"ReduceSumSquare", 18, "noop_with_empty_axes"},
    Came{"Resize", 18, "antialias"},
    Came{"Resize", 18, "keep_aspect_ratio_policy", std::string_view("stretch")},
    Came{"AveragePool", 19, "dilations", Ones{}},
    Came{"Cast", 19, "saturate", Anything{}},  // Of 8-bit floats, which came with it.
    Came{"CastLike", 19, "saturate", Anything{}},
    Came{"QuantizeLinear", 19, "saturate", Anything{}},
    Came{"QuantizeLinear", 21, "block_size"},
    Came{"QuantizeLinear", 21, "output_dtype"},
    Came{"DequantizeLinear", 21, "block_size"},
    Came{"GroupNormalization", 21, "stash_type", std::int64_t{1}},
    Came{"QuantizeLinear", 23, "precision"},
    Came{"DequantizeLinear", 23, "output_dtype"},
    Came{"Cast", 24, "round_mode", Anything{}},  // Of float8e8m0, which came with it.
    Came{"CastLike", 24, "round_mode", Anything{}},
};

/// A value of an attribute that came with `version`, or that went (`down` is false).
struct ValueChange {
  std::string_view type;
  std::int64_t version;
  std::string_view attribute;
  std::string_view value;
  bool went = false;
};
constexpr std::array kValueChanges = {
    ValueChange{"Resize", 13, "coordinate_transformation_mode", "tf_half_pixel_for_nn", true},
    ValueChange{"ScatterElements", 18, "reduction", "max"},
    ValueChange{"ScatterElements", 18, "reduction", "min"},
    ValueChange{"ScatterND", 18, "reduction", "max"},
    ValueChange{"ScatterND", 18, "reduction", "min"},
    ValueChange{"Pad", 19, "mode", "wrap"},
    ValueChange{"Resize", 19, "coordinate_transformation_mode", "half_pixel_symmetric"},
};

struct Change {
  std::string_view type;
  std::int64_t version;
  Step up = nullptr;
  Step down = nullptr;
};
constexpr std::array kChanges = {
    Change{"Sum", 8, nullptr, equal_shapes},
    Change{"Mean", 8, nullptr, equal_shapes},
    Change{"Max", 8, nullptr, equal_shapes},
    Change{"Min", 8, nullptr, equal_shapes},
    Change{"MaxPool", 8, nullptr, first_output_only},
    Change{"Expand", 8, nullptr, expand_by_product},
    Change{"BatchNormalization", 9, batch_norm_drop_spatial, nullptr},
    Change{"ConstantOfShape", 9, nullptr, fill_by_tile},
    Change{"Scan", 9, refuse_scan_of_batches, refuse_scan_of_batches},
    Change{"Upsample", 10, upsample_to_resize, nullptr},
    Change{"Resize", 10, nullptr, resize_to_upsample},
    Change{"Slice", 10, nullptr, slice_without_steps},
    Change{"Dropout", 10, first_output_only, first_output_only},  // The mask was of the data's type.
    Change{"ArgMax", 11, nullptr, axes_from_front},
    Change{"ArgMin", 11, nullptr, axes_from_front},
    Change{"Compress", 11, nullptr, axes_from_front},
    Change{"Concat", 11, nullptr, axes_from_front},
    Change{"Flatten", 11, nullptr, axes_from_front},
    Change{"Hardmax", 11, nullptr, axes_from_front},
    Change{"LogSoftmax", 11, nullptr, axes_from_front},
    Change{"Softmax", 11, nullptr, axes_from_front},
    Change{"OneHot", 11, nullptr, axes_from_front},
    Change{"ReduceL1", 11, nullptr, axes_from_front},
    Change{"ReduceL2", 11, nullptr, axes_from_front},
    Change{"ReduceLogSum", 11, nullptr, axes_from_front},
    Change{"ReduceLogSumExp", 11, nullptr, axes_from_front},
    Change{"ReduceMax", 11, nullptr, axes_from_front},
    Change{"ReduceMean", 11, nullptr, axes_from_front},
    Change{"ReduceMin", 11, nullptr, axes_from_front},
    Change{"ReduceProd", 11, nullptr, axes_from_front},
    Change{"ReduceSum", 11, nullptr, axes_from_front},
    Change{"ReduceSumSquare", 11, nullptr, axes_from_front},
    Change{"Slice", 11, nullptr, axes_from_front},
    Change{"Split", 11, nullptr, axes_from_front},
    Change{"Squeeze", 11, nullptr, axes_from_front},
    Change{"Unsqueeze", 11, nullptr, axes_from_front},
    Change{"TopK", 11, nullptr, axes_from_front},
    Change{"Clip", 11, nullptr, clip_by_max_min},
    Change{"Gather", 11, nullptr, indices_from_front},
    Change{"Scatter", 11, scatter_to_elements, nullptr},
    Change{"ScatterElements", 11, nullptr, elements_to_scatter},
    Change{"Gemm", 11, nullptr, gemm_with_addend},
    Change{"Resize", 11, resize_up_11, resize_down_11},
    Change{"Constant", 11, nullptr, constant_not_sparse},
    Change{"Constant", 12, nullptr, constant_as_tensor},
    Change{"Dropout", 12, first_output_only, dropout_down_12},
    Change{"Pow", 12, nullptr, pow_of_one_type},
    Change{"GreaterOrEqual", 12, nullptr, compare_or_equal},
    Change{"LessOrEqual", 12, nullptr, compare_or_equal},
    Change{"Celu", 12, nullptr, celu_by_elu},
    Change{"Softmax", 13, softmax_up_13, softmax_down_13},
    Change{"LogSoftmax", 13, softmax_up_13, softmax_down_13},
    Change{"Hardmax", 13, softmax_up_13, softmax_down_13},
    Change{"Resize", 13, resize_up_13, resize_down_13},
    Change{"ReduceSum", 13, nullptr, reduce_no_axes},
    Change{"QuantizeLinear", 13, nullptr, scale_of_whole_tensor},
    Change{"DequantizeLinear", 13, nullptr, scale_of_whole_tensor},
    Change{"BatchNormalization", 14, batch_norm_not_training, nullptr},
    Change{"Reshape", 14, nullptr, reshape_down_14},
    Change{"HardSwish", 14, nullptr, hard_swish_by_sigmoid},
    Change{"Shape", 15, nullptr, shape_by_slice},
    Change{"RoiAlign", 16, roi_align_up_16, roi_align_down_16},
    Change{"LayerNormalization", 17, nullptr, layer_norm_by_means},
    Change{"Split", 18, split_up_18, split_down_18},
    Change{"Pad", 18, nullptr, pad_all_axes},
    Change{"Resize", 18, nullptr, resize_all_axes},
    Change{"ReduceL1", 18, nullptr, reduce_no_axes},
    Change{"ReduceL2", 18, nullptr, reduce_no_axes},
    Change{"ReduceLogSum", 18, nullptr, reduce_no_axes},
    Change{"ReduceLogSumExp", 18, nullptr, reduce_no_axes},
    Change{"ReduceMax", 18, nullptr, reduce_no_axes},
    Change{"ReduceMean", 18, nullptr, reduce_no_axes},
    Change{"ReduceMin", 18, nullptr, reduce_no_axes},
    Change{"ReduceProd", 18, nullptr, reduce_no_axes},
    Change{"ReduceSumSquare", 18, nullptr, reduce_no_axes},
    Change{"Mish", 18, nullptr, mish_by_softplus},
    Change{"GroupNormalization", 18, nullptr, group_norm_down_18},
    Change{"GridSample", 20, grid_sample_up_20, grid_sample_down_20},
    Change{"DFT", 20, dft_up_20, dft_down_20},
    Change{"Gelu", 20, nullptr, gelu_by_erf},
    Change{"GroupNormalization", 21, group_norm_up_21, group_norm_down_21},
    Change{"QuantizeLinear", 21, nullptr, quantize_down_21},
    Change{"RMSNormalization", 23, nullptr, rms_norm_by_mean},
    Change{"Attention", 24, nullptr, attention_down_24},
    Change{"Swish", 24, nullptr, swish_by_sigmoid},
};

/// Operators that the library's schemas do not know yet.
const std::map<std::string, std::int64_t, std::less<>> kNewOperators = {
    {"BitwiseAnd", 18},
    {"BitwiseNot", 18},
    {"BitwiseOr", 18},
    {"BitwiseXor", 18},
    {"CenterCropPad", 18},
    {"Col2Im", 18},
    {"GroupNormalization", 18},
    {"Mish", 18},
    {"DeformConv", 19},
    {"AffineGrid", 20},
    {"Gelu", 20},
    {"ImageDecoder", 20},
    {"RegexFullMatch", 20},
    {"StringConcat", 20},
    {"StringSplit", 20},
    {"Attention", 23},
    {"RMSNormalization", 23},
    {"RotaryEmbedding", 23},
    {"Swish", 24},
    {"TensorScatter", 24},
};

/// Operators that take bfloat16 since opset 22 only.
const std::set<std::string, std::less<>> kBFloat16Since22 = {
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "AveragePool",
    "Bernoulli",
    "Conv",
    "ConvTranspose",
    "Cos",
    "Cosh",
    "DeformConv",
    "Det",
    "Dropout",
    "Elu",
    "EyeLike",
    "GRU",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "GridSample",
    "HardSigmoid",
    "HardSwish",
    "InstanceNormalization",
    "LSTM",
    "LpNormalization",
    "LpPool",
    "MaxPool",
    "MaxRoiPool",
    "MaxUnpool",
    "Mish",
    "Multinomial",
    "NegativeLogLikelihoodLoss",
    "RNN",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "RoiAlign",
    "Round",
    "Selu",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Tan",
    "ThresholdedRelu",
};

/// The opset that brought an element type, by ONNX's number.
std::int64_t opset_of_element(int element) {
  if (element >= 17 && element <= 20) return 19;  // 8-bit floats.
  if (element == 21 || element == 22) return 21;  // 4-bit integers.
  if (element == 23) return 23;                   // float4e2m1.
  return element == 24 ? 24 : 1;                  // float8e8m0.
}

Status move_to_input(NodeProto& node, const Moved& moved, OpsetStep& step) {
  const AttributeProto* attribute = find_attribute(node, moved.attribute);
  if (attribute == nullptr) return {};
  std::string name;
  switch (moved.as) {
    case As::kIntegers:
      name = step.integers(std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end()));
      break;
    case As::kIntegerOfRank1: name = step.integers({attribute->i()}); break;
    case As::kInteger: name = step.scalar(TensorProto::INT64, static_cast<double>(attribute->i())); break;
    case As::kFloats: {
      const std::vector<double> values(attribute->floats().begin(), attribute->floats().end());
      const auto count = static_cast<std::int64_t>(values.size());
      name = step.numbers(TensorProto::FLOAT, values, std::span(&count, 1));
      break;
    }
    case As::kFloat: name = step.scalar(TensorProto::FLOAT, attribute->f()); break;
    case As::kLikeData:
      if (moved.may_omit_zero && attribute->f() == 0) break;
      REWRIGHT_TRY(const int element, step.element(node.input(0), fmt::format("its {}", moved.attribute)));
      name = step.scalar(element, attribute->f());
  }
  if (!name.empty()) set_input(node, moved.input, name);
  remove_attribute(node, moved.attribute);
  return {};
}

Error not_a_constant(const Moved& moved, const OpsetStep& step, const std::string& input) {
  return make_error(ErrorCode::kUnsupported,
                    "opset {} wants its {} as numbers in the model, and '{}' is computed when the model runs",
                    step.version(), moved.attribute, input);
}

Result<OnnxAttribute> as_attribute(const Moved& moved, const std::string& input, const OpsetStep& step) {
  if (moved.as == As::kIntegers || moved.as == As::kIntegerOfRank1 || moved.as == As::kInteger) {
    const auto values = step.known_integers(input);
    if (!values) return not_a_constant(moved, step, input);
    if (moved.as == As::kIntegers) return OnnxAttribute(*values);
    if (values->size() == 1) return OnnxAttribute(values->front());
    return make_error(ErrorCode::kUnsupported, "its {} is {} numbers, not one", moved.attribute, values->size());
  }
  const auto values = step.known_reals(input);
  if (!values) return not_a_constant(moved, step, input);
  for (const double value : *values) {
    if (static_cast<double>(static_cast<float>(value)) == value || std::isnan(value)) continue;
    return make_error(ErrorCode::kUnsupported, "opset {} holds its {} as a 32-bit float, which {} is not",
                      step.version(), moved.attribute, value);
  }
  if (moved.as == As::kFloats) return OnnxAttribute(*values);
  if (values->size() == 1) return OnnxAttribute(values->front());
  return make_error(ErrorCode::kUnsupported, "its {} is {} numbers, not one", moved.attribute, values->size());
}

Status move_to_attribute(NodeProto& node, const Moved& moved, OpsetStep& step) {
  const std::string input = input_of(node, moved.input);
  set_input(node, moved.input, "");
  if (input.empty()) return {};
  REWRIGHT_TRY(const OnnxAttribute value, as_attribute(moved, input, step));
  set_attribute(node, std::string(moved.attribute), value);
  return {};
}

bool is_neutral(const AttributeProto& attribute, const Neutral& neutral) {
  if (std::holds_alternative<Anything>(neutral)) return true;
  if (std::holds_alternative<Ones>(neutral))
    return std::ranges::all_of(attribute.ints(), [](std::int64_t value) { return value == 1; });
  if (const auto* number = std::get_if<std::int64_t>(&neutral)) return attribute.i() == *number;
  return attribute.s() == std::get<std::string_view>(neutral);
}

Status drop_neutral(NodeProto& node, const Came& came, const OpsetStep& step) {
  const AttributeProto* attribute = find_attribute(node, came.attribute);
  if (attribute == nullptr) return {};
  if (!is_neutral(*attribute, came.neutral)) {
    return make_error(ErrorCode::kUnsupported,
                      "opset {} has no attribute '{}' for it, and its value here is not the default", step.version(),
                      came.attribute);
  }
  remove_attribute(node, came.attribute);
  return {};
}

Status check_values(const NodeProto& node, std::int64_t version, bool up, const OpsetStep& step) {
  for (const ValueChange& change : kValueChanges) {
    if (change.type != node.op_type() || change.version != version || change.went != up) continue;
    if (text_or(node, change.attribute, "") == change.value)
      return make_error(ErrorCode::kUnsupported, "opset {} does not know {} = '{}'", step.version(), change.attribute,
                        change.value);
  }
  return {};
}

}  // namespace

Status step_up(NodeProto& node, OpsetStep& step) {
  const std::string type = node.op_type();
  REWRIGHT_CHECK(check_values(node, step.version(), true, step));
  for (const Moved& moved : kMoved) {
    if (moved.type == type && moved.version == step.version()) REWRIGHT_CHECK(move_to_input(node, moved, step));
  }
  for (const Change& change : kChanges) {
    if (change.type == type && change.version == step.version() && change.up) return change.up(node, step);
  }
  return {};
}

Status step_down(NodeProto& node, OpsetStep& step) {
  const std::string type = node.op_type();
  const std::int64_t version = step.version() + 1;
  REWRIGHT_CHECK(check_values(node, version, false, step));
  for (const Change& change : kChanges) {
    if (change.type == type && change.version == version && change.down) REWRIGHT_CHECK(change.down(node, step));
  }
  if (node.op_type() != type) return {};  // Written out.
  for (const Moved& moved : kMoved) {
    if (moved.type == type && moved.version == version) REWRIGHT_CHECK(move_to_attribute(node, moved, step));
  }
  for (const Came& came : kCame) {
    if (came.type == type && came.version == version) REWRIGHT_CHECK(drop_neutral(node, came, step));
  }
  if (first_opset_of(type) == version)
    return make_error(ErrorCode::kUnsupported, "ONNX has this operator since opset {} only", version);
  return {};
}

std::optional<std::int64_t> first_opset_of(const std::string& type) {
  if (const auto found = kNewOperators.find(type); found != kNewOperators.end()) return found->second;
  for (int version = 1; version <= static_cast<int>(kNewestKnownOpset); ++version) {
    if (::onnx::OpSchemaRegistry::Schema(type, version, "") != nullptr) return version;
  }
  return std::nullopt;
}

namespace {

/// As ONNX's schemas name it; "" for what they do not know.
std::string type_name(int element) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "",     "float",   "uint8",  "int8",   "uint16", "int16",     "int32",      "int64",   "string",
      "bool", "float16", "double", "uint32", "uint64", "complex64", "complex128", "bfloat16"};
  if (element < 1 || element >= static_cast<int>(kNames.size())) return {};
  return fmt::format("tensor({})", kNames[static_cast<std::size_t>(element)]);
}

Status check_against_schema(const NodeProto& node, std::int64_t opset, const ConversionContext& context) {
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset), "");
  if (schema == nullptr || schema->inputs().empty()) return {};
  std::map<std::string, std::string> bound;
  for (int i = 0; i < node.input_size(); ++i) {
    if (node.input(i).empty()) continue;
    const auto& formal =
        schema->inputs()[std::min<std::size_t>(static_cast<std::size_t>(i), schema->inputs().size() - 1)];
    const std::string name = type_name(context.known(node.input(i)).element);
    if (name.empty()) continue;
    const bool allowed = std::ranges::any_of(formal.GetTypes(), [&](const auto* type) { return *type == name; });
    if (!allowed) return make_error(ErrorCode::kUnsupported, "opset {} does not take {} for it", opset, name);
    if (!formal.GetIsHomogeneous()) continue;
    const auto [found, is_new] = bound.emplace(formal.GetTypeStr(), name);
    if (!is_new && found->second != name)
      return make_error(ErrorCode::kUnsupported, "opset {} wants its operands of one type, not {} and {}", opset,
                        found->second, name);
  }
  return {};
}

}  // namespace

Status check_elements(const NodeProto& node, std::int64_t opset, const ConversionContext& context) {
  std::vector<int> elements;
  if (node.op_type() == "Cast") elements.push_back(static_cast<int>(integer_or(node, "to", 0)));
  for (const std::string& name : node.input()) elements.push_back(name.empty() ? 0 : context.known(name).element);
  for (const std::string& name : node.output()) elements.push_back(name.empty() ? 0 : context.known(name).element);
  for (const int element : elements) {
    const bool is_late = element == TensorProto::BFLOAT16 && opset < 22 && kBFloat16Since22.contains(node.op_type());
    if (opset_of_element(element) > opset || is_late)
      return make_error(ErrorCode::kUnsupported, "opset {} does not have element type {} for it", opset, element);
  }
  return opset <= kNewestKnownOpset ? check_against_schema(node, opset, context) : Status();
}

}  // namespace rewright::model
