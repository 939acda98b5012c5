#include "compress/weight_pruning.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compress/rebuilt.h"

namespace rewright::compress {
namespace {

using Numbers = std::vector<float>;

/// What is no number stays as long as anything does.
float magnitude(float number) { return std::isnan(number) ? std::numeric_limits<float>::infinity() : std::abs(number); }

Numbers floats_of(const ConstantData& constant) {
  Numbers numbers(static_cast<std::size_t>(constant.type.shape.elements()));
  if (const auto* number = std::get_if<double>(&constant.value)) {
    std::ranges::fill(numbers, static_cast<float>(*number));
  } else {
    const auto& bytes = std::get<std::vector<std::byte>>(constant.value);
    std::memcpy(numbers.data(), bytes.data(), std::min(bytes.size(), numbers.size() * sizeof(float)));
  }
  return numbers;
}

std::shared_ptr<const ConstantData> constant_of(const TensorType& type, const Numbers& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return std::make_shared<const ConstantData>(ConstantData{type, std::vector<std::byte>(bytes.begin(), bytes.end())});
}

/// The share that is least becomes 0.
void prune(std::span<Numbers* const> weights, double share) {
  Numbers magnitudes;
  for (const Numbers* weight : weights)
    for (const float number : *weight) magnitudes.push_back(magnitude(number));
  const std::int64_t count = part_of(std::ssize(magnitudes), share);
  if (count == 0) return;
  std::ranges::nth_element(magnitudes, magnitudes.begin() + (count - 1));
  const float greatest = magnitudes[static_cast<std::size_t>(count - 1)];
  std::int64_t equal = count - std::ranges::count_if(magnitudes, [&](float m) { return m < greatest; });
  for (Numbers* weight : weights) {
    for (float& number : *weight) {
      const float m = magnitude(number);
      if (m < greatest || (m == greatest && equal-- > 0)) number = 0;
    }
  }
}

}  // namespace

Result<CompressedGraph> with_zeros(const Graph& graph, const CompressOptions& options) {
  const std::vector<Layer> layers = layers_of(graph, definitions_of(graph), options.names);
  REWRIGHT_CHECK(check(options, layers));
  std::map<NodeId, Numbers> pruned;
  for (const Layer& layer : layers)
    if (!is_kept(layer, options)) pruned.try_emplace(layer.weight, floats_of(*graph.node(layer.weight).constant()));
  for (const Layer& layer : layers)  // A weight that another layer keeps stays as well.
    if (is_kept(layer, options)) pruned.erase(layer.weight);
  if (pruned.empty()) return make_error(ErrorCode::kUsage, "there is nothing to set to zero: all layers are kept");

  std::vector<Numbers*> all;
  for (auto& [weight, numbers] : pruned) all.push_back(&numbers);
  if (options.scope == Scope::kModel) {
    prune(all, options.share);
  } else {
    for (Numbers* const& weight : all) prune(std::span(&weight, 1), options.share);
  }
  Replacements replacements;
  bool changes = false;
  for (const auto& [weight, numbers] : pruned) {
    const ConstantData& was = *graph.node(weight).constant();
    if (numbers == floats_of(was)) continue;
    changes = true;
    if (std::ranges::all_of(numbers, [](float number) { return number == 0; })) {
      const auto layer = std::ranges::find(layers, weight, &Layer::weight);
      return make_error(ErrorCode::kUsage,
                        "layer '{}' would have no number left in its weight '{}' at a share of {}; ask for less, or "
                        "leave the layer out with --keep {}",
                        layer->name, layer->weight_name, options.share, layer->name);
    }
    replacements.constants[weight] = constant_of(was.type, numbers);
  }
  if (!changes)
    return make_error(ErrorCode::kUsage,
                      "nothing would change: a share of {} of each weight is zero already, or less than one number",
                      options.share);
  REWRIGHT_TRY(auto rebuilt, rebuild(graph, replacements));
  return with_amounts(graph, std::move(rebuilt.graph), std::move(rebuilt.now), layers);
}

}  // namespace rewright::compress
