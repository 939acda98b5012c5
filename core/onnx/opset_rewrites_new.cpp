// Changes of opset 13 to 24.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "onnx/opset_rewrites.h"

namespace rewright::model::rewrites {
namespace {

template <class... Arguments>
Error unsupported(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return make_error(ErrorCode::kUnsupported, "{}", fmt::format(format, std::forward<Arguments>(arguments)...));
}

bool is_half(int element) { return element == TensorProto::FLOAT16 || element == TensorProto::BFLOAT16; }

double real_or(const NodeProto& node, std::string_view name, double otherwise) {
  const AttributeProto* attribute = find_attribute(node, name);
  return attribute == nullptr ? otherwise : static_cast<double>(attribute->f());
}

std::int64_t from_front(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }

}  // namespace

// --- 13 ------------------------------------------------------------------------------------------------------

/// Until opset 12 the input was a matrix whose rows are the axes from `axis` (1) on: Flatten, then along the last axis.
Status softmax_up_13(NodeProto& node, OpsetStep& step) {
  const KnownTensor x = step.known(node.input(0));
  std::int64_t axis = integer_or(node, "axis", 1);
  if (x.dims) axis = from_front(axis, static_cast<std::int64_t>(x.dims->size()));
  if (axis == -1 || (x.dims && axis == static_cast<std::int64_t>(x.dims->size()) - 1)) {
    set_attribute(node, "axis", std::int64_t{-1});
    return {};
  }
  const std::string type = node.op_type(), input = node.input(0);
  const std::string rows =
      step.emit("Flatten", {input}, {{"axis", axis}}, {x.element, std::vector<std::int64_t>{-1, -1}});
  const std::string made =
      step.emit(type, {rows}, {{"axis", std::int64_t{-1}}}, {x.element, std::vector<std::int64_t>{-1, -1}});
  const bool fixed = x.dims && std::ranges::all_of(*x.dims, [](std::int64_t dim) { return dim > 0; });
  const std::string shape = fixed ? step.integers(*x.dims) : step.emit("Shape", {input}, {}, {TensorProto::INT64, {}});
  become(node, "Reshape", {made, shape});
  return {};
}

/// Along an axis that is not the last: transposed to the end and back.
Status softmax_down_13(NodeProto& node, OpsetStep& step) {
  const KnownTensor x = step.known(node.input(0));
  std::int64_t axis = integer_or(node, "axis", -1);
  if (axis == -1) {
    set_attribute(node, "axis", axis);
    return {};
  }
  REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "its axis"));
  axis = from_front(axis, rank);
  if (axis == rank - 1) {
    set_attribute(node, "axis", axis);
    return {};
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  const std::string type = node.op_type();
  const KnownTensor turned{x.element, std::vector<std::int64_t>(static_cast<std::size_t>(rank), -1)};
  const std::string last = step.emit("Transpose", {node.input(0)}, {{"perm", order}}, turned);
  const std::string made = step.emit(type, {last}, {{"axis", rank - 1}}, turned);
  become(node, "Transpose", {made}, {{"perm", order}});
  return {};
}

/// Sizes and scales: one of them is left out since opset 13, the other was empty before.
Status resize_up_13(NodeProto& node, OpsetStep&) {
  if (!input_of(node, 3).empty()) node.set_input(2, "");
  return {};
}

Status resize_down_13(NodeProto& node, OpsetStep& step) {
  const std::int64_t none = 0;
  for (int i = 1; i <= 2; ++i) {
    if (input_of(node, i).empty()) set_input(node, i, step.numbers(TensorProto::FLOAT, {}, std::span(&none, 1)));
  }
  return {};
}

