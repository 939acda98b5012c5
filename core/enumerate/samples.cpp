// The inputs that fingerprints are taken on.
//
// Each element is sign * (1 .. 61) * 1296 with pseudo-random sign and magnitude: a keyed hash of (seed, input name,
// sample, position), so no two inputs are affinely related. The factor 1296 = 36^2 keeps averages over windows of 2x2
// and 3x3, twice over, whole numbers, so that the order of the field is that of the integers wherever the absolute
// value stays below 2^60. The first element's sign alternates with the sample, so that a scalar is seen with both.
#include "enumerate/values.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright::enumeration {

namespace {
constexpr std::int64_t kMagnitudes = 61;
constexpr std::int64_t kAverageScale = 1296;
}  // namespace

std::vector<Field> sample_elements(std::string_view name, const Shape& shape, std::uint64_t seed, std::uint32_t sample) {
  const std::uint64_t key = XXH3_64bits_withSeed(name.data(), name.size(), seed);
  std::vector<Field> elements;
  elements.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::uint64_t words[2] = {sample, static_cast<std::uint64_t>(i)};
    const std::uint64_t random = XXH3_64bits_withSeed(words, sizeof(words), key);
    const bool negative = i == 0 ? (sample + key) % 2 == 0 : (random & 1) != 0;
    const auto magnitude = static_cast<std::int64_t>((random >> 8) % kMagnitudes) + 1;
    elements.push_back(Field::from_integer((negative ? -magnitude : magnitude) * kAverageScale));
  }
  return elements;
}

std::vector<Tensor<Field>> sample_inputs(const Graph& graph, std::uint64_t seed, std::uint32_t sample) {
  std::vector<Tensor<Field>> inputs;
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    inputs.emplace_back(node.outputs[0].shape, sample_elements(node.name, node.outputs[0].shape, seed, sample));
  }
  return inputs;
}

}  // namespace rewright::enumeration
