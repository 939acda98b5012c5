#include "optimize/input_source.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

namespace rewright {
namespace {

/// Of mean 0 and variance 1: the sum of twelve uniform numbers, which the four operations alone make, so that it is the
/// same on every machine. It lies in [-6, 6).
double normal_number(RandomBits& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform_number(random);
  return sum;
}

}  // namespace

double uniform_number(RandomBits& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

Result<std::optional<InputSource>> read_distribution(const std::string& text) {
  using Kind = InputSource::Kind;
  for (const auto& [name, kind] : {std::pair("uniform(", Kind::kUniform), std::pair("normal(", Kind::kNormal),
                                   std::pair("integers(", Kind::kIntegers)}) {
    if (!text.starts_with(name)) continue;
    std::istringstream stream(text.substr(std::string_view(name).size()));
    InputSource source{kind};
    char comma = 0, end = 0;
    const bool is_read =
        stream >> source.low >> comma >> source.high >> end && comma == ',' && end == ')' && (stream >> std::ws).eof();
    const bool is_ordered = kind == Kind::kNormal ? source.high >= 0 : source.low <= source.high;
    if (!is_read || !is_ordered)
      return make_error(ErrorCode::kUsage,
                        "'{}' is no distribution; uniform(LOW,HIGH), normal(MEAN,DEVIATION) and integers(LOW,HIGH) are",
                        text);
    return std::optional(source);
  }
  return std::optional<InputSource>();
}

Status check_given(const Graph& graph, const GivenInputs& given) {
  for (const auto& [name, source] : given) {
    const auto found = std::ranges::find_if(graph.inputs(), [&graph, &name = name](NodeId id) {
      return graph.node(id).name == name && graph.node(id).is_data();
    });
    if (found == graph.inputs().end()) {
      std::vector<std::string> names;
      for (NodeId id : graph.inputs())
        if (graph.node(id).is_data()) names.push_back(graph.node(id).name);
      return make_error(ErrorCode::kUsage, "--input {}: the model has no such input; it has: {}", name,
                        fmt::join(names, ", "));
    }
    if (source.kind != InputSource::Kind::kNumbers) continue;
    const Shape& shape = graph.node(*found).outputs[0].shape;
    const std::size_t count = source.numbers.size();
    if (count != 1 && static_cast<std::int64_t>(count) != shape.elements())
      return make_error(ErrorCode::kUsage, "--input {}: {} numbers were given; its shape {} takes {}, or one for all",
                        name, count, shape, shape.elements());
  }
  return {};
}

std::vector<double> draw(const InputSource& source, const TensorType& type, RandomBits& random) {
  std::vector<double> values(static_cast<std::size_t>(type.shape.elements()));
  const auto fill = [&](auto next) {
    for (double& value : values) value = next();
  };
  switch (source.kind) {
    case InputSource::Kind::kNumbers:
    case InputSource::Kind::kDefault:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = source.numbers[i % source.numbers.size()];
      break;
    case InputSource::Kind::kUniform:
      fill([&] { return source.low + (source.high - source.low) * uniform_number(random); });
      break;
    case InputSource::Kind::kNormal: fill([&] { return source.low + source.high * normal_number(random); }); break;
    case InputSource::Kind::kIntegers:
      fill([&] { return source.low + std::floor((source.high - source.low + 1) * uniform_number(random)); });
      break;
    case InputSource::Kind::kChoices: fill([&] { return source.numbers[random() % source.numbers.size()]; }); break;
  }
  return values;
}

}  // namespace rewright
