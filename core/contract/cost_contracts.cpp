// What a cost model promises: a time for every application, the same each time if it is not measured.
#include "contract/contracts.h"
#include "contract/samples.h"

#include <rewright/graph/graph.h>
#include <rewright/optimize/cost.h>

#include <cmath>

namespace rewright::contract {

namespace {

constexpr const char* kModel = R"(x = input (8, 16)
w = weight (16, 32)
i = input (1, 8, 14, 14)
k = weight (16, 8, 3, 3)
a = matmul(x, w)
b = relu(a)
c = ewadd(b, a)
d = concat[axis=1](b, c)
e = transpose(d)
f = conv2d(i, k)
g = pool2d_max[kernel=[3, 3]](f)
h = reshape[sizes=[1, 16, 196]](g)
output e, h
)";

struct Cost {
  std::string application;
  double us = 0;
};

/// A fresh object; an error where what it measures with is not there, or where it needs options.
Result<std::unique_ptr<CostModel>> usable(const CostModel& model, const Registry& registry) {
  std::unique_ptr<CostModel> fresh = model.clone();
  REWRIGHT_CHECK(fresh->configure({}, registry));
  return fresh;
}

/// Of every application of the model, by a fresh object.
Result<std::vector<Cost>> costs(const CostModel& model, const Registry& registry) {
  REWRIGHT_TRY(const std::unique_ptr<CostModel> fresh, usable(model, registry));
  REWRIGHT_TRY(const Graph graph, parse_graph(kModel, registry));
  std::vector<Cost> all;
  for (const Node& node : graph.nodes()) {
    if (node.op == nullptr) continue;
    std::vector<Shape> shapes;
    std::vector<InputKind> kinds;
    for (const Port& port : node.inputs) {
      shapes.push_back(graph.shape(port));
      const Node& operand = graph.node(port.node);
      kinds.push_back(operand.is_input() ? operand.input_kind : InputKind::kData);
    }
    const Application application{*node.op, node.params, shapes, kinds};
    REWRIGHT_TRY(const double us, fresh->cost_us(application));
    all.push_back({node.op->name(), us});
  }
  return all;
}

Outcome costs_are_times(const CostModel& model, const Registry& registry) {
  const auto all = costs(model, registry);
  if (!all) return Outcome::broken("it failed: " + all.error().message);
  for (const Cost& cost : *all) {
    if (!std::isfinite(cost.us) || cost.us < 0)
      return Outcome::broken(fmt::format("{} costs {} us", cost.application, cost.us));
  }
  return Outcome::kept(fmt::format("{} applications, from {:.3g} us", all->size(), all->front().us));
}

Outcome costs_are_fixed(const CostModel& model, const Registry& registry) {
  if (model.measured()) return Outcome::skipped("it is measured");
  const auto first = costs(model, registry), again = costs(model, registry);
  if (!first || !again) return Outcome::broken("it failed: " + (first ? again : first).error().message);
  for (std::size_t i = 0; i < first->size(); ++i) {
    if ((*first)[i].us != (*again)[i].us)
      return Outcome::broken(
          fmt::format("{} costs {} us and then {} us", (*first)[i].application, (*first)[i].us, (*again)[i].us));
  }
  return Outcome::kept(fmt::format("{} applications, asked twice", first->size()));
}

Outcome names_its_device(const CostModel& model, const Registry& registry) {
  const auto fresh = usable(model, registry);
  if (!fresh) return Outcome::skipped(fresh.error().message);
  if ((*fresh)->device().empty()) return Outcome::broken("it does not say what device its figures are of");
  return Outcome::kept((*fresh)->device());
}

/// matmul and relu in one kernel: a model without kernels of several applications is a sum.
Outcome adds_up(const CostModel& model, const Registry& registry) {
  if (model.measured()) return Outcome::skipped("it is measured");
  const auto fresh = usable(model, registry);
  if (!fresh) return Outcome::skipped(fresh.error().message);
  if (const auto fused = (*fresh)->fused(); !fused.empty())
    return Outcome::skipped(fmt::format("it says that {} chains of operators are no sums", fused.size()));
  const auto product = registry.get<Operator>("matmul"), relu = registry.get<Operator>("relu");
  if (!product || !relu) return Outcome::skipped((product ? relu : product).error().message);
  const Params none;
  const std::vector<Shape> factors = {Shape{8, 16}, Shape{16, 32}}, one = {Shape{8, 32}};
  const std::vector<InputKind> kinds = {InputKind::kData, InputKind::kWeight}, data = {InputKind::kData};
  const std::vector<Application> both = {{**product, none, factors, kinds}, {**relu, none, one, data}};
  const std::vector<std::uint32_t> joined = {0};
  const auto first = (*fresh)->cost_us(both[0]), second = (*fresh)->cost_us(both[1]);
  const auto together = (*fresh)->kernel_us({both, joined});
  for (const auto* cost : {&first, &second, &together}) {
    if (!*cost) return Outcome::broken("it failed: " + cost->error().message);
  }
  const double sum = *first + *second;
  if (std::abs(*together - sum) > 1e-9 * std::abs(sum))
    return Outcome::broken(
        fmt::format("matmul and relu cost {} us in one kernel and {} us by themselves, and it says that nothing is "
                    "fused",
                    *together, sum));
  return Outcome::kept(fmt::format("matmul and relu cost {:.3g} us, together and by themselves", sum));
}

}  // namespace

std::vector<Contract> contracts_of(const CostModel& cost, const Registry& registry) {
  const auto where_usable = [&](Outcome (*check)(const CostModel&, const Registry&)) {
    return [&cost, &registry, check] {
      const auto fresh = usable(cost, registry);
      return fresh ? check(cost, registry)
                   : Outcome::skipped("it cannot be used here as it is: " + fresh.error().message);
    };
  };
  return {
      {"describes itself", [&] { return describes_itself(cost.name(), cost.summary()); }},
      {"refuses options it does not know",
       [&] { return refused_unknown_option(cost.clone()->configure(unknown_options(), registry)); }},
      {"names the device of its figures", where_usable(names_its_device)},
      {"gives every application a time", where_usable(costs_are_times)},
      {"gives the same time again, if it is modelled", where_usable(costs_are_fixed)},
      {"adds up, if it says that nothing is fused", where_usable(adds_up)},
  };
}

}  // namespace rewright::contract
