#include "compile/node_algorithms.h"

#include <rewright/operator/operator.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "compile/sparse_weights.h"

namespace rewright::compile {
namespace {

constexpr std::int64_t kTaps = 3;
constexpr std::string_view kSparse = "sparse";

/// A convolution of 3 x 3 taps, stride 1, one group and no activation.
struct PlainConvolution {
  std::array<std::int64_t, 2> before;  ///< Zeros around the image, along rows and columns.
};
std::optional<PlainConvolution> plain_convolution(const Graph& graph, const Node& node) {
  if (!node.applies("conv2d") || node.name.empty()) return std::nullopt;
  const ApplicationNode& conv = *node.application();
  const std::vector<ParamSpec>& specs = conv.op->info().params;
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(specs, name, &ParamSpec::name) - specs.begin());
  };
  const std::vector<std::int64_t> ones = {1, 1};
  const Shape& w = graph.shape(node.inputs[1]);
  if (w[2] != kTaps || w[3] != kTaps || conv.params.integers(place("strides")) != ones ||
      conv.params.integers(place("dilations")) != ones || conv.params.integer(place("groups")) != 1 ||
      conv.params.choice(place("activation")) != 0)
    return std::nullopt;
  const bool is_same =
      specs[place("padding")].choices[static_cast<std::size_t>(conv.params.choice(place("padding")))] == "same";
  const auto& pads = conv.params.integers(place("pads"));
  return PlainConvolution{is_same ? std::array<std::int64_t, 2>{kTaps / 2, kTaps / 2} : std::array{pads[0], pads[1]}};
}

/// Outputs of a tile along an axis; 0: it is another algorithm.
std::int64_t outputs_of_tile(std::string_view algorithm) {
  return algorithm == "winograd-2" ? 2 : algorithm == "winograd-4" ? 4 : 0;
}

Result<Port> by_winograd(GraphBuilder& builder, const Node& node, const PlainConvolution& convolution, Port x, Port w,
                         std::int64_t m) {
  const auto apply = [&](std::string_view op, std::vector<NamedParam> params, std::vector<Port> operands,
                         const std::string& what) -> Result<Port> {
    REWRIGHT_TRY(const auto made, builder.apply(op, params, std::move(operands), node.name + what));
    return made[0];
  };
  const Shape image = builder.shape(x);
  const Shape& result = node.outputs[0].shape;
  std::vector<std::int64_t> before(4, 0), after(4, 0), whole;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const int at = 2 + static_cast<int>(axis);
    const std::int64_t tiled = (result[at] + m - 1) / m * m + kTaps - 1;
    before[2 + axis] = convolution.before[axis];
    after[2 + axis] = tiled - image[at] - before[2 + axis];
    whole.push_back(tiled - kTaps + 1);
  }
  if (std::ranges::any_of(after, [](std::int64_t zeros) { return zeros < 0; }))
    return make_error(ErrorCode::kUsage, "the image of {} reaches beyond its result's tiles", node.name);
  if (before != std::vector<std::int64_t>(4, 0) || after != std::vector<std::int64_t>(4, 0)) {
    REWRIGHT_TRY(x, apply("pad", {{"before", before}, {"after", after}}, {x}, "/image"));
  }
  REWRIGHT_TRY(const Port tiles, apply("winograd_input", {{"outputs", m}}, {x}, "/tiles"));
  REWRIGHT_TRY(const Port filters, apply("winograd_weight", {{"outputs", m}}, {w}, "/filters"));
  REWRIGHT_TRY(const Port products, apply("broadcast_matmul", {{"stretch_right", std::vector<std::int64_t>{2, 3}}},
                                          {tiles, filters}, "/products"));
  const std::vector<std::int64_t> sizes = {result[2], result[3]};
  REWRIGHT_TRY(Port y, apply("winograd_output", {{"outputs", m}}, {products}, whole == sizes ? "" : "/outputs"));
  if (whole != sizes) {
    const std::vector<std::int64_t> axes = {2, 3}, zeros = {0, 0}, ones = {1, 1};
    REWRIGHT_TRY(y, apply("slice", {{"axes", axes}, {"starts", zeros}, {"sizes", sizes}, {"steps", ones}}, {y}, ""));
  }
  return y;
}

/// Elements that are not 0 of a weight that is known; nothing for others.
std::optional<std::int64_t> nonzeros_of(const Graph& graph, Port port) {
  const auto& constant = graph.node(port.node).constant();
  if (constant == nullptr || constant->type.element != ElementType::kFloat32) return std::nullopt;
  const auto* bytes = std::get_if<std::vector<std::byte>>(&constant->value);
  if (bytes == nullptr) return std::nullopt;
  std::vector<float> numbers(bytes->size() / sizeof(float));
  std::memcpy(numbers.data(), bytes->data(), bytes->size());
  return count_nonzeros(numbers);
}

/// A convolution whose weight has more zeros than others, and some that are not.
bool is_sparse_convolution(const Graph& graph, const Node& node) {
  if (!node.applies("conv2d") || node.name.empty()) return false;
  const auto elements = nonzeros_of(graph, node.inputs[1]);
  return elements && *elements > 0 && 2 * *elements < graph.shape(node.inputs[1]).elements();
}

bool fits(std::string_view algorithm, const Graph& graph, const Node& node) {
  if (algorithm == kSparse) return is_sparse_convolution(graph, node);
  return outputs_of_tile(algorithm) > 0 && plain_convolution(graph, node);
}

}  // namespace

const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> kNames = {"winograd-2", "winograd-4", std::string(kSparse)};
  return kNames;
}

std::vector<std::string> nodes_for(std::string_view algorithm, const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (fits(algorithm, graph, node)) names.push_back(node.name);
  return names;
}

SparseWeights sparse_weights(const Graph& graph, const Algorithms& algorithms) {
  SparseWeights weights;
  for (const Node& node : graph.nodes()) {
    const auto algorithm = node.is_input() ? algorithms.end() : algorithms.find(node.name);
    if (algorithm == algorithms.end() || algorithm->second != kSparse) continue;
    if (const auto elements = nonzeros_of(graph, node.inputs[1])) weights[node.inputs[1]] = *elements;
  }
  return weights;
}

Result<Graph> with_algorithms(const Graph& graph, const Algorithms& algorithms, const Registry& registry) {
  GraphBuilder builder(&registry);
  std::vector<std::vector<Port>> made;
  std::size_t met = 0;
  for (const Node& node : graph.nodes()) {
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back(made[port.node.value][port.output]);
    const auto algorithm = node.is_input() ? algorithms.end() : algorithms.find(node.name);
    const bool is_same = algorithm == algorithms.end() || algorithm->second == kSparse;
    if (algorithm != algorithms.end() && is_same) {
      if (!is_sparse_convolution(graph, node))
        return make_error(ErrorCode::kUsage, "{} has no weight with more zeros than other numbers", node.name);
      ++met;
    }
    if (is_same) {
      REWRIGHT_TRY(auto ports, builder.copy(node, std::move(operands)));
      made.push_back(std::move(ports));
      continue;
    }
    ++met;
    const std::int64_t m = outputs_of_tile(algorithm->second);
    const auto convolution = plain_convolution(graph, node);
    if (m == 0 || !convolution)
      return make_error(ErrorCode::kUsage, "{} cannot be computed by {}", node.name, algorithm->second);
    REWRIGHT_TRY(const Port y, by_winograd(builder, node, *convolution, operands[0], operands[1], m));
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
