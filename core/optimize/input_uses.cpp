#include "optimize/input_uses.h"

#include <rewright/onnx/onnx.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/proto.h"

namespace rewright {
namespace {

using model::NodeProto;

constexpr std::int64_t kLeastImageSide = 16;
constexpr std::size_t kMostConstants = 16;

InputSource integers(std::int64_t low, std::int64_t high) {
  return {InputSource::Kind::kIntegers, static_cast<double>(low), static_cast<double>(std::max(low, high)), {}};
}
InputSource choices(std::vector<double> numbers) { return {InputSource::Kind::kChoices, 0, 1, std::move(numbers)}; }

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& texts) {
  return std::ranges::find(texts, text) != texts.end();
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

template <std::size_t N>
bool has_one_of(const std::string& name, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

// --- by use ----------------------------------------------------------------------------------------------------

/// Nodes whose output holds what their first input holds, elsewhere or in another type.
constexpr std::array<std::string_view, 12> kMovers = {"Identity",  "Cast",    "Reshape",   "Squeeze",
                                                      "Unsqueeze", "Flatten", "Transpose", "Expand",
                                                      "Slice",     "Tile",    "Split",     "Pad"};
/// Nodes that compare their two inputs.
constexpr std::array<std::string_view, 5> kComparisons = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};

/// What the uses of one input tell.
class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph), users_(graph.nodes().size()) {
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
      for (const Port operand : graph.nodes()[i].inputs) users_[operand.node.value].push_back(i);
  }

  std::optional<InputSource> source(NodeId input) {
    constants_.clear();
    found_.reset();
    seen_.clear();
    follow(Port{input, 0});
    if (!constants_.empty()) return choices({constants_.begin(), constants_.end()});
    return found_;
  }

 private:
  void follow(Port port) {
    if (!seen_.insert(port).second) return;
    std::uint32_t previous = UINT32_MAX;
    for (const std::uint32_t user : users_[port.node.value]) {
      if (std::exchange(previous, user) == user) continue;
      const Node& node = graph_.nodes()[user];
      const OpaqueNode* opaque = node.opaque();
      NodeProto proto;
      if (!opaque || !proto.ParseFromString(opaque->serialized)) continue;
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] == port) use(NodeId{user}, proto, i);
    }
  }

  void use(NodeId id, const NodeProto& proto, std::size_t operand) {
    const Node& node = graph_.node(id);
    const std::string& type = proto.op_type();
    if (is_one_of(type, kComparisons)) return compare_with(node, operand);
    if (operand == 0 && is_one_of(type, kMovers)) return follow_outputs(id);
    if (type == "Concat") return follow_outputs(id);
    if (type == "Where" && operand == 0) return found(integers(0, 1));
    if ((type == "Div" || type == "Mod") && operand == 1) return found(integers(1, 3));
    if (type == "OneHot" && operand == 0) return found(integers(0, known_number(node, 1, 2) - 1));
    if ((type == "Gather" || type == "GatherElements") && operand == 1)
      return found(integers(0, size_of(node, axis_of(proto)) - 1));
    if ((type == "GatherND" || type == "ScatterND") && operand == 1) return found(integers(0, size_of(node, 0) - 1));
    if ((type == "ScatterElements" || type == "Scatter") && operand == 1)
      return found(integers(0, size_of(node, axis_of(proto)) - 1));
    const bool is_recurrent = type == "LSTM" || type == "GRU" || type == "RNN";
    if (is_recurrent && operand >= 3 && graph_.type(node.inputs[operand]).element == ElementType::kInt32)
      found(integers(1, size_of(node, 0)));
  }

  void follow_outputs(NodeId id) {
    for (std::uint32_t i = 0; i < graph_.node(id).outputs.size(); ++i) follow(Port{id, i});
  }

  /// Every other operand that is a known tensor of few numbers.
  void compare_with(const Node& node, std::size_t operand) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Node& other = graph_.node(node.inputs[i].node);
      if (i == operand || !other.constant()) continue;
      const auto numbers = to_reals(*other.constant());
      if (numbers && numbers->size() <= kMostConstants) constants_.insert(numbers->begin(), numbers->end());
    }
  }

  /// The narrowest range counts.
  void found(const InputSource& source) {
    if (!found_ || source.high < found_->high) found_ = source;
  }

  static std::int64_t axis_of(const NodeProto& proto) {
    for (const auto& attribute : proto.attribute())
      if (attribute.name() == "axis") return attribute.i();
    return 0;
  }
  /// Of the node's first operand; 2 where it is not known.
  [[nodiscard]] std::int64_t size_of(const Node& node, std::int64_t axis) const {
    const TensorType& type = graph_.type(node.inputs[0]);
    const int rank = type.shape.rank();
    if (axis < 0) axis += rank;
    return type.element == ElementType::kUnknown || axis < 0 || axis >= rank ? 2 : type.shape[static_cast<int>(axis)];
  }
  [[nodiscard]] std::int64_t known_number(const Node& node, std::size_t operand, std::int64_t otherwise) const {
    const Node& other = graph_.node(node.inputs[operand].node);
    if (!other.constant()) return otherwise;
    const auto numbers = to_reals(*other.constant());
    return numbers && !numbers->empty() ? static_cast<std::int64_t>(numbers->front()) : otherwise;
  }

  const Graph& graph_;
  std::vector<std::vector<std::uint32_t>> users_;
  std::set<Port> seen_;
  std::set<double> constants_;
  std::optional<InputSource> found_;
};

