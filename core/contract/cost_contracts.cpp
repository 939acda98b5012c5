// What a cost model promises: a time for every application, the same each time if it is not measured.
#include <rewright/base/mixing.h>
#include <rewright/graph/graph.h>
#include <rewright/optimize/cost.h>

#include <cmath>
#include <numeric>

#include "contract/contracts.h"
#include "contract/samples.h"

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

/// A fresh object; an error where what it measures with is not there, or where it needs options.
Result<std::unique_ptr<CostModel>> usable(const CostModel& model, const Registry& registry) {
  std::unique_ptr<CostModel> fresh = model.clone();
  REWRIGHT_CHECK(fresh->configure({}, registry));
  return fresh;
}

/// The model's applications, and a question about each to an object.
class Questions {
 public:
  static Result<Questions> of(const Registry& registry) {
    REWRIGHT_TRY(Graph graph, parse_graph(kModel, registry));
    return Questions(std::move(graph));
  }

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const std::string& name(std::size_t i) const { return nodes_[i]->application()->op->name(); }

  Result<double> ask(CostModel& model, std::size_t i) const {
    const Node& node = *nodes_[i];
    std::vector<Shape> shapes;
    std::vector<InputKind> kinds;
    for (const Port& port : node.inputs) {
      shapes.push_back(graph_->shape(port));
      const Node& operand = graph_->node(port.node);
      kinds.push_back(operand.is_weight() ? InputKind::kWeight : InputKind::kData);
    }
    const auto& [op, params] = *node.application();
    return model.cost_us(Application{*op, params, shapes, kinds});
  }

 private:
  explicit Questions(Graph graph) : graph_(std::make_unique<Graph>(std::move(graph))) {
    for (const Node& node : graph_->nodes())
      if (node.application()) nodes_.push_back(&node);
  }
  std::unique_ptr<Graph> graph_;
  std::vector<const Node*> nodes_;
};

/// A node that no operator knows costs a time, or kUnsupported says that it is not known; empty where that is so.
std::string trouble_with_opaque(CostModel& model) {
  if (model.measured()) return {};  // It would need a model to run.
  const TensorType type{Shape{2, 3}, ElementType::kFloat32};
  const auto us = model.opaque_us({"Resize", {&type, 1}, {&type, 1}, {}, {}});
  if (!us && us.error().code != ErrorCode::kUnsupported) return "it failed on an opaque node: " + us.error().message;
  if (us && (!std::isfinite(*us) || *us < 0)) return fmt::format("an opaque node costs {} us", *us);
  return {};
}

Outcome costs_are_times(const CostModel& model, const Registry& registry) {
  const auto questions = Questions::of(registry);
  const auto fresh = usable(model, registry);
  if (!questions || !fresh) return Outcome::skipped((questions ? fresh.error() : questions.error()).message);
  double first = 0;
  for (std::size_t i = 0; i < questions->size(); ++i) {
    const auto us = questions->ask(**fresh, i);
    if (!us) return Outcome::broken("it failed: " + us.error().message);
    if (!std::isfinite(*us) || *us < 0) return Outcome::broken(fmt::format("{} costs {} us", questions->name(i), *us));
    if (i == 0) first = *us;
  }
  if (const std::string trouble = trouble_with_opaque(**fresh); !trouble.empty()) return Outcome::broken(trouble);
  return Outcome::kept(fmt::format("{} applications, from {:.3g} us", questions->size(), first));
}

/// The same object in another order, each application three times on end, and another object: whoever counts the
/// questions is found out, whatever the period.
Outcome costs_are_fixed(const CostModel& model, const Registry& registry) {
  if (model.measured()) return Outcome::skipped("it is measured");
  const auto questions = Questions::of(registry);
  const auto object = usable(model, registry), other = usable(model, registry);
  if (!questions || !object || !other)
    return Outcome::skipped((!questions ? questions.error() : !object ? object.error() : other.error()).message);
  std::vector<std::size_t> order(questions->size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> costs;
  for (const std::size_t i : order) {
    const auto us = questions->ask(**object, i);
    if (!us) return Outcome::broken("it failed: " + us.error().message);
    costs.push_back(*us);
  }
  Random random(1);
  for (CostModel* asked : {object->get(), other->get()}) {
    random.shuffle(std::span(order));
    for (const std::size_t i : order) {
      for (int time = 0; time < 3; ++time) {
        const auto us = questions->ask(*asked, i);
        if (!us) return Outcome::broken("it failed: " + us.error().message);
        if (*us != costs[i])
          return Outcome::broken(
              fmt::format("{} costs {} us, and {} us when asked again", questions->name(i), costs[i], *us));
      }
    }
  }
  return Outcome::kept(fmt::format("{} applications, seven times each, in three orders", costs.size()));
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
  const std::vector<Kernel::Source> joined = {{}, {}, {0, 0}};
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
      {"describes itself", [&] { return describes_itself(cost.name(), cost.summary()); }, kAdviceOnNames},
      {"refuses options it does not know",
       [&] { return refused_unknown_option(cost.clone()->configure(unknown_options(), registry)); }, kAdviceOnOptions},
      {"names the device of its figures", where_usable(names_its_device),
       "see cost.h: device; usual cause: an empty text; what does not depend on a device says \"model\""},
      {"gives every application a time", where_usable(costs_are_times),
       "see cost.h: cost_us; usual cause: a division by 0, or an operator that it does not know"},
      {"gives the same time again, if it is modelled", where_usable(costs_are_fixed),
       "see cost.h: measured, cost_us; usual cause: a cost that depends on earlier questions, or measured() is false "
       "for "
       "a model that measures"},
      {"adds up, if it says that nothing is fused", where_usable(adds_up),
       "see cost.h: fused, kernel_us; usual cause: kernel_us() is overridden and fused() is not"},
  };
}

}  // namespace rewright::contract
