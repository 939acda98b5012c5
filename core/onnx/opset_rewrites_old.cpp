// Changes of opset 8 to 12.
#include <algorithm>

#include "onnx/opset_rewrites.h"

namespace rewright::model::rewrites {
namespace {

template <class... Arguments>
Error unsupported(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return make_error(ErrorCode::kUnsupported, "{}", fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// All sizes, where none is open.
std::optional<std::vector<std::int64_t>> fixed_dims(const KnownTensor& tensor) {
  if (!tensor.dims || std::ranges::any_of(*tensor.dims, [](std::int64_t dim) { return dim < 0; })) return std::nullopt;
  return tensor.dims;
}

/// `x` times ones of the shape: what Expand makes of numbers.
Result<std::string> times_ones(const std::string& x, const std::vector<std::int64_t>& dims, OpsetStep& step) {
  REWRIGHT_TRY(const int element, step.element(x, "ones to multiply with"));
  const std::vector<std::int64_t> all_one(dims.size(), 1);
  const double one = 1;
  const std::string ones =
      step.emit("Tile", {step.numbers(element, std::span(&one, 1), all_one), step.integers(dims)}, {}, {element, dims});
  return step.emit("Mul", {x, ones}, {}, {element, dims});
}

Result<std::vector<std::int64_t>> counted_from_front(std::vector<std::int64_t> axes, std::int64_t rank) {
  for (std::int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return unsupported("axis {} is none of rank {}", axis, rank);
    if (axis < 0) axis += rank;
  }
  return axes;
}

bool has_negative(const std::vector<std::int64_t>& axes) {
  return std::ranges::any_of(axes, [](std::int64_t axis) { return axis < 0; });
}

/// The rank that the axes of the node count in.
Result<std::int64_t> rank_of_axes(const NodeProto& node, std::size_t axes, const OpsetStep& step) {
  REWRIGHT_TRY(std::int64_t rank, step.rank(node.input(0), "axes that count from the end"));
  if (node.op_type() == "Unsqueeze") rank += static_cast<std::int64_t>(axes);
  if (node.op_type() == "OneHot") rank += 1;
  return rank;
}

}  // namespace

Status first_output_only(NodeProto& node, OpsetStep& step) {
  if (!makes_output(node, 1)) return {};
  return unsupported("its second output '{}' is another one under opset {}", node.output(1), step.version());
}

Status refuse_scan_of_batches(NodeProto&, OpsetStep&) {
  return unsupported("Scan had an axis of batches until opset 8 and has none since 9");
}

Status axes_from_front(NodeProto& node, OpsetStep& step) {
  if (const std::int64_t axis = integer_or(node, "axis", 0); axis < 0) {
    REWRIGHT_TRY(const std::int64_t rank, rank_of_axes(node, 1, step));
    REWRIGHT_TRY(const auto axes, counted_from_front({axis}, rank));
    set_attribute(node, "axis", axes.front());
  }
  if (const AttributeProto* axes = find_attribute(node, "axes")) {
    const std::vector<std::int64_t> given(axes->ints().begin(), axes->ints().end());
    if (!has_negative(given)) return {};
    REWRIGHT_TRY(const std::int64_t rank, rank_of_axes(node, given.size(), step));
    REWRIGHT_TRY(const auto counted, counted_from_front(given, rank));
    set_attribute(node, "axes", counted);
  }
  if (node.op_type() != "Slice" || input_of(node, 3).empty()) return {};
  const auto axes = step.known_integers(node.input(3));
  if (!axes) return unsupported("opset {} wants its axes as numbers in the model", step.version());
  if (!has_negative(*axes)) return {};
  REWRIGHT_TRY(const std::int64_t rank, rank_of_axes(node, axes->size(), step));
  REWRIGHT_TRY(const auto counted, counted_from_front(*axes, rank));
  node.set_input(3, step.integers(counted));
  return {};
}

// --- 8 and 9 -------------------------------------------------------------------------------------------------

/// Until opset 7 these do not broadcast. Sums become additions, which do; of others the operands are expanded.
Status equal_shapes(NodeProto& node, OpsetStep& step) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const std::string& input : node.input()) {
    if (const auto dims = fixed_dims(step.known(input))) shapes.push_back(*dims);
  }
  const bool known = static_cast<int>(shapes.size()) == node.input_size();
  const bool equal = known && std::ranges::all_of(shapes, [&](const auto& shape) { return shape == shapes.front(); });
  if (equal || node.input_size() < 2) return {};
  if (node.op_type() == "Sum") {
    std::string sum = node.input(0);
    for (int i = 1; i + 1 < node.input_size(); ++i) sum = step.emit("Add", {sum, node.input(i)});
    become(node, "Add", {sum, node.input(node.input_size() - 1)});
    return {};
  }
  if (!known) return unsupported("opset 7 wants operands of one shape, and theirs are not known");
  std::vector<std::int64_t> joint;
  for (const auto& shape : shapes) {
    joint.insert(joint.begin(), shape.size() > joint.size() ? shape.size() - joint.size() : 0, 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& size = joint[joint.size() - shape.size() + i];
      if (size == 1) size = shape[i];
    }
  }
  for (int i = 0; i < node.input_size(); ++i) {
    if (shapes[static_cast<std::size_t>(i)] == joint) continue;
    REWRIGHT_TRY(const std::string expanded, times_ones(node.input(i), joint, step));
    node.set_input(i, expanded);
  }
  return {};
}

/// Expand(x, shape) = x * ones(shape)
Status expand_by_product(NodeProto& node, OpsetStep& step) {
  REWRIGHT_TRY(const int element, step.element(node.input(0), "ones to multiply with"));
  const auto shape = step.known_integers(input_of(node, 1));
  if (!shape) return unsupported("opset 7 has no Expand, and its shape is computed when the model runs");
  const std::vector<std::int64_t> all_one(shape->size(), 1);
  const double one = 1;
  const std::string ones =
      step.emit("Tile", {step.numbers(element, std::span(&one, 1), all_one), node.input(1)}, {}, {element, *shape});
  become(node, "Mul", {node.input(0), ones});
  return {};
}

Status batch_norm_drop_spatial(NodeProto& node, OpsetStep&) {
  if (integer_or(node, "spatial", 1) != 1)
    return unsupported("statistics for each position (spatial = 0) exist until opset 8 only");
  if (makes_output(node, 1)) return unsupported("it trains: it makes statistics of the batch");
  remove_attribute(node, "spatial");
  return {};
}

/// ConstantOfShape(shape) = Tile(value, shape), the value with as many axes
Status fill_by_tile(NodeProto& node, OpsetStep& step) {
  const auto shape = step.known_integers(node.input(0));
  const auto length = step.known(node.input(0)).dims;
  if (!shape && (!length || length->size() != 1 || length->front() < 0))
    return unsupported("opset {} has no ConstantOfShape, and how many axes it makes is not known", step.version());
  const std::size_t rank = shape ? shape->size() : static_cast<std::size_t>(length->front());
  TensorProto value;
  if (const AttributeProto* given = find_attribute(node, "value")) {
    value = given->t();
  } else {
    value.set_data_type(TensorProto::FLOAT);
    value.add_float_data(0);
  }
  value.clear_dims();
  for (std::size_t i = 0; i < rank; ++i) value.add_dims(1);
  const std::string one = step.constant(std::move(value));
  if (rank == 0) {
    become(node, "Identity", {one});
  } else {
    become(node, "Tile", {one, std::string(node.input(0))});
  }
  return {};
}

// --- 10 ------------------------------------------------------------------------------------------------------

Status upsample_to_resize(NodeProto& node, OpsetStep&) {
  node.set_op_type("Resize");
  return {};
}

Status resize_to_upsample(NodeProto& node, OpsetStep& step) {
  const auto scales = step.known_reals(input_of(node, 1));
  if (!scales || std::ranges::any_of(*scales, [](double scale) { return scale < 1; }))
    return unsupported("opset {} has no Resize; Upsample wants scales of 1 and more that are in the model",
                       step.version());
  node.set_op_type("Upsample");
  return {};
}

Status slice_without_steps(NodeProto& node, OpsetStep& step) {
  if (input_of(node, 4).empty()) return {};
  const auto steps = step.known_integers(node.input(4));
  if (!steps || std::ranges::any_of(*steps, [](std::int64_t size) { return size != 1; }))
    return unsupported("opset {} slices with steps of 1 only", step.version());
  set_input(node, 4, "");
  return {};
}

// --- 11 ------------------------------------------------------------------------------------------------------

/// Where a bound is not known: Clip(x, low, high) = Min(Max(x, low), high)
Status clip_by_max_min(NodeProto& node, OpsetStep& step) {
  const std::string low = input_of(node, 1), high = input_of(node, 2);
  const auto fits = [&](const std::string& bound) {
    const auto value = step.known_reals(bound);
    return bound.empty() ||
           (value && value->size() == 1 && static_cast<double>(static_cast<float>((*value)[0])) == (*value)[0]);
  };
  if (fits(low) && fits(high)) return {};
  const std::string x = node.input(0);
  const KnownTensor known = step.known(x);
  if (low.empty()) {
    become(node, "Min", {x, high});
  } else if (high.empty()) {
    become(node, "Max", {x, low});
  } else {
    become(node, "Min", {step.emit("Max", {x, low}, {}, known), high});
  }
  return {};
}

Status indices_from_front(NodeProto& node, OpsetStep& step) {
  REWRIGHT_CHECK(axes_from_front(node, step));
  const auto indices = step.known_integers(node.input(1));
  if (indices && !has_negative(*indices)) return {};
  const KnownTensor data = step.known(node.input(0)), places = step.known(node.input(1));
  const auto axis = static_cast<std::size_t>(integer_or(node, "axis", 0));
  if (!indices || !data.dims || !places.dims || axis >= data.dims->size() || (*data.dims)[axis] < 0)
    return unsupported("opset {} does not take indices that count from the end, and these may", step.version());
  REWRIGHT_TRY(const auto counted, counted_from_front(*indices, (*data.dims)[axis]));
  const std::vector<double> values(counted.begin(), counted.end());
  node.set_input(1, step.numbers(places.element, values, *places.dims));
  return {};
}

Status scatter_to_elements(NodeProto& node, OpsetStep&) {
  node.set_op_type("ScatterElements");
  return {};
}

Status elements_to_scatter(NodeProto& node, OpsetStep& step) {
  REWRIGHT_CHECK(indices_from_front(node, step));
  node.set_op_type("Scatter");
  return {};
}

Status gemm_with_addend(NodeProto& node, OpsetStep& step) {
  if (!input_of(node, 2).empty()) return {};
  REWRIGHT_TRY(const int element, step.element(node.input(0), "a zero to add"));
  set_input(node, 2, step.scalar(element, 0));
  return {};
}

namespace {

/// Resize of opset 10 rounds places down where it enlarges and up where it shrinks.
Result<std::string> rounding_of_10(const NodeProto& node, int scales_input, const OpsetStep& step) {
  const auto scales = step.known_reals(input_of(node, scales_input));
  if (!scales) return unsupported("how it rounds depends on its scales, which are computed when the model runs");
  if (std::ranges::all_of(*scales, [](double scale) { return scale >= 1; })) return std::string("floor");
  if (std::ranges::all_of(*scales, [](double scale) { return scale <= 1; })) return std::string("ceil");
  return unsupported("it enlarges along one axis and shrinks along another, and rounds differently");
}

std::string no_numbers(OpsetStep& step) {
  const std::int64_t none = 0;
  return step.numbers(TensorProto::FLOAT, {}, std::span(&none, 1));
}

}  // namespace

Status resize_up_11(NodeProto& node, OpsetStep& step) {
  const bool nearest = text_or(node, "mode", "nearest") == "nearest";
  if (nearest) {
    REWRIGHT_TRY(const std::string rounding, rounding_of_10(node, 1, step));
    set_attribute(node, "nearest_mode", rounding);
  }
  set_attribute(node, "coordinate_transformation_mode", std::string("asymmetric"));
  const std::string scales = node.input(1);
  node.set_input(1, no_numbers(step));
  node.add_input(scales);
  return {};
}

Status resize_down_11(NodeProto& node, OpsetStep& step) {
  const std::string mode = text_or(node, "mode", "nearest");
  if (mode == "cubic" || !input_of(node, 3).empty() ||
      text_or(node, "coordinate_transformation_mode", "half_pixel") != "asymmetric")
    return unsupported("opset 10 resizes by scales alone, not cubic, and in asymmetric coordinates");
  if (mode == "nearest") {
    REWRIGHT_TRY(const std::string rounding, rounding_of_10(node, 2, step));
    const auto scales = step.known_reals(node.input(2));
    const bool trivial = std::ranges::all_of(*scales, [](double scale) { return scale == 1; });
    if (!trivial && text_or(node, "nearest_mode", "round_prefer_floor") != rounding)
      return unsupported("opset 10 rounds places otherwise");
  }
  become(node, "Resize", {node.input(0), node.input(2)}, {{"mode", mode}});
  return {};
}

Status constant_not_sparse(NodeProto& node, OpsetStep& step) {
  if (find_attribute(node, "sparse_value") == nullptr) return {};
  return unsupported("opset {} has no sparse constants", step.version());
}

// --- 12 ------------------------------------------------------------------------------------------------------

Status constant_as_tensor(NodeProto& node, OpsetStep&) {
  if (node.attribute_size() != 1 || find_attribute(node, "value") || find_attribute(node, "sparse_value")) return {};
  const AttributeProto given = node.attribute(0);
  AttributeProto value;
  value.set_name("value");
  value.set_type(AttributeProto::TENSOR);
  TensorProto& tensor = *value.mutable_t();
  tensor.set_data_type(TensorProto::INT64);
  if (given.name() == "value_int") tensor.add_int64_data(given.i());
  if (given.name() == "value_ints") {
    tensor.add_dims(given.ints_size());
    *tensor.mutable_int64_data() = given.ints();
  }
  if (given.name().starts_with("value_float")) {
    tensor.set_data_type(TensorProto::FLOAT);
    if (given.name() == "value_floats") tensor.add_dims(given.floats_size());
    *tensor.mutable_float_data() = given.floats();
    if (given.name() == "value_float") tensor.add_float_data(given.f());
  }
  if (given.name().starts_with("value_string")) {
    tensor.set_data_type(TensorProto::STRING);
    if (given.name() == "value_strings") tensor.add_dims(given.strings_size());
    *tensor.mutable_string_data() = given.strings();
    if (given.name() == "value_string") tensor.add_string_data(given.s());
  }
  node.clear_attribute();
  *node.add_attribute() = std::move(value);
  return {};
}

Status dropout_down_12(NodeProto& node, OpsetStep& step) {
  REWRIGHT_CHECK(first_output_only(node, step));
  const std::string training = input_of(node, 2);
  if (!training.empty()) {
    const auto value = step.known_reals(training);
    if (!value || value->size() != 1 || value->front() != 0)
      return unsupported("opset {} drops out nothing when a model runs, and this node may", step.version());
    set_input(node, 2, "");
  }
  if (!step.known_reals(input_of(node, 1))) set_input(node, 1, "");  // Of training alone.
  return {};
}

/// Both operands had one type.
Status pow_of_one_type(NodeProto& node, OpsetStep& step) {
  const int base = step.known(node.input(0)).element;
  const KnownTensor exponent = step.known(node.input(1));
  if (base == exponent.element || base == 0 || exponent.element == 0) return {};
  if (const auto values = step.known_reals(node.input(1)); values && exponent.dims) {
    node.set_input(1, step.numbers(base, *values, *exponent.dims));
    return {};
  }
  if (!is_floating(static_cast<ElementType>(base)))
    return unsupported("opset {} wants base and exponent of one type, and these are of two", step.version());
  node.set_input(1, step.emit("Cast", {node.input(1)}, {{"to", std::int64_t{base}}}, {base, exponent.dims}));
  return {};
}

Status compare_or_equal(NodeProto& node, OpsetStep& step) {
  const std::string a = node.input(0), b = node.input(1);
  const KnownTensor truth{TensorProto::BOOL, std::nullopt};
  const std::string strict = step.emit(node.op_type() == "LessOrEqual" ? "Less" : "Greater", {a, b}, {}, truth);
  become(node, "Or", {strict, step.emit("Equal", {a, b}, {}, truth)});
  return {};
}

/// Celu(x) = alpha * Elu(x / alpha)
Status celu_by_elu(NodeProto& node, OpsetStep& step) {
  const AttributeProto* given = find_attribute(node, "alpha");
  const KnownTensor like = step.known(node.input(0));
  REWRIGHT_TRY(const int element, step.element(node.input(0), "its alpha"));
  const std::string alpha = step.scalar(element, given == nullptr ? 1.0 : static_cast<double>(given->f()));
  const std::string scaled = step.emit("Div", {node.input(0), alpha}, {}, like);
  become(node, "Mul", {alpha, step.emit("Elu", {scaled}, {{"alpha", 1.0}}, like)});
  return {};
}

}  // namespace rewright::model::rewrites
