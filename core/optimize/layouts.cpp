#include "optimize/layouts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "operator/properties.h"
#include "optimize/pool_costs.h"
#include "optimize/rebuild.h"

namespace rewright {
namespace {

/// The order of a tensor by columns; empty below rank 2.
AxisOrder by_columns(int rank) {
  AxisOrder order(static_cast<std::size_t>(rank < 2 ? 0 : rank));
  std::iota(order.begin(), order.end(), 0);
  if (rank >= 2) std::swap(order[order.size() - 2], order.back());
  return order;
}

class Writer {
 public:
  Writer(const Graph& graph, const LayoutChoice& choice, const Operator& transpose)
      : graph_(graph), choice_(choice), transpose_(transpose) {}

  Result<Graph> write() {
    return rebuild(graph_, [this](GraphBuilder& builder, NodeId id, std::vector<Port> operands) {
      return application(builder, id, std::move(operands));
    });
  }

 private:
  using Ports = std::vector<Port>;

  [[nodiscard]] bool lies_by_columns(NodeId id) const {
    const AxisOrder& order = choice_.orders[id.value];
    return !order.empty() && order == by_columns(static_cast<int>(order.size()));
  }

  /// The tensor with its last two axes exchanged; what was exchanged before is taken as it was.
  Result<Port> exchanged(GraphBuilder& builder, Port port) const {
    const AxisOrder order = by_columns(builder.shape(port).rank());
    const Node& node = builder.node(port.node);
    std::vector<std::int64_t> perm(order.begin(), order.end());
    if (const ApplicationNode* maker = node.application(); maker && maker->op == &transpose_) {
      std::vector<std::int64_t> both;
      for (const std::int64_t axis : perm) both.push_back(maker->params.integers(0)[static_cast<std::size_t>(axis)]);
      if (std::ranges::is_sorted(both)) return node.inputs[0];
      perm = std::move(both);
      port = node.inputs[0];
    }
    REWRIGHT_TRY(const Ports made, builder.apply(transpose_, Params({perm}), {port}));
    return made[0];
  }

  /// With these parameters the operator does the same in columns, as its definition says; nothing if there are none.
  /// Integers among its parameters may be axes that move.
  [[nodiscard]] std::optional<Params> params_by_columns(const Node& node, int rank) const {
    const auto& [op, params] = *node.application();
    std::vector<Shape> in, exchanged;
    for (const Port port : node.inputs) {
      in.push_back(graph_.shape(port));
      std::vector<std::int64_t> sizes(in.back().begin(), in.back().end());
      if (in.back().rank() == rank) std::swap(sizes[sizes.size() - 2], sizes.back());
      exchanged.emplace_back(std::move(sizes));
    }
    const auto definition = op->definition(params, in);
    std::vector<ParamValue> moved(params.values().begin(), params.values().end());
    for (ParamValue& value : moved) {
      std::int64_t* const axis = std::get_if<std::int64_t>(&value);
      if (axis != nullptr && 0 <= *axis && *axis < rank) *axis = by_columns(rank)[static_cast<std::size_t>(*axis)];
    }
    for (Params candidate : {params, Params(std::move(moved))}) {
      const auto other = op->definition(candidate, exchanged);
      if (definition && other && says_same_by_columns(*definition, *other)) return candidate;
    }
    return std::nullopt;
  }

  Result<Ports> application(GraphBuilder& builder, NodeId id, Ports operands) {
    const Node& node = graph_.node(id);
    const int rank = node.outputs[0].shape.rank();
    const std::optional<Params> params =
        lies_by_columns(id) && node.application() ? params_by_columns(node, rank) : std::nullopt;
    if (!params) return builder.copy(node, std::move(operands));
    for (Port& operand : operands)
      if (builder.shape(operand).rank() == rank) {
        REWRIGHT_TRY(operand, exchanged(builder, operand));
      }
    REWRIGHT_TRY(Ports made, builder.apply(*node.application()->op, *params, std::move(operands), node.name));
    for (Port& port : made) {
      REWRIGHT_TRY(port, exchanged(builder, port));
    }
    return made;
  }

  const Graph& graph_;
  const LayoutChoice& choice_;
  const Operator& transpose_;
};

}  // namespace

Result<LayoutChoice> choose_layouts(GraphCost& cost, const Graph& graph) {
  NodePool pool(graph);
  PoolCosts costs(cost.kernels(), pool);
  std::vector<std::uint32_t> nodes(pool.size());
  std::iota(nodes.begin(), nodes.end(), 0U);
  REWRIGHT_TRY(const std::int64_t units, costs.of(nodes, pool.start_outputs()));
  LayoutChoice choice{std::numeric_limits<double>::infinity(), std::vector<AxisOrder>(graph.nodes().size())};
  if (units >= PoolCosts::kMost) return choice;
  choice.cost_us = PoolCosts::to_us(units);
  const std::vector<std::uint8_t> states = costs.chosen(nodes);
  for (std::size_t i = 0; i < choice.orders.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.outputs.empty())
      choice.orders[i] = orders_of_rank(node.outputs[0].shape.rank())[states[pool.start_nodes()[i]]];
  }
  return choice;
}

Result<Graph> write_layouts(const Graph& graph, const LayoutChoice& choice, const Operator& transpose) {
  return Writer(graph, choice, transpose).write();
}

}  // namespace rewright
