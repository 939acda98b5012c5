// Graphs for the room's tests: random networks of convolutions and products, their numbers, and runs of them.
#pragma once

#include <rewright/graph/graph.h>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/operators.h"
#include "support/random.h"

namespace rewright::compress::testing {

using rewright::testing::loaded;
using rewright::testing::Random;
using Numbers = std::vector<float>;
using List = std::vector<std::int64_t>;

inline TensorType floats(Shape shape) { return {std::move(shape), ElementType::kFloat32}; }

inline std::shared_ptr<const ConstantData> constant(const Shape& shape, const Numbers& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return std::make_shared<const ConstantData>(
      ConstantData{floats(shape), std::vector<std::byte>(bytes.begin(), bytes.end())});
}

inline Numbers numbers_in(const ConstantData& constant) {
  Numbers numbers(static_cast<std::size_t>(constant.type.shape.elements()));
  if (const auto* number = std::get_if<double>(&constant.value)) {
    std::ranges::fill(numbers, static_cast<float>(*number));
  } else {
    const auto& bytes = std::get<std::vector<std::byte>>(constant.value);
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
  }
  return numbers;
}
inline Numbers weight_in(const Graph& graph, const std::string& name) {
  for (const NodeId id : graph.inputs())
    if (graph.node(id).name == name) return numbers_in(*graph.node(id).constant());
  ADD_FAILURE() << "there is no weight " << name;
  return {};
}

/// A text form whose weights get whole numbers from 1 on, negative ones between.
inline Graph graph_of(const std::string& text) {
  const Graph parsed = *parse_graph(text, loaded());
  GraphBuilder builder(&loaded());
  std::vector<Port> first;
  for (const Node& node : parsed.nodes()) {
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back({first[port.node.value].node, port.output});
    if (!node.is_weight()) {
      first.push_back((*builder.copy(node, operands))[0]);
      continue;
    }
    Numbers numbers(static_cast<std::size_t>(node.outputs[0].shape.elements()));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(i + 1) * (i % 3 == 1 ? -1.0F : 1.0F);
    first.push_back(
        *builder.input(node.name, node.outputs[0], InputKind::kWeight, constant(node.outputs[0].shape, numbers)));
  }
  for (std::size_t k = 0; k < parsed.outputs().size(); ++k)
    builder.output({first[parsed.outputs()[k].node.value].node, parsed.outputs()[k].output}, parsed.output_names()[k]);
  return builder.finish();
}

/// The graph with other numbers in some weights.
inline Graph with_numbers(const Graph& graph, const std::map<NodeId, Numbers>& others) {
  GraphBuilder builder(&loaded());
  std::vector<Port> first;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back({first[port.node.value].node, port.output});
    const auto found = others.find({i});
    first.push_back(found == others.end() ? (*builder.copy(node, operands))[0]
                                          : *builder.input(node.name, node.outputs[0], InputKind::kWeight,
                                                           constant(node.outputs[0].shape, found->second)));
  }
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    builder.output({first[graph.outputs()[k].node.value].node, graph.outputs()[k].output}, graph.output_names()[k]);
  return builder.finish();
}

/// Outputs over the field; data inputs get the seed's numbers, weights their own, which are whole.
inline std::vector<std::vector<Field>> run(const Graph& graph, std::uint64_t seed) {
  Random random(seed);
  std::vector<Tensor<Field>> inputs;
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    Tensor<Field>& tensor = inputs.emplace_back(node.outputs[0].shape);
    const Numbers numbers = node.constant() ? numbers_in(*node.constant()) : Numbers();
    for (std::size_t i = 0; i < tensor.values().size(); ++i)
      tensor.values()[i] =
          Field::from_integer(node.constant() ? static_cast<std::int64_t>(numbers[i]) : random.between(-9, 9));
  }
  const auto outputs = evaluate<Field>(graph, inputs);
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message);
  std::vector<std::vector<Field>> values;
  if (outputs)
    for (const Tensor<Field>& output : *outputs) values.push_back(output.values());
  return values;
}

/// Convolutions, with and without groups, and what stands between them; a product at the end. `linear_zeros`: only what
/// makes 0 of channels that are 0.
class RandomNetwork {
 public:
  RandomNetwork(std::uint64_t seed, bool keeps_zeros) : random_(seed), keeps_zeros_(keeps_zeros), builder_(&loaded()) {}