/// No axes at all: they are all reduced, or none with noop_with_empty_axes.
Status reduce_no_axes(NodeProto& node, OpsetStep& step) {
  const bool noop = integer_or(node, "noop_with_empty_axes", 0) != 0;
  const std::string input = input_of(node, 1);
  const auto axes = step.known_integers(input);
  const bool none = input.empty() || (axes && axes->empty());
  if (!none && noop && !axes) return unsupported("opset {} wants its axes as numbers in the model", step.version());
  if (none && noop) {
    static constexpr std::string_view kPlain[] = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"};
    if (std::ranges::find(kPlain, node.op_type()) == std::end(kPlain))
      return unsupported("what it makes of no axes differs between readers of ONNX");
    become(node, "Identity", {std::string(node.input(0))});
    return {};
  }
  if (none) set_input(node, 1, "");
  remove_attribute(node, "noop_with_empty_axes");
  return {};
}

Status scale_of_whole_tensor(NodeProto& node, OpsetStep& step) {
  const KnownTensor scale = step.known(node.input(1));
  const bool whole = scale.dims && std::ranges::all_of(*scale.dims, [](std::int64_t dim) { return dim == 1; });
  if (whole) return {};
  return unsupported("opset {} has one scale for the whole tensor, and this node may have one for each channel",
                     step.version());
}

// --- 14 to 17 ------------------------------------------------------------------------------------------------

Status batch_norm_not_training(NodeProto& node, OpsetStep&) {
  if (!makes_output(node, 1)) return {};
  return unsupported("it trains: it makes statistics of the batch");
}

Status reshape_down_14(NodeProto& node, OpsetStep& step) {
  if (integer_or(node, "allowzero", 0) != 0) {
    const auto shape = step.known_integers(input_of(node, 1));
    if (!shape || std::ranges::find(*shape, 0) != shape->end())
      return unsupported("opset {} reads a size 0 as that of the input", step.version());
  }
  remove_attribute(node, "allowzero");
  return {};
}

