#include "optimize/random_inputs.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "onnx/element.h"

namespace rewright {
namespace {

/// Uniform in [-1, 1); the same on every machine.
double uniform(RandomBits& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1.0; }

}  // namespace

std::uint64_t seed_of(const std::string& name, std::uint64_t seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

Result<std::vector<std::byte>> encode(std::span<const double> values, ElementType type) {
  if (element_size(type) == 0)
    return make_error(ErrorCode::kUnsupported,
                      "the equivalence of graphs cannot be judged: an input has an element type (ONNX number {}) for "
                      "which there are no random values",
                      static_cast<int>(type));
  return model::encode(type, values);
}

std::vector<double> random_values(const TensorType& type, RandomBits& random) {
  std::vector<double> values(static_cast<std::size_t>(type.shape.elements()));
  for (double& value : values)
    value = is_floating(type.element) ? uniform(random) : static_cast<double>(random() >> 63);
  return values;
}

std::vector<double> random_weights(const TensorType& type, RandomBits& random) {
  std::vector<double> values = random_values(type, random);
  const Shape& shape = type.shape;
  if (shape.rank() < 2) {
    for (double& value : values) value = 1.0 + value / 2;
    return values;
  }
  const std::int64_t first = std::max<std::int64_t>(shape[0], 1);
  const double fan_in = static_cast<double>(std::max<std::int64_t>({first, shape.elements() / first, 1}));
  for (double& value : values) value *= std::sqrt(3.0 / fan_in);
  return values;
}

Status check_given(const Graph& graph, const GivenInputs& given) {
  for (const auto& [name, values] : given) {
    const auto found = std::ranges::find_if(graph.inputs(), [&graph, &name = name](NodeId id) {
      return graph.node(id).name == name && graph.node(id).input_kind == InputKind::kData;
    });
    if (found == graph.inputs().end()) {
      std::vector<std::string> names;
      for (NodeId id : graph.inputs())
        if (graph.node(id).input_kind == InputKind::kData) names.push_back(graph.node(id).name);
      return make_error(ErrorCode::kUsage, "--input {}: the model has no such input; it has: {}", name,
                        fmt::join(names, ", "));
    }
    const Shape& shape = graph.node(*found).outputs[0].shape;
    if (values.size() != 1 && static_cast<std::int64_t>(values.size()) != shape.elements())
      return make_error(ErrorCode::kUsage, "--input {}: {} numbers were given; its shape {} takes {}, or one for all",
                        name, values.size(), shape, shape.elements());
  }
  return {};
}

std::vector<double> spread_out(const std::vector<double>& values, const TensorType& type) {
  const auto count = static_cast<std::size_t>(type.shape.elements());
  return values.size() == count ? values : std::vector<double>(count, values.front());
}

Result<std::vector<RuntimeTensor>> random_inputs(const Graph& graph, std::uint64_t seed, const GivenInputs& given) {
  RandomBits random(seed);
  std::vector<RuntimeTensor> inputs;
  for (NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    if (node.input_kind == InputKind::kWeight) continue;
    const TensorType& type = node.outputs[0];
    const auto known = given.find(node.name);
    const std::vector<double> values =
        known != given.end() ? spread_out(known->second, type) : random_values(type, random);
    REWRIGHT_TRY(auto bytes, encode(values, type.element));
    inputs.push_back({node.name, type, std::move(bytes)});
  }
  return inputs;
}

}  // namespace rewright
