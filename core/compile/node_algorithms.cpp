#include "compile/node_algorithms.h"

#include <rewright/operator/operator.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "compile/attention_tiles.h"
#include "compile/sparse_parts.h"
#include "onnx/external_data.h"

namespace rewright::compile {
namespace {

constexpr std::int64_t kTaps = 3;
constexpr std::string_view kIm2col = "im2col", kDirect = "direct", kPacked = "packed", kSparse = "sparse",
                           kSparseIm2col = "sparse-im2col", kTiles = "tiles";

/// A convolution without activation.
struct PlainConvolution {
  std::array<std::int64_t, 2> kernel, strides, dilations;
  std::int64_t groups = 1;
  std::array<std::int64_t, 2> before, after;  ///< Zeros around the image, along rows and columns.

  /// Of 3 x 3 taps beside each other, stride 1 and one group.
  [[nodiscard]] bool has_tiles() const {
    constexpr std::array<std::int64_t, 2> kOnes = {1, 1};
    return kernel == std::array{kTaps, kTaps} && strides == kOnes && dilations == kOnes && groups == 1;
  }
};
std::optional<PlainConvolution> plain_convolution(const Graph& graph, const Node& node) {
  if (!node.applies("conv2d") || node.name.empty()) return std::nullopt;
  const ApplicationNode& conv = *node.application();
  const std::vector<ParamSpec>& specs = conv.op->info().params;
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(specs, name, &ParamSpec::name) - specs.begin());
  };
  if (conv.params.choice(place("activation")) != 0) return std::nullopt;
  const auto& strides = conv.params.integers(place("strides"));
  const auto& dilations = conv.params.integers(place("dilations"));
  const auto& pads = conv.params.integers(place("pads"));
  const bool is_same =
      specs[place("padding")].choices[static_cast<std::size_t>(conv.params.choice(place("padding")))] == "same";
  PlainConvolution made;
  made.groups = conv.params.integer(place("groups"));
  for (std::size_t axis = 0; axis < 2; ++axis) {
    made.kernel[axis] = graph.shape(node.inputs[1])[2 + static_cast<int>(axis)];
    made.strides[axis] = strides[axis];
    made.dilations[axis] = dilations[axis];
    const std::int64_t reach = (made.kernel[axis] - 1) * dilations[axis];
    made.before[axis] = is_same ? reach / 2 : pads[axis];
    made.after[axis] = is_same ? reach - reach / 2 : pads[2 + axis];
  }
  return made;
}

/// Outputs of a tile along an axis; 0: it is another algorithm.
std::int64_t outputs_of_tile(std::string_view algorithm) {
  return algorithm == "winograd-2" ? 2 : algorithm == "winograd-4" ? 4 : 0;
}

/// Applies operators for a node; names are its name and what they do.
class Made {
 public:
  Made(GraphBuilder& builder, const Node& node) : builder_(builder), node_(node) {}
  [[nodiscard]] Result<Port> apply(std::string_view op, const std::vector<NamedParam>& params,
                                   std::vector<Port> operands, const std::string& what) {
    REWRIGHT_TRY(const auto made, builder_.apply(op, params, std::move(operands), node_.name + what));
    return made[0];
  }
  /// The image with zeros around it.
  [[nodiscard]] Result<Port> padded(Port x, const std::array<std::int64_t, 2>& before,
                                    const std::array<std::int64_t, 2>& after) {
    const std::vector<std::int64_t> first = {0, 0, before[0], before[1]}, last = {0, 0, after[0], after[1]};
    if (first == std::vector<std::int64_t>(4, 0) && last == first) return x;
    return apply("pad", {{"before", first}, {"after", last}}, {x}, "/image");
  }

 private:
  GraphBuilder& builder_;
  const Node& node_;
};

Result<Port> by_im2col(Made made, const PlainConvolution& convolution, Port x, Port w) {
  REWRIGHT_TRY(x, made.padded(x, convolution.before, convolution.after));
  const auto list = [](const std::array<std::int64_t, 2>& pair) {
    return std::vector<std::int64_t>(pair.begin(), pair.end());
  };
  REWRIGHT_TRY(const Port windows, made.apply("im2col",
                                              {{"kernel", list(convolution.kernel)},
                                               {"strides", list(convolution.strides)},
                                               {"dilations", list(convolution.dilations)}},
                                              {x}, "/windows"));
  return made.apply("im2col_matmul", {}, {windows, w}, "");
}

