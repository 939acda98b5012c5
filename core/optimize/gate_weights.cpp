#include "optimize/gate_weights.h"

#include <rewright/operator/operator.h>

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "optimize/rounding.h"

namespace rewright {
namespace {

/// One number repeated, and more than once.
bool is_uniform(const ConstantData& constant) {
  const std::int64_t elements = constant.type.shape.elements();
  if (elements <= 1) return false;
  const auto* bytes = std::get_if<std::vector<std::byte>>(&constant.value);
  if (bytes == nullptr) return true;
  const std::size_t size = bytes->size() / static_cast<std::size_t>(elements);
  return std::equal(bytes->begin() + static_cast<std::ptrdiff_t>(size), bytes->end(), bytes->begin());
}

}  // namespace

/// A model that multiplies by a tiny number is meant for inputs that are as large: 1 / |c| for the least such number c;
/// 1 where no factor is tiny.
double scale_of_factors(const Graph& graph) {
  constexpr double kTiny = 0x1p-30;
  double least = 1;
  for (const Node& node : graph.nodes()) {
    const ApplicationNode* application = node.application();
    if (!application || !application->op->info().multilinear || node.inputs.size() != 2) continue;
    for (const Port operand : node.inputs) {
      const Node& factor = graph.node(operand.node);
      if (!factor.constant() || graph.shape(operand).elements() != 1) continue;
      const auto number = to_numbers(*factor.constant());
      if (number && number->front().value != 0) least = std::min(least, std::fabs(number->front().value));
    }
  }
  return least < kTiny ? 1 / least : 1;
}

/// Does a weight hold an infinity? Large ones are not looked at.
bool has_infinities(const Graph& graph) {
  constexpr std::int64_t kMostElements = 1 << 20;
  return std::ranges::any_of(graph.inputs(), [&](NodeId id) {
    const Node& node = graph.node(id);
    if (!node.constant() || !is_floating(node.outputs[0].element)) return false;
    if (const auto* number = std::get_if<double>(&node.constant()->value)) return std::isinf(*number);
    if (node.outputs[0].shape.elements() > kMostElements) return false;
    const auto numbers = to_numbers(*node.constant());
    return numbers && std::ranges::any_of(*numbers, [](Real number) { return std::isinf(number.value); });
  });
}

/// Names of weights that are uniform and that operators alone use.
std::set<std::string> uniform_weights(const Graph& graph) {
  std::vector<bool> by_opaque(graph.nodes().size(), false);
  for (const Node& node : graph.nodes())
    if (node.opaque())
      for (Port operand : node.inputs) by_opaque[operand.node.value] = true;
  std::set<std::string> names;
  for (NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    if (node.constant() && is_uniform(*node.constant()) && is_floating(node.outputs[0].element) && !by_opaque[id.value])
      names.insert(node.name);
  }
  return names;
}

}  // namespace rewright
