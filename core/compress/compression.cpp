#include "compress/compression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "base/spelling.h"

namespace rewright::compress {
namespace {

/// So much of one more element is it already: 0.29 of 100 is 29, not 28.999999999999996.
constexpr double kRounding = 1e-6;

std::int64_t nonzeros_of(const ConstantData& constant) {
  if (const auto* number = std::get_if<double>(&constant.value))
    return *number == 0 ? 0 : constant.type.shape.elements();
  const std::vector<double> numbers = numbers_of(constant);
  return std::ssize(numbers) - std::ranges::count(numbers, 0.0);
}

Amounts amounts_of(const Graph& graph, const std::vector<Layer>& layers, const std::vector<NodeId>* now) {
  Amounts amounts;
  for (const NodeId id : graph.inputs()) {
    const auto& constant = graph.node(id).constant();
    if (constant == nullptr || !is_floating(constant->type.element)) continue;
    amounts.numbers += constant->type.shape.elements();
    amounts.nonzeros += nonzeros_of(*constant);
  }
  std::set<NodeId> seen;
  for (const Layer& layer : layers) {
    const NodeId id = now == nullptr ? layer.node : (*now)[layer.node.value];
    if (!seen.insert(id).second) continue;
    const Node& node = graph.node(id);
    std::vector<Shape> shapes;
    for (const Port& port : node.inputs) shapes.push_back(graph.shape(port));
    const NodeId weight = now == nullptr ? layer.weight : (*now)[layer.weight.value];
    const ConstantData& constant = *graph.node(weight).constant();
    const double share = static_cast<double>(nonzeros_of(constant)) /
                         static_cast<double>(std::max<std::int64_t>(constant.type.shape.elements(), 1));
    amounts.multiply_adds += share * node.application()->op->work(node.application()->params, shapes).flops / 2;
  }
  return amounts;
}

}  // namespace

Status check(const CompressOptions& options, const std::vector<Layer>& layers) {
  if (!(options.share > 0 && options.share < 1))
    return make_error(ErrorCode::kUsage, "the share {} is not between 0 and 1, both excluded", options.share);
  if (layers.empty())
    return make_error(ErrorCode::kUsage,
                      "there is nothing to compress: no convolution or product has a weight of float32 numbers that "
                      "are stored in the model");
  std::vector<std::string> names;
  for (const Layer& layer : layers) {
    names.push_back(layer.name);
    names.push_back(layer.weight_name);
  }
  for (const std::string& kept : options.keep) {
    if (std::ranges::find(names, kept) != names.end()) continue;
    const auto meant = nearest(kept, names);
    return make_error(ErrorCode::kUsage,
                      "there is no layer '{}' with a weight{}; layers are named by their node or their weight", kept,
                      meant ? fmt::format(" (did you mean '{}'?)", *meant) : "");
  }
  return {};
}

bool is_kept(const Layer& layer, const CompressOptions& options) {
  return std::ranges::any_of(options.keep,
                             [&](const std::string& name) { return name == layer.name || name == layer.weight_name; });
}

std::int64_t part_of(std::int64_t count, double share) {
  return static_cast<std::int64_t>(std::floor(static_cast<double>(count) * share + kRounding));
}

CompressedGraph with_amounts(const Graph& before, Graph after, std::vector<NodeId> now,
                             const std::vector<Layer>& layers) {
  CompressedGraph result;
  std::set<NodeId> seen;
  for (const Layer& layer : layers) {
    if (!seen.insert(layer.weight).second) continue;
    const ConstantData &was = *before.node(layer.weight).constant(),
                       &is = *after.node(now[layer.weight.value]).constant();
    result.layers.push_back({layer.name, before.node(layer.node).application()->op->name(), was.type.shape,
                             is.type.shape, nonzeros_of(was), nonzeros_of(is)});
  }
  result.before = amounts_of(before, layers, nullptr);
  result.after = amounts_of(after, layers, &now);
  result.graph = std::move(after);
  result.now = std::move(now);
  return result;
}

}  // namespace rewright::compress