/// HardSwish(x) = x * HardSigmoid(x), alpha = 1/6
Status hard_swish_by_sigmoid(NodeProto& node, OpsetStep& step) {
  const std::string x = node.input(0);
  const std::string gate = step.emit("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}, step.known(x));
  become(node, "Mul", {x, gate});
  return {};
}

Status shape_by_slice(NodeProto& node, OpsetStep& step) {
  const std::int64_t start = integer_or(node, "start", 0);
  const AttributeProto* end = find_attribute(node, "end");
  if (start != 0 || end != nullptr) {
    const std::string shape =
        step.emit("Shape", {node.input(0)}, {}, {TensorProto::INT64, std::vector<std::int64_t>{-1}});
    const std::int64_t last = end != nullptr ? end->i() : std::numeric_limits<std::int64_t>::max();
    become(node, "Slice", {shape, step.integers({start}), step.integers({last}), step.integers({0})});
    return {};
  }
  remove_attribute(node, "start");
  return {};
}

Status roi_align_up_16(NodeProto& node, OpsetStep&) {
  set_attribute(node, "coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

Status roi_align_down_16(NodeProto& node, OpsetStep& step) {
  if (text_or(node, "coordinate_transformation_mode", "half_pixel") != "output_half_pixel")
    return unsupported("opset {} takes regions in other coordinates (output_half_pixel)", step.version());
  remove_attribute(node, "coordinate_transformation_mode");
  return {};
}

namespace {

/// What a normalisation is written with: `x` in the type that it computes in.
struct Normalisation {
  std::string x;
  int element = 0;   ///< Of the node's input.
  int computed = 0;  ///< In which means are taken.
  KnownTensor like;
  std::vector<std::int64_t> axes;
};

Result<Normalisation> start_normalisation(const NodeProto& node, OpsetStep& step) {
  Normalisation start;
  REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "the axes of its means"));
  REWRIGHT_TRY(start.element, step.element(node.input(0), "its epsilon"));
  for (std::int64_t i = from_front(integer_or(node, "axis", -1), rank); i < rank; ++i) start.axes.push_back(i);
  const bool widen = is_half(start.element) && integer_or(node, "stash_type", 1) == 1;
  start.computed = widen ? static_cast<int>(TensorProto::FLOAT) : start.element;
  start.like = {start.computed, step.known(node.input(0)).dims};
  start.x = node.input(0);
  if (widen) start.x = step.emit("Cast", {start.x}, {{"to", std::int64_t{TensorProto::FLOAT}}}, start.like);
  return start;
}

/// A mean along the axes, in the form of opset 17 or 18.
std::string mean_of(const Normalisation& given, const std::string& x, OpsetStep& step) {
  KnownTensor known{given.computed, given.like.dims};
  if (known.dims)
    for (const std::int64_t axis : given.axes) (*known.dims)[static_cast<std::size_t>(axis)] = 1;
  if (step.version() >= 18) return step.emit("ReduceMean", {x, step.integers(given.axes)}, {}, known);
  return step.emit("ReduceMean", {x}, {{"axes", given.axes}}, known);
}

/// Back in the input's type.
std::string narrowed(const Normalisation& given, const std::string& x, OpsetStep& step) {
  if (given.computed == given.element) return x;
  return step.emit("Cast", {x}, {{"to", std::int64_t{given.element}}}, {given.element, given.like.dims});
}

std::string deviation(const Normalisation& given, const std::string& mean_square, double epsilon, OpsetStep& step) {
  const std::string shifted =
      step.emit("Add", {mean_square, step.scalar(given.computed, epsilon)}, {}, step.known(mean_square));
  return step.emit("Sqrt", {shifted}, {}, step.known(mean_square));
}

}  // namespace

/// LayerNormalization(x) = (x - mean) / sqrt(mean of (x - mean)^2 + epsilon) * scale + bias
Status layer_norm_by_means(NodeProto& node, OpsetStep& step) {
  REWRIGHT_TRY(const Normalisation given, start_normalisation(node, step));
  const std::string mean = mean_of(given, given.x, step);
  const std::string centred = step.emit("Sub", {given.x, mean}, {}, given.like);
  const std::string square = step.emit("Mul", {centred, centred}, {}, given.like);
  const std::string spread = deviation(given, mean_of(given, square, step), real_or(node, "epsilon", 1e-5), step);
  const std::string normal = narrowed(given, step.emit("Div", {centred, spread}, {}, given.like), step);
  const auto name_output = [&](int index, const std::string& type, const std::string& input) {
    if (!makes_output(node, index)) return;
    step.emit(type, {input});
    step.before().back().set_output(0, node.output(index));
  };
  name_output(1, "Identity", mean);
  name_output(2, "Reciprocal", spread);
  while (node.output_size() > 1) node.mutable_output()->RemoveLast();
  const std::string scale = node.input(1), bias = input_of(node, 2);
  if (bias.empty()) {
    become(node, "Mul", {normal, scale});
  } else {
    const KnownTensor like{given.element, given.like.dims};
    become(node, "Add", {step.emit("Mul", {normal, scale}, {}, like), bias});
  }
  return {};
}

// --- 18 ------------------------------------------------------------------------------------------------------

/// Equal parts are asked for by their number.
Status split_up_18(NodeProto& node, OpsetStep&) {
  if (input_of(node, 1).empty()) set_attribute(node, "num_outputs", static_cast<std::int64_t>(node.output_size()));
  return {};
}

/// Parts of which the last may be smaller: their sizes are written, unless all are equal.
Status split_down_18(NodeProto& node, OpsetStep& step) {
  const AttributeProto* given = find_attribute(node, "num_outputs");
  if (given == nullptr) return {};
  const std::int64_t parts = given->i();
  const KnownTensor x = step.known(node.input(0));
  remove_attribute(node, "num_outputs");
  if (parts == 1) return {};
  REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "the sizes of its parts"));
  const auto axis = static_cast<std::size_t>(from_front(integer_or(node, "axis", 0), rank));
  const std::int64_t size = axis < x.dims->size() ? (*x.dims)[axis] : -1;
  if (size < 0 || parts < 1)
    return unsupported("opset {} splits into equal parts, and whether these are is not known", step.version());
  if (size % parts == 0) return {};
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), (size + parts - 1) / parts);
  sizes.back() = size - sizes.front() * (parts - 1);
  if (sizes.back() < 0) return unsupported("{} elements do not make {} parts", size, parts);
  set_input(node, 1, step.integers(sizes));
  return {};
}