  Graph make() {
    const std::int64_t size = random_.between(4, 7);
    Port x = *builder_.input("x", floats({random_.between(1, 2), random_.pick(List{1, 3, 4}), size, size}));
    x = convolution(x, random_.pick(List{4, 6, 8}));
    std::vector<Port> images = {x};
    for (int step = 0; step < 7; ++step) images.push_back(next(images));
    if (random_.one_in(3)) builder_.output(images[3]);
    builder_.output(classified(images.back()));
    return builder_.finish();
  }

 private:
  [[nodiscard]] Shape shape(Port port) const { return builder_.shape(port); }
  Port apply(const char* op, std::vector<NamedParam> params, std::vector<Port> operands) {
    auto ports = builder_.apply(op, params, std::move(operands), fmt::format("{}_{}", op, nodes_++));
    EXPECT_TRUE(ports) << (ports ? "" : ports.error().message);
    return (*ports)[0];
  }
  /// Whole numbers, none 0, of any sign.
  Port weight(const Shape& shape, bool positive = false) {
    Numbers numbers(static_cast<std::size_t>(shape.elements()));
    for (float& number : numbers)
      number = static_cast<float>(random_.between(1, 9) * (positive || random_.one_in(2) ? 1 : -1));
    return *builder_.input(fmt::format("w{}", weights_++), floats(shape), InputKind::kWeight, constant(shape, numbers));
  }
  Port convolution(Port x, std::int64_t out, std::int64_t groups = 1) {
    const std::int64_t kernel = random_.pick(List{1, 3});
    return apply("conv2d", {{"padding", std::string("same")}, {"groups", groups}},
                 {x, weight({out, shape(x)[1] / groups, kernel, kernel})});
  }
  Port next(const std::vector<Port>& images) {
    const Port from = random_.one_in(4) ? random_.pick(images) : images.back();
    const std::int64_t channels = shape(from)[1];
    switch (random_.below(keeps_zeros_ ? 11 : 14)) {
      case 0:
      case 1: return convolution(from, random_.pick(List{4, 5, 6, 8}));
      case 2: return convolution(from, channels, channels);
      case 3: return apply("relu", {}, {from});
      case 4: return apply("pool2d_max", {{"kernel", List{2, 2}}, {"padding", std::string("same")}}, {from});
      case 5: return apply("pool2d_avg", {{"kernel", List{3, 3}}, {"padding", std::string("same")}}, {from});
      case 6: {  // Both sides of a sum are tied.
        const Port other = convolution(convolution(from, random_.pick(List{4, 6})), channels);
        return apply(random_.one_in(2) ? "ewadd" : "ewmul", {}, {other, from});
      }
      case 7: {  // One weight, twice.
        const Port w = weight({channels, channels, 1, 1});
        const Port once = apply("conv2d", {}, {from, w});
        return apply("conv2d", {}, {apply("relu", {}, {once}), w});
      }
      case 8: return channels % 2 == 0 ? convolution(from, channels, 2) : apply("relu", {}, {from});
      case 9: {
        const Port other = convolution(from, 4);
        return channels > 8 ? other : apply("concat", {{"axis", std::int64_t{1}}}, {from, other});
      }
      case 10: {  // As many channels in another order of axes, and back.
        const Port moved = apply("transpose", {{"perm", List{0, 2, 3, 1}}}, {from});
        return apply("transpose", {{"perm", List{0, 3, 1, 2}}}, {apply("relu", {}, {moved})});
      }
      case 11: {
        const Shape own = {channels};
        return apply("batch_norm", {}, {from, weight(own), weight(own), weight(own), weight(own, true)});
      }
      case 12: return apply("bias_add", {}, {from, weight({channels})});
      default: return apply("sigmoid", {}, {from});
    }
  }
  /// Over the places' mean, or all of them in one row.
  Port classified(Port image) {
    const Shape in = shape(image);
    if (random_.one_in(2)) {
      const Port mean = apply("reduce_mean", {{"axes", List{2, 3}}}, {image});
      const Port row = apply("reshape", {{"sizes", List{in[0], in[1]}}}, {mean});
      return apply("matmul", {}, {row, weight({in[1], 5})});
    }
    const std::int64_t all = in[1] * in[2] * in[3];
    const Port row = apply("reshape", {{"sizes", List{in[0], all}}}, {image});
    return apply("matmul", {}, {row, weight({all, 5})});
  }

  Random random_;
  bool keeps_zeros_;
  GraphBuilder builder_;
  int weights_ = 0, nodes_ = 0;
};

}  // namespace rewright::compress::testing
