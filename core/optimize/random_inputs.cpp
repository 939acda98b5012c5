#include "optimize/random_inputs.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace rewright {
namespace {

/// Uniform in [-1, 1); the same on every machine.
double uniform(RandomBits& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1.0; }

/// The nearest half-precision number, ties to even. Source: IEEE 754-2008, binary16.
std::uint16_t to_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);                // magnitude = f * 2^exponent, f in [0.5, 1)
  const int scale = std::max(exponent, -13) - 11;  // one unit in the last place is 2^scale
  const auto units = static_cast<std::int64_t>(std::nearbyint(std::ldexp(magnitude, -scale)));
  const std::int64_t bits = units + (static_cast<std::int64_t>(scale + 24) << 10);  // an overflow carries over rightly
  return static_cast<std::uint16_t>(sign | std::min<std::int64_t>(bits, 0x7c00));
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

}  // namespace

bool is_real(ElementType type) {
  return type == ElementType::kFloat32 || type == ElementType::kFloat64 || type == ElementType::kFloat16 ||
         type == ElementType::kBFloat16;
}

std::uint64_t seed_of(const std::string& name, std::uint64_t seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

Result<std::vector<std::byte>> encode(std::span<const double> values, ElementType type) {
  std::vector<std::byte> bytes;
  for (double value : values) {
    switch (type) {
      case ElementType::kFloat32: append(bytes, static_cast<float>(value)); break;
      case ElementType::kFloat64: append(bytes, value); break;
      case ElementType::kFloat16: append(bytes, to_half(value)); break;
      case ElementType::kBFloat16:
        append(bytes, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16));
        break;
      case ElementType::kInt8:
      case ElementType::kUint8:
      case ElementType::kBool: append(bytes, static_cast<std::uint8_t>(value)); break;
      case ElementType::kInt16:
      case ElementType::kUint16: append(bytes, static_cast<std::uint16_t>(value)); break;
      case ElementType::kInt32:
      case ElementType::kUint32: append(bytes, static_cast<std::uint32_t>(value)); break;
      case ElementType::kInt64:
      case ElementType::kUint64: append(bytes, static_cast<std::uint64_t>(value)); break;
      default:
        return make_error(ErrorCode::kUnsupported,
                          "the equivalence of graphs cannot be judged: an input has an element type (ONNX number {}) "
                          "for which there are no random values",
                          static_cast<int>(type));
    }
  }
  return bytes;
}

std::vector<double> random_values(const TensorType& type, RandomBits& random) {
  std::vector<double> values(static_cast<std::size_t>(type.shape.elements()));
  for (double& value : values) value = is_real(type.element) ? uniform(random) : static_cast<double>(random() >> 63);
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
    const auto found = std::ranges::find_if(graph.inputs(), [&](NodeId id) {
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