Status pad_all_axes(NodeProto& node, OpsetStep& step) {
  const std::string input = input_of(node, 3);
  if (input.empty()) return {};
  const auto axes = step.known_integers(input), pads = step.known_integers(node.input(1));
  if (!axes || !pads || pads->size() != 2 * axes->size())
    return unsupported("opset {} pads all axes, and which this pads is computed when the model runs", step.version());
  REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "pads of all axes"));
  std::vector<std::int64_t> all(static_cast<std::size_t>(2 * rank), 0);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const std::int64_t axis = from_front((*axes)[i], rank);
    if (axis < 0 || axis >= rank) return unsupported("axis {} is none of rank {}", axis, rank);
    all[static_cast<std::size_t>(axis)] = (*pads)[i];
    all[static_cast<std::size_t>(axis + rank)] = (*pads)[i + axes->size()];
  }
  set_input(node, 3, "");
  node.set_input(1, step.integers(all));
  return {};
}

Status resize_all_axes(NodeProto& node, OpsetStep& step) {
  const AttributeProto* given = find_attribute(node, "axes");
  if (given == nullptr) return {};
  const std::vector<std::int64_t> axes(given->ints().begin(), given->ints().end());
  REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "scales of all axes"));
  if (!input_of(node, 1).empty()) return unsupported("opset {} wants a region of all axes", step.version());
  const auto scales = step.known_reals(input_of(node, 2));
  const auto sizes = step.known_integers(input_of(node, 3));
  const auto dims = step.known(node.input(0)).dims;
  std::vector<double> all_scales(static_cast<std::size_t>(rank), 1);
  std::vector<std::int64_t> all_sizes = *dims;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(axes[i], rank));
    if (axis >= all_sizes.size()) return unsupported("axis {} is none of rank {}", axes[i], rank);
    if (scales && i < scales->size()) all_scales[axis] = (*scales)[i];
    if (sizes && i < sizes->size()) all_sizes[axis] = (*sizes)[i];
  }
  if (scales && scales->size() == axes.size()) {
    set_input(node, 2, step.numbers(TensorProto::FLOAT, all_scales, std::span(&rank, 1)));
  } else if (sizes && sizes->size() == axes.size() && std::ranges::find(all_sizes, -1) == all_sizes.end()) {
    set_input(node, 3, step.integers(all_sizes));
  } else {
    return unsupported("opset {} wants scales or sizes of all axes, and these are not known", step.version());
  }
  remove_attribute(node, "axes");
  return {};
}

/// Mish(x) = x * tanh(softplus(x))
Status mish_by_softplus(NodeProto& node, OpsetStep& step) {
  const std::string x = node.input(0);
  const KnownTensor like = step.known(x);
  const std::string soft = step.emit("Softplus", {x}, {}, like);
  become(node, "Mul", {x, step.emit("Tanh", {soft}, {}, like)});
  return {};
}

namespace {

/// The groups of GroupNormalization as channels of an InstanceNormalization, and back in the input's shape.
std::string normal_groups(const NodeProto& node, const std::string& scale, const std::string& bias, OpsetStep& step) {
  const KnownTensor x = step.known(node.input(0));
  const std::int64_t groups = integer_or(node, "num_groups", 1);
  const KnownTensor grouped{x.element, std::vector<std::int64_t>{-1, groups, -1}};
  const std::string rows = step.emit("Reshape", {node.input(0), step.integers({0, groups, -1})}, {}, grouped);
  const std::string normal =
      step.emit("InstanceNormalization", {rows, scale, bias}, {{"epsilon", real_or(node, "epsilon", 1e-5)}}, grouped);
  const std::string shape = step.emit("Shape", {node.input(0)}, {}, {TensorProto::INT64, {}});
  return step.emit("Reshape", {normal, shape}, {}, x);
}

}  // namespace

