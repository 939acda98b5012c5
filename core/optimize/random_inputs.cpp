#include "optimize/random_inputs.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "onnx/element.h"
#include "optimize/input_uses.h"

namespace rewright {

std::uint64_t seed_of(const std::string& name, std::uint64_t seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

ConstantData random_weight(const std::string& name, const TensorType& type, std::uint64_t seed) {
  RandomBits random(seed_of(name, seed));
  std::vector<double> values(static_cast<std::size_t>(type.shape.elements()));
  const Shape& shape = type.shape;
  const std::int64_t first = shape.rank() == 0 ? 1 : std::max<std::int64_t>(shape[0], 1);
  const double fan_in = static_cast<double>(std::max<std::int64_t>({first, shape.elements() / first, 1}));
  const double mean = shape.rank() < 2 ? 1 : 0, reach = shape.rank() < 2 ? 0.5 : std::sqrt(3 / fan_in);
  for (double& value : values) value = mean + reach * (2 * uniform_number(random) - 1);
  return {type, model::encode(type.element, values)};
}

Result<std::vector<RuntimeTensor>> random_inputs(const Graph& graph, std::uint64_t seed, const GivenInputs& given,
                                                 const InputDraw& how) {
  using Kind = InputSource::Kind;
  const GivenInputs plausible = plausible_inputs(graph, how.trial);
  std::vector<RuntimeTensor> inputs;
  for (NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    if (node.is_weight()) continue;
    const TensorType& type = node.outputs[0];
    const auto known = given.find(node.name);
    if (known != given.end() && known->second.kind == Kind::kDefault) continue;
    if (std::string trouble = why_not_drawn(node); !trouble.empty()) {
      if (how.leave_out) continue;
      return make_error(ErrorCode::kUnsupported, "{}", trouble);
    }
    const InputSource& source = known != given.end() ? known->second : plausible.at(node.name);
    RandomBits random(seed_of(node.name, seed + static_cast<std::uint64_t>(how.trial)));
    std::vector<double> values = draw(source, type, random);
    const bool is_scaled = is_floating(type.element) && (source.kind == Kind::kUniform || source.kind == Kind::kNormal);
    if (is_scaled && how.scale != 1)
      for (double& value : values) value *= how.scale;
    if (is_scaled && how.infinite)
      for (double& value : values)
        if (random() % 16 == 0) value = std::copysign(HUGE_VAL, value);
    inputs.push_back({node.name, type, model::encode(type.element, values)});
  }
  return inputs;
}

}  // namespace rewright
