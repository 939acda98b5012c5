#include "compress/layers.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "onnx/element.h"
#include "operator/properties.h"

namespace rewright::compress {
namespace {

using Kind = ValueExpr::Kind;

void collect_factors(const ValueExpr& value, std::vector<std::uint32_t>& factors) {
  if (value.kind() == Kind::kLoad) factors.push_back(value.buffer().value);
  if (value.kind() != Kind::kMultiply && value.kind() != Kind::kCast) return;
  for (const ValueExpr& part : value.operands()) collect_factors(part, factors);
}

/// Buffers that are multiplied with each other and added up.
void collect_multiplied(const ValueExpr& value, std::set<const ValueExpr::Node*>& seen,
                        std::set<std::uint32_t>& found) {
  if (!seen.insert(value.address()).second) return;
  if (value.kind() == Kind::kReduce && value.reduction() == ValueExpr::Reduction::kSum) {
    std::vector<std::uint32_t> factors;
    collect_factors(value.operands()[0], factors);
    if (factors.size() > 1) found.insert(factors.begin(), factors.end());
  }
  for (const ValueExpr& part : value.operands()) collect_multiplied(part, seen, found);
}

/// The constant that a tensor is, or holds in another order, and which of its axes are the tensor's.
struct Moved {
  NodeId constant;
  std::vector<std::size_t> axes;
};
std::optional<Moved> constant_behind(const Graph& graph, const Definitions& definitions, Port port) {
  std::vector<std::size_t> axes(static_cast<std::size_t>(graph.shape(port).rank()));
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  while (!graph.node(port.node).is_input()) {
    const auto& made = definitions[port.node.value];
    if (!made || graph.node(port.node).inputs.size() != 1) return std::nullopt;
    if (const auto moved = permutation_of(made->definition)) {
      for (std::size_t& axis : axes) axis = static_cast<std::size_t>((*moved)[axis]);
    } else if (keeps_order(made->definition)) {
      axes.clear();
    } else {
      return std::nullopt;
    }
    port = graph.node(port.node).inputs[0];
  }
  if (graph.node(port.node).constant() == nullptr) return std::nullopt;
  return Moved{port.node, std::move(axes)};
}

}  // namespace

Definitions definitions_of(const Graph& graph) {
  Definitions definitions;
  for (const Node& node : graph.nodes()) definitions.push_back(defined_application(graph, node));
  return definitions;
}

std::vector<Layer> layers_of(const Graph& graph, const Definitions& definitions, const NodeNames& names) {
  std::vector<Layer> layers;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    if (!definitions[i]) continue;
    const Node& node = graph.nodes()[i];
    std::set<std::uint32_t> multiplied;
    std::set<const ValueExpr::Node*> seen;
    for (const Stage& stage : definitions[i]->definition.stages) collect_multiplied(stage.value, seen, multiplied);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!multiplied.contains(static_cast<std::uint32_t>(k))) continue;
      auto moved = constant_behind(graph, definitions, node.inputs[k]);
      if (!moved) continue;
      const Node& weight = graph.node(moved->constant);
      const TensorType& type = weight.constant()->type;
      if (type.element != ElementType::kFloat32 || type.shape.rank() < 2) continue;
      const auto named = names.find({i});
      const std::string& name = named == names.end() ? node.name : named->second;
      layers.push_back(
          {name.empty() ? weight.name : name, {i}, k, moved->constant, weight.name, std::move(moved->axes)});
    }
  }
  return layers;
}

std::vector<double> numbers_of(const ConstantData& constant) {
  std::vector<double> numbers(static_cast<std::size_t>(constant.type.shape.elements()));
  if (const auto* number = std::get_if<double>(&constant.value)) {
    std::ranges::fill(numbers, *number);
  } else {
    const auto& bytes = std::get<std::vector<std::byte>>(constant.value);
    const std::size_t width = numbers.empty() ? 0 : bytes.size() / numbers.size();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = model::read_element(constant.type.element, bytes.data() + i * width);
  }
  return numbers;
}

}  // namespace rewright::compress