/// One scale for each group: those of InstanceNormalization.
Status group_norm_down_18(NodeProto& node, OpsetStep& step) {
  const std::string made = normal_groups(node, node.input(1), node.input(2), step);
  become(node, "Identity", {made});
  return {};
}

// --- 20 to 24 ------------------------------------------------------------------------------------------------

Status grid_sample_up_20(NodeProto& node, OpsetStep&) {
  const std::string mode = text_or(node, "mode", "bilinear");
  if (mode == "bilinear") set_attribute(node, "mode", std::string("linear"));
  if (mode == "bicubic") set_attribute(node, "mode", std::string("cubic"));
  return {};
}

Status grid_sample_down_20(NodeProto& node, OpsetStep& step) {
  REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "the number of its axes, which must be 4"));
  if (rank != 4) return unsupported("opset {} samples images (rank 4) only, not rank {}", step.version(), rank);
  const std::string mode = text_or(node, "mode", "linear");
  if (mode == "linear") set_attribute(node, "mode", std::string("bilinear"));
  if (mode == "cubic") set_attribute(node, "mode", std::string("bicubic"));
  return {};
}

/// The axis was 1 where it was not said; it is -2 now.
Status dft_up_20(NodeProto& node, OpsetStep& step) {
  if (input_of(node, 2).empty()) set_input(node, 2, step.scalar(TensorProto::INT64, 1));
  return {};
}

Status dft_down_20(NodeProto& node, OpsetStep& step) {
  const std::string input = input_of(node, 2);
  const auto axis = input.empty() ? std::vector<std::int64_t>{-2} : step.known_integers(input);
  if (!axis || axis->size() != 1)
    return unsupported("opset {} wants its axis as a number in the model", step.version());
  std::int64_t counted = axis->front();
  if (counted < 0) {
    REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "its axis"));
    counted += rank;
  }
  set_input(node, 2, step.scalar(TensorProto::INT64, static_cast<double>(counted)));
  return {};
}

/// Gelu(x) = x/2 * (1 + erf(x / sqrt 2)); approximated: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
Status gelu_by_erf(NodeProto& node, OpsetStep& step) {
  const std::string x = node.input(0);
  const KnownTensor like = step.known(x);
  REWRIGHT_TRY(const int element, step.element(x, "its constants"));
  const auto number = [&](double value) { return step.scalar(element, value); };
  std::string inner;
  if (text_or(node, "approximate", "none") == "tanh") {
    const std::string cube = step.emit("Mul", {x, step.emit("Mul", {x, x}, {}, like)}, {}, like);
    const std::string sum = step.emit("Add", {x, step.emit("Mul", {cube, number(0.044715)}, {}, like)}, {}, like);
    const std::string scaled = step.emit("Mul", {sum, number(std::sqrt(2 * std::numbers::inv_pi))}, {}, like);
    inner = step.emit("Tanh", {scaled}, {}, like);
  } else {
    inner = step.emit("Erf", {step.emit("Div", {x, number(std::numbers::sqrt2)}, {}, like)}, {}, like);
  }
  const std::string shifted = step.emit("Add", {inner, number(1)}, {}, like);
  become(node, "Mul", {step.emit("Mul", {x, shifted}, {}, like), number(0.5)});
  return {};
}

namespace {

Result<std::int64_t> channels_of(const NodeProto& node, const OpsetStep& step) {
  const KnownTensor x = step.known(node.input(0));
  if (x.dims && x.dims->size() > 1 && (*x.dims)[1] > 0) return (*x.dims)[1];
  const KnownTensor scale = step.known(node.input(1));
  if (step.version() == 20 && scale.dims && scale.dims->size() == 1 && scale.dims->front() > 0)
    return scale.dims->front();
  return unsupported("how many channels it has is not known");
}

}  // namespace

