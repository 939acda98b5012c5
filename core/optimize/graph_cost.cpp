// What a graph costs: the sum over its kernels of what the cost model says, each asked once.
#include <rewright/optimize/cost.h>

#include <numeric>

#include "optimize/kernel_costs.h"
#include "optimize/pool_costs.h"
#include "rewrite/node_pool.h"

namespace rewright {

std::vector<bool> weight_only(const Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<bool> weight(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    weight[i] = node.is_weight() || node.application();
    for (Port operand : node.inputs) weight[i] = weight[i] && weight[operand.node.value];
  }
  return weight;
}

GraphCost::GraphCost(CostModel& model, CostCache* cache, const Operator* reorder)
    : kernels_(std::make_unique<KernelCosts>(model, cache, reorder)) {}
GraphCost::~GraphCost() = default;

Result<double> GraphCost::cost_us(const Graph& graph) {
  REWRIGHT_TRY(const Estimate all, estimate(graph));
  return all.us;
}

Result<Estimate> GraphCost::estimate(const Graph& graph) {
  NodePool pool(graph);
  PoolCosts costs(*kernels_, pool);
  std::vector<std::uint32_t> nodes(pool.size());
  std::iota(nodes.begin(), nodes.end(), 0U);
  REWRIGHT_TRY(const std::int64_t units, costs.of(nodes, pool.start_outputs()));
  Estimate all{PoolCosts::to_us_or_infinity(units)};
  if (kernels_->reorder() != nullptr || kernels_->stopped()) return all;
  REWRIGHT_TRY(all.spread, costs.spread_us(nodes));
  return all;
}

}  // namespace rewright