// --- by name and shape -----------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 3> kImageNames = {"image", "img", "pixel"};
constexpr std::array<std::string_view, 1> kMaskNames = {"mask"};
constexpr std::array<std::string_view, 3> kLengthNames = {"length", "lens", "seq_len"};
constexpr std::array<std::string_view, 2> kRateNames = {"sample_rate", "sampling_rate"};

bool is_image(const std::string& name, const Shape& shape) {
  if (shape.rank() < 3) return false;
  if (has_one_of(name, kImageNames)) return true;
  if (shape.rank() != 4) return false;
  const auto are_channels = [&](int axis) { return shape[axis] == 1 || shape[axis] == 3 || shape[axis] == 4; };
  const auto are_sides = [&](int a, int b) { return shape[a] >= kLeastImageSide && shape[b] >= kLeastImageSide; };
  return (are_channels(1) && are_sides(2, 3)) || (are_channels(3) && are_sides(1, 2));
}

/// The shortest second axis of the other data inputs; 1 where there is none.
std::int64_t sequence_length(const Graph& graph, NodeId input) {
  std::int64_t length = 0;
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    if (id == input || !node.is_data() || node.outputs[0].shape.rank() < 2) continue;
    const std::int64_t size = node.outputs[0].shape[1];
    length = length == 0 ? size : std::min(length, size);
  }
  return std::max<std::int64_t>(length, 1);
}

InputSource by_name(const Graph& graph, NodeId input, int trial) {
  const Node& node = graph.node(input);
  const TensorType& type = node.outputs[0];
  const std::string name = lower_case(node.name);
  if (type.element == ElementType::kBool) return integers(0, 1);
  if (has_one_of(name, kMaskNames)) return choices({1, 1, 1, 1, 1, 1, 1, 0});
  if (is_floating(type.element)) {
    const bool first = trial % 2 == 0;
    if (first != is_image(name, type.shape)) return {InputSource::Kind::kNormal, 0, 1, {}};
    return {InputSource::Kind::kUniform, 0, 1, {}};
  }
  if (has_one_of(name, kLengthNames)) return integers(1, sequence_length(graph, input));
  if (name == "sr" || has_one_of(name, kRateNames)) return choices({16000});
  if (type.element == ElementType::kUint8 && is_image(name, type.shape)) return integers(0, 255);
  return integers(0, 1);
}

}  // namespace

GivenInputs plausible_inputs(const Graph& graph, int trial) {
  Uses uses(graph);
  GivenInputs sources;
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    if (!node.is_data() || !why_not_drawn(node).empty()) continue;
    const bool is_condition = node.outputs[0].element == ElementType::kBool;
    auto used = is_condition ? std::nullopt : uses.source(id);
    sources.emplace(node.name, used ? *std::move(used) : by_name(graph, id, trial));
  }
  return sources;
}

std::string why_not_drawn(const Node& input) {
  const ElementType element = input.outputs[0].element;
  if (element_size(element) > 0) return {};
  if (element == ElementType::kString) return fmt::format("input '{}' is of strings, which are not drawn", input.name);
  return fmt::format("input '{}' is no tensor of numbers with at most {} axes and known sizes", input.name, kMaxRank);
}

}  // namespace rewright
