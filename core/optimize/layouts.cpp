#include "optimize/layouts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

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

  /// Operators that do the same in columns; nothing for those that do not, or whose parameters name axes that move.
  [[nodiscard]] static std::optional<Params> params_by_columns(const ApplicationNode& node, int rank) {
    constexpr std::array<std::string_view, 16> kElementwise = {
        "abs",        "clip", "elu", "erf",  "ewadd",   "ewmul", "exp",  "hard_sigmoid",
        "leaky_relu", "log",  "neg", "relu", "sigmoid", "smul",  "sqrt", "tanh"};
    constexpr std::array<std::string_view, 3> kAlongAxis = {"bias_add", "concat", "split"};
    if (std::ranges::find(kElementwise, node.op->name()) != kElementwise.end()) return node.params;
    if (std::ranges::find(kAlongAxis, node.op->name()) == kAlongAxis.end()) return std::nullopt;
    std::vector<ParamValue> values(node.params.values().begin(), node.params.values().end());
    std::int64_t& axis = std::get<std::int64_t>(values[0]);
    axis = by_columns(rank)[static_cast<std::size_t>(axis)];
    return Params(std::move(values));
  }

  Result<Ports> application(GraphBuilder& builder, NodeId id, Ports operands) {
    const Node& node = graph_.node(id);
    const int rank = node.outputs[0].shape.rank();
    const std::optional<Params> params =
        lies_by_columns(id) ? params_by_columns(*node.application(), rank) : std::nullopt;
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