Result<Port> by_winograd(Made made, const PlainConvolution& convolution, const Shape& image, const Shape& result,
                         Port x, Port w, std::int64_t m) {
  std::array<std::int64_t, 2> after{};
  std::vector<std::int64_t> whole;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const int at = 2 + static_cast<int>(axis);
    whole.push_back((result[at] + m - 1) / m * m);
    after[axis] = whole.back() + kTaps - 1 - image[at] - convolution.before[axis];
  }
  if (std::ranges::any_of(after, [](std::int64_t zeros) { return zeros < 0; }))
    return make_error(ErrorCode::kUsage, "an image reaches beyond its result's tiles");
  REWRIGHT_TRY(x, made.padded(x, convolution.before, after));
  REWRIGHT_TRY(const Port tiles, made.apply("winograd_input", {{"outputs", m}}, {x}, "/tiles"));
  REWRIGHT_TRY(const Port filters, made.apply("winograd_weight", {{"outputs", m}}, {w}, "/filters"));
  REWRIGHT_TRY(const Port products, made.apply("broadcast_matmul", {{"stretch_right", std::vector<std::int64_t>{2, 3}}},
                                               {tiles, filters}, "/products"));
  const std::vector<std::int64_t> sizes = {result[2], result[3]};
  REWRIGHT_TRY(Port y, made.apply("winograd_output", {{"outputs", m}}, {products}, whole == sizes ? "" : "/outputs"));
  if (whole != sizes) {
    const std::vector<std::int64_t> axes = {2, 3}, zeros = {0, 0}, ones = {1, 1};
    REWRIGHT_TRY(y,
                 made.apply("slice", {{"axes", axes}, {"starts", zeros}, {"sizes", sizes}, {"steps", ones}}, {y}, ""));
  }
  return y;
}

}  // namespace

std::optional<std::int64_t> nonzeros_of(const Graph& graph, Port port, const ExternalWeights& external) {
  const Node& node = graph.node(port.node);
  if (graph.type(port).element != ElementType::kFloat32) return std::nullopt;
  const auto count = [](const std::vector<std::byte>& bytes) {
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return count_nonzeros(numbers);
  };
  if (const auto lies = external.find(node.name); node.is_weight() && lies != external.end()) {
    const auto bytes = model::read_external(lies->second);
    return bytes ? std::optional(count(*bytes)) : std::nullopt;  // Who stores it says that it cannot be read.
  }
  const auto* bytes =
      node.constant() == nullptr ? nullptr : std::get_if<std::vector<std::byte>>(&node.constant()->value);
  return bytes == nullptr ? std::nullopt : std::optional(count(*bytes));
}

namespace {

/// A weight with more zeros than others, and some that are not.
bool is_sparse(const Graph& graph, Port weight, const ExternalWeights& external) {
  const auto elements = nonzeros_of(graph, weight, external);
  return elements && *elements > 0 && 2 * *elements < graph.shape(weight).elements();
}

bool is_by_im2col(std::string_view algorithm) { return algorithm == kIm2col || algorithm == kSparseIm2col; }
bool is_without_zeros(std::string_view algorithm) { return algorithm == kSparse || algorithm == kSparseIm2col; }
/// The same node, whose kernel is another.
bool keeps_node(std::string_view algorithm) {
  return algorithm == kSparse || algorithm == kDirect || algorithm == kPacked;
}

/// Nothing where the node can be computed so.
std::optional<std::string> reason_against(std::string_view algorithm, const Graph& graph, const Node& node,
                                          const ExternalWeights& external) {
  if (std::ranges::find(algorithm_names(), algorithm) == algorithm_names().end()) return "there is no such algorithm";
  if (algorithm == kTiles) return reason_against_tiles(graph, node);
  if (!node.applies("conv2d") || node.name.empty()) return "it is no convolution";
  if (is_without_zeros(algorithm) && !is_sparse(graph, node.inputs[1], external))
    return "it has no weight with more zeros than other numbers";
  if (keeps_node(algorithm)) return std::nullopt;
  const auto convolution = plain_convolution(graph, node);
  if (!convolution) return "it has an activation";
  if (is_by_im2col(algorithm)) return convolution->groups == 1 ? std::nullopt : std::optional("it has groups");
  return convolution->has_tiles() ? std::nullopt
                                  : std::optional("it is none of 3 x 3 taps beside each other, stride 1 and one group");
}

Result<Port> computed_by(std::string_view algorithm, GraphBuilder& builder, const Node& node,
                         const PlainConvolution& convolution, Port x, Port w) {
  const Made made(builder, node);
  if (is_by_im2col(algorithm)) return by_im2col(made, convolution, x, w);
  return by_winograd(made, convolution, builder.shape(x), node.outputs[0].shape, x, w, outputs_of_tile(algorithm));
}

}  // namespace