/// Scale and bias were one for each group; now they are one for each channel.
Status group_norm_up_21(NodeProto& node, OpsetStep& step) {
  REWRIGHT_TRY(const std::int64_t channels, channels_of(node, step));
  const std::int64_t groups = integer_or(node, "num_groups", 1);
  if (groups < 1 || channels % groups != 0) return unsupported("{} channels do not make {} groups", channels, groups);
  for (int i = 1; i <= 2; ++i) {
    const int element = step.known(node.input(i)).element;
    const std::string column =
        step.emit("Reshape", {node.input(i), step.integers({groups, 1})}, {}, {element, {{groups, 1}}});
    const std::string each = step.emit("Expand", {column, step.integers({groups, channels / groups})}, {},
                                       {element, {{groups, channels / groups}}});
    node.set_input(i, step.emit("Reshape", {each, step.integers({channels})}, {}, {element, {{channels}}}));
  }
  return {};
}

Status group_norm_down_21(NodeProto& node, OpsetStep& step) {
  REWRIGHT_TRY(const std::int64_t rank, step.rank(node.input(0), "its scales"));
  REWRIGHT_TRY(const int element, step.element(node.input(0), "its scales"));
  if (is_half(element) && integer_or(node, "stash_type", 1) == 1 && step.version() < 21)
    return unsupported("opset {} does not compute it in single precision", step.version());
  const std::int64_t groups = integer_or(node, "num_groups", 1);
  const std::vector<double> ones(static_cast<std::size_t>(groups), 1), zeros(static_cast<std::size_t>(groups), 0);
  const std::string normal = normal_groups(node, step.numbers(element, ones, std::span(&groups, 1)),
                                           step.numbers(element, zeros, std::span(&groups, 1)), step);
  std::vector<std::int64_t> column(static_cast<std::size_t>(rank - 1), 1);
  column.front() = -1;
  const KnownTensor like = step.known(node.input(0));
  const std::string shape = step.integers(column);
  const std::string scale = step.emit("Reshape", {node.input(1), shape}, {}, {element, column});
  const std::string bias = step.emit("Reshape", {node.input(2), shape}, {}, {element, column});
  become(node, "Add", {step.emit("Mul", {normal, scale}, {}, like), bias});
  return {};
}

/// The type of the output is that of the zero point.
Status quantize_down_21(NodeProto& node, OpsetStep& step) {
  const std::int64_t type = integer_or(node, "output_dtype", 0);
  const std::string zero = input_of(node, 2);
  const int given = zero.empty() ? static_cast<int>(TensorProto::UINT8) : step.known(zero).element;
  if (type == given) remove_attribute(node, "output_dtype");
  return {};
}

/// RMSNormalization(x) = x / sqrt(mean of x^2 + epsilon) * scale
Status rms_norm_by_mean(NodeProto& node, OpsetStep& step) {
  REWRIGHT_TRY(const Normalisation given, start_normalisation(node, step));
  const std::string square = step.emit("Mul", {given.x, given.x}, {}, given.like);
  const std::string spread = deviation(given, mean_of(given, square, step), real_or(node, "epsilon", 1e-5), step);
  const std::string normal = narrowed(given, step.emit("Div", {given.x, spread}, {}, given.like), step);
  become(node, "Mul", {normal, std::string(node.input(1))});
  return {};
}

Status attention_down_24(NodeProto& node, OpsetStep& step) {
  if (input_of(node, 6).empty()) return {};
  return unsupported("opset {} has no lengths of keys and values ('{}')", step.version(), node.input(6));
}

/// Swish(x) = x * sigmoid(alpha x)
Status swish_by_sigmoid(NodeProto& node, OpsetStep& step) {
  const std::string x = node.input(0);
  const KnownTensor like = step.known(x);
  std::string scaled = x;
  if (const double alpha = real_or(node, "alpha", 1); alpha != 1) {
    REWRIGHT_TRY(const int element, step.element(x, "its alpha"));
    scaled = step.emit("Mul", {x, step.scalar(element, alpha)}, {}, like);
  }
  become(node, "Mul", {x, step.emit("Sigmoid", {scaled}, {}, like)});
  return {};
}

}  // namespace rewright::model::rewrites
