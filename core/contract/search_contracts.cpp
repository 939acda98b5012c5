// What a search promises: never a dearer or another graph, within its budget, the same for the same seed.
#include <rewright/graph/graph.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>
#include <rewright/tensor/tensor.h>

#include <algorithm>
#include <cmath>

#include "contract/contracts.h"
#include "contract/samples.h"
#include "optimize/optimizer.h"

namespace rewright::contract {

namespace {

/// A product costs ten, everything else one.
class PlainPrices final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "plain"; }
  [[nodiscard]] std::string summary() const override { return "A product costs ten, everything else one"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return false; }
  Status configure(const Options& options, const Registry&) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "cost model plain has no option '{}'", options.begin()->first);
  }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    return application.op.name() == "matmul" ? 10.0 : 1.0;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<PlainPrices>(); }
};

constexpr const char* kModel = R"(x = input (4, 4)
u = input (4, 4)
v = input (4, 4)
a = matmul(x, u)
b = matmul(x, v)
c = ewadd(a, b)
d = relu(c)
e = relu(d)
f = transpose(e)
g = transpose(f)
output g
)";
constexpr double kDearest = 25, kCheapest = 12;

struct Setting {
  std::uint64_t steps = 200;
  std::uint64_t seed = 1;
  bool stop = false;
};

/// `told`: the most steps that it told anyone of.
Result<OptimizeReport> search(const SearchStrategy& strategy, const Registry& registry, const Graph& graph,
                              const Setting& setting = {}, std::uint64_t* told = nullptr) {
  const std::unique_ptr<SearchStrategy> fresh = strategy.clone();
  REWRIGHT_CHECK(fresh->configure({}));
  REWRIGHT_TRY(std::vector<Rule> rules, read_rules(true_rules(), registry));
  const std::unique_ptr<CostModel> prices = plain_prices();
  GraphCost cost(*prices, nullptr);
  OptimizeOptions options;
  options.steps = setting.steps;
  options.seed = setting.seed;
  options.strategies = &registry;
  return optimize(graph, std::move(rules), *fresh, cost, options, [&](std::uint64_t steps, std::uint64_t, double) {
    if (told != nullptr) *told = std::max(*told, steps);
    return !setting.stop;
  });
}

/// Outputs of both graphs on the same random elements of the field.
Result<bool> compute_alike(const Graph& a, const Graph& b) {
  std::vector<Tensor<Field>> in;
  std::uint64_t state = 1;
  for (const NodeId id : a.inputs()) {
    Tensor<Field>& tensor = in.emplace_back(a.node(id).outputs[0].shape);
    for (Field& value : tensor.values())
      value = Field::from_integer(static_cast<std::int64_t>((state *= 6364136223846793005) >> 60) - 8);
  }
  REWRIGHT_TRY(const std::vector<Tensor<Field>> left, evaluate<Field>(a, in));
  REWRIGHT_TRY(const std::vector<Tensor<Field>> right, evaluate<Field>(b, in));
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].shape() != right[i].shape() || left[i].values() != right[i].values()) return false;
  }
  return true;
}

Outcome result_of(const Graph& start, const OptimizeReport& report) {
  const SearchResult& result = report.search;
  if (!std::isfinite(result.cost_after_us) || result.cost_after_us > result.cost_before_us)
    return Outcome::broken(fmt::format("it goes from cost {} to {}", result.cost_before_us, result.cost_after_us));
  double cost = result.cost_before_us;
  for (const RewriteStep& step : result.path) {
    if (std::abs(step.cost_before_us - cost) > 1e-6)
      return Outcome::broken(fmt::format("a step of its path begins at cost {}, where the last one ended at {}",
                                         step.cost_before_us, cost));
    cost = step.cost_after_us;
    const auto alike = compute_alike(start, step.graph);
    if (!alike) return Outcome::broken("a graph of its path cannot be computed: " + alike.error().message);
    if (!*alike) return Outcome::broken("a graph of its path computes something else");
  }
  if (std::abs(cost - result.cost_after_us) > 1e-6)
    return Outcome::broken(fmt::format("its path ends at cost {}, its result at {}", cost, result.cost_after_us));
  return Outcome::kept(
      fmt::format("from cost {} to {} in {} steps", result.cost_before_us, result.cost_after_us, result.steps));
}

