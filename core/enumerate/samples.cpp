// The inputs that fingerprints are taken on.
//
// Each element is sign * (1 .. 15) * 36 with pseudo-random sign and magnitude: a keyed hash of (seed, input name,
// sample, position), so no two inputs are affinely related. The factor 36 keeps an average over a window of 2x2 or 3x3
// a whole number. An element is below 2^10 in absolute value, so that products of six of them, and sums of such, stay
// below 2^60 and the order of the field is that of the integers. The first element has one sign in the first sample and
// the other in the second, so that a scalar is seen with both.
#include "enumerate/values.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright::enumeration {

namespace {
constexpr std::int64_t kMagnitudes = 15;
constexpr std::int64_t kAverageScale = 36;
}  // namespace

std::vector<Field> sample_elements(std::string_view name, const Shape& shape, std::uint64_t seed,
                                   std::uint32_t sample) {
  const std::uint64_t key = XXH3_64bits_withSeed(name.data(), name.size(), seed);
  std::vector<Field> elements;
  elements.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::uint64_t words[2] = {sample, static_cast<std::uint64_t>(i)};
    const std::uint64_t random = XXH3_64bits_withSeed(words, sizeof(words), key);
    bool negative = (random & 1) != 0;
    if (i == 0 && sample < 2) negative = (sample + key) % 2 == 0;
    const auto magnitude = static_cast<std::int64_t>((random >> 8) % kMagnitudes) + 1;
    elements.push_back(Field::from_integer((negative ? -magnitude : magnitude) * kAverageScale));
  }
  return elements;
}

std::uint32_t samples_for(const EnumerationConfig& config) {
  std::int64_t smallest = 64;
  for (const EnumerationInput& input : config.inputs)
    smallest = std::clamp<std::int64_t>(input.shape.elements(), 1, smallest);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(64 / smallest, 4, 16));
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