const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> kNames = {
      std::string(kDirect), std::string(kPacked), std::string(kIm2col),       "winograd-2",
      "winograd-4",         std::string(kSparse), std::string(kSparseIm2col), std::string(kTiles)};
  return kNames;
}

std::vector<std::string> nodes_within(std::string_view algorithm, const Graph& graph, const std::string& name) {
  if (algorithm != kTiles) return {};
  const auto node = std::ranges::find_if(graph.nodes(), [&](const Node& each) { return each.name == name; });
  return node == graph.nodes().end() ? std::vector<std::string>() : nodes_within_tiles(graph, *node);
}

std::vector<std::string> nodes_for(std::string_view algorithm, const Graph& graph, const ExternalWeights& external) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (!node.is_input() && !reason_against(algorithm, graph, node, external)) names.push_back(node.name);
  return names;
}

WeightWishes weight_wishes(const Graph& graph, const Algorithms& algorithms, const ExternalWeights& external) {
  WeightWishes wishes;
  for (const Node& node : graph.nodes()) {
    const auto at = node.is_input() ? algorithms.end() : algorithms.find(node.name);
    if (at == algorithms.end() || node.inputs.size() < 2) continue;
    const std::string& algorithm = at->second;
    WeightWish wish;
    if (is_without_zeros(algorithm)) wish.elements = nonzeros_of(graph, node.inputs[1], external);
    if (algorithm == kPacked) wish.layout = WeightWish::Layout::kChannelsLast;
    if (algorithm == kDirect || wish.elements) wish.layout = WeightWish::Layout::kChannelsFirst;
    if (wish.layout != WeightWish::Layout::kAny) wishes[node.inputs[1]] = wish;
  }
  return wishes;
}

std::set<Port> stored_windows(const Graph& graph) {
  std::set<Port> stored;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
    if (graph.nodes()[i].applies("im2col")) stored.insert({NodeId{i}, 0});
  return stored;
}

Result<Graph> with_algorithms(const Graph& graph, const Algorithms& algorithms, const Registry& registry,
                              const ExternalWeights& external) {
  GraphBuilder builder(&registry);
  std::vector<std::vector<Port>> made;
  std::size_t met = 0;
  for (const Node& node : graph.nodes()) {
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back(made[port.node.value][port.output]);
    const auto algorithm = node.is_input() ? algorithms.end() : algorithms.find(node.name);
    if (algorithm != algorithms.end()) {
      ++met;
      if (const auto reason = reason_against(algorithm->second, graph, node, external))
        return make_error(ErrorCode::kUsage, "{} cannot be computed by {}: {}", node.name, algorithm->second, *reason);
    }
    if (algorithm == algorithms.end() || keeps_node(algorithm->second)) {
      REWRIGHT_TRY(auto ports, builder.copy(node, std::move(operands)));
      made.push_back(std::move(ports));
      continue;
    }
    REWRIGHT_TRY(const Port y, algorithm->second == kTiles
                                   ? by_tiles_of_keys(builder, graph, node, made)
                                   : computed_by(algorithm->second, builder, node, *plain_convolution(graph, node),
                                                 operands[0], operands[1]));
    made.push_back({y});
  }
  if (met != algorithms.size())
    return make_error(ErrorCode::kUsage, "of {} nodes with an algorithm {} are there", algorithms.size(), met);
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Port port = graph.outputs()[i];
    builder.output(made[port.node.value][port.output],
                   graph.output_names().empty() ? std::string() : graph.output_names()[i]);
  }
  return builder.finish();
}

}  // namespace rewright::compile