Outcome over_models(const SearchStrategy& strategy, const Registry& registry, const Setting& setting) {
  const auto graph = parse_graph(kModel, registry);
  if (!graph) return Outcome::skipped(graph.error().message);
  const auto report = search(strategy, registry, *graph, setting);
  if (!report) return Outcome::broken("it failed: " + report.error().message);
  return result_of(*graph, *report);
}

/// What a step is the strategy says. So it is asked again with more: whoever goes further than two rewrites in two
/// steps, and looks at no graph more where it says that it takes many, did not heed them.
Outcome stays_within(const SearchStrategy& strategy, const Registry& registry, std::uint64_t allowed) {
  const auto graph = parse_graph(kModel, registry);
  if (!graph) return Outcome::skipped(graph.error().message);
  std::uint64_t told = 0;
  const auto report = search(strategy, registry, *graph, {.steps = allowed}, &told);
  if (!report) return Outcome::broken("it failed: " + report.error().message);
  const SearchResult& result = report->search;
  const std::uint64_t steps = std::max(result.steps, told);
  if (steps > allowed) return Outcome::broken(fmt::format("it took {} steps where {} were allowed", steps, allowed));
  if (result.path.size() > result.candidates && result.candidates > 0)
    return Outcome::broken(fmt::format("its path has {} rewrites, and it says that it looked at {} graphs",
                                       result.path.size(), result.candidates));
  if (allowed == 0 && !result.path.empty())
    return Outcome::broken(fmt::format("its path has {} rewrites where no step was allowed", result.path.size()));
  const auto free = search(strategy, registry, *graph, {.steps = 1000});
  if (!free) return Outcome::broken("it failed: " + free.error().message);
  if (result.path.size() > allowed && result.candidates == free->search.candidates && free->search.steps > allowed)
    return Outcome::broken(fmt::format(
        "where {} steps are allowed its path has {} rewrites, as where 1000 are and it says that it took {}", allowed,
        result.path.size(), free->search.steps));
  return Outcome::kept(fmt::format("{} steps, {} rewrites on its path", result.steps, result.path.size()));
}

Outcome costs_are_true(const SearchStrategy& strategy, const Registry& registry) {
  const auto graph = parse_graph(kModel, registry);
  if (!graph) return Outcome::skipped(graph.error().message);
  const auto report = search(strategy, registry, *graph);
  if (!report) return Outcome::broken("it failed: " + report.error().message);
  const SearchResult& result = report->search;
  const std::unique_ptr<CostModel> prices = plain_prices();
  GraphCost cost(*prices, nullptr);
  const auto differs = [&](const Graph& costed, double said, std::string_view what) -> std::optional<std::string> {
    const auto us = cost.cost_us(costed);
    if (!us) return fmt::format("{} has no cost: {}", what, us.error().message);
    if (std::abs(*us - said) <= 1e-6) return std::nullopt;
    return fmt::format("it says that {} costs {}, and it costs {}", what, said, *us);
  };
  if (const auto lie = differs(*graph, result.cost_before_us, "the start")) return Outcome::broken(*lie);
  if (const auto lie = differs(result.best, result.cost_after_us, "its result")) return Outcome::broken(*lie);
  for (const RewriteStep& step : result.path)
    if (const auto lie = differs(step.graph, step.cost_after_us, "a graph of its path")) return Outcome::broken(*lie);
  return Outcome::kept(fmt::format("the start, the result and {} graphs on the path", result.path.size()));
}

Outcome finds_the_easy_way(const SearchStrategy& strategy, const Registry& registry) {
  const auto graph = parse_graph(kModel, registry);
  if (!graph) return Outcome::skipped(graph.error().message);
  const auto report = search(strategy, registry, *graph, {.steps = 1000});
  if (!report) return Outcome::broken("it failed: " + report.error().message);
  if (report->search.cost_after_us >= kDearest)
    return Outcome::broken(
        fmt::format("five rewrites lead down from cost {} to {}, and it found none of them", kDearest, kCheapest));
  return Outcome::kept(
      fmt::format("cost {}; the least that the rules reach is {}", report->search.cost_after_us, kCheapest));
}

Outcome is_deterministic(const SearchStrategy& strategy, const Registry& registry) {
  const auto graph = parse_graph(kModel, registry);
  if (!graph) return Outcome::skipped(graph.error().message);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto first = search(strategy, registry, *graph, {.seed = seed}),
               again = search(strategy, registry, *graph, {.seed = seed});
    if (!first || !again) return Outcome::broken("it failed: " + (first ? again : first).error().message);
    if (to_text(first->best) != to_text(again->best) || first->search.steps != again->search.steps ||
        first->search.candidates != again->search.candidates)
      return Outcome::broken(fmt::format("two searches of seed {} end differently", seed));
  }
  return Outcome::kept("three seeds, each twice");
}

Outcome without_rewrites(const SearchStrategy& strategy, const Registry& registry) {
  const auto graph = parse_graph("x = input (2, 2)\na = ewmul(x, x)\noutput a\n", registry);
  if (!graph) return Outcome::skipped(graph.error().message);
  const auto report = search(strategy, registry, *graph);
  if (!report) return Outcome::broken("it failed: " + report.error().message);
  if (!report->search.path.empty()) return Outcome::broken("it gives a path where no rule applies");
  return Outcome::kept("a graph to which no rule applies stays as it is");
}

}  // namespace

std::unique_ptr<CostModel> plain_prices() { return std::make_unique<PlainPrices>(); }

std::vector<Contract> contracts_of(const SearchStrategy& search, const Registry& registry) {
  const auto with = [&](Outcome (*check)(const SearchStrategy&, const Registry&)) {
    return [&search, &registry, check] { return check(search, registry); };
  };
  const auto in = [&](const Setting& setting) {
    return [&search, &registry, setting] { return over_models(search, registry, setting); };
  };
  const auto within = [&](std::uint64_t steps) {
    return [&search, &registry, steps] { return stays_within(search, registry, steps); };
  };
  constexpr const char* kOnSteps =
      "see search.h: SearchProblem::steps, SearchRun::step; usual cause: a loop that does not ask SearchRun::step(), "
      "or "
      "a search within that gets a budget of its own";
  return {
      {"describes itself", [&] { return describes_itself(search.name(), search.summary()); }, kAdviceOnNames},
      {"refuses options it does not know",
       [&] { return refused_unknown_option(search.clone()->configure(unknown_options())); },
       "see search.h: options; usual cause: options() names what run() does not know"},
      {"gives no costlier and no other graph", in({}),
       "see search.h: SearchResult, SearchRun::finish; usual cause: a path put together by hand"},
      {"says what its graphs cost", with(costs_are_true),
       "see search.h: SearchSpace::cost_us; usual cause: a cost from before the last rewrite, or one of its own "
       "making"},
      {"finds something on an easy way down", with(finds_the_easy_way),
       "see search.h: SearchRun::offer; usual cause: a state that was entered is not offered"},
      {"stays within its steps: none", within(0), kOnSteps},
      {"stays within its steps: two", within(2), kOnSteps},
      {"gives its best so far when it is stopped", in({.stop = true}),
       "see search.h: SearchProblem::progress, SearchRun::over; usual cause: an error in place of the best so far"},
      {"ends alike for the same seed", with(is_deterministic),
       "see search.h: SearchRandom; usual cause: another source of chance, time, or an order of addresses"},
      {"leaves a graph alone that no rule matches", with(without_rewrites),
       "see search.h: SearchSpace::move_count; usual cause: a path is given though nothing was entered"},
  };
}

}  // namespace rewright::contract
