// Random graphs, random subsets of true rules, every search: the result computes the same, exactly, and is never
// dearer. Over the prime field no rounding can hide a difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "optimize/optimizer.h"
#include "support/grown_graph.h"
#include "support/random.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using testing::Grower;
using testing::loaded;
using testing::Random;

std::vector<Tensor<Field>> values_of(const Graph& graph, std::uint64_t seed) {
  Random random(seed);
  std::vector<Tensor<Field>> inputs;
  for (NodeId id : graph.inputs()) {
    inputs.emplace_back(graph.node(id).outputs[0].shape);
    for (Field& value : inputs.back().values()) value = Field::from_integer(random.between(-1'000'000, 1'000'000));
  }
  return *evaluate<Field>(graph, std::span<const Tensor<Field>>(inputs));
}

bool equal_values(const Graph& a, const Graph& b, std::uint64_t seed) {
  const auto left = values_of(a, seed), right = values_of(b, seed);
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i].shape() != right[i].shape() || left[i].values() != right[i].values()) return false;
  return true;
}

/// Prices that have no sense, so that every direction of every rule pays now and then.
class RandomPrices final : public CostModel {
 public:
  explicit RandomPrices(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] std::string name() const override { return "random"; }
  [[nodiscard]] std::string summary() const override { return "random prices"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return false; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    std::uint64_t key = seed_;
    for (char letter : application.op.name()) key = key * 31 + static_cast<std::uint64_t>(letter);
    for (const Shape& shape : application.in) key = key * 17 + static_cast<std::uint64_t>(shape[shape.rank() - 1]);
    for (const AxisOrder& order : application.orders) {
      key = key * 13 + order.size();
      for (const int axis : order) key = key * 7 + static_cast<std::uint64_t>(axis);
    }
    const bool in_order = std::ranges::all_of(application.orders, [](const AxisOrder& order) { return order.empty(); });
    if (!in_order && Random(key + 1).one_in(4)) return std::numeric_limits<double>::infinity();
    return static_cast<double>(Random(key).between(1, 1000));
  }
  [[nodiscard]] bool knows_layouts() const override { return true; }
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override {
    const std::vector<std::vector<std::string>> all = {
        {"matmul", "ewadd", "relu"}, {"matmul", "transpose"}, {"ewadd", "ewadd"}, {"ewmul", "relu", "ewadd"}};
    Random random(seed_);
    return {random.pick(all), random.pick(all)};
  }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    double sum = 0;
    for (const Application& application : kernel.applications) sum += *cost_us(application);
    return sum * static_cast<double>(Random(seed_ + kernel.applications.size()).between(1, 9)) / 10;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<RandomPrices>(seed_); }

 private:
  std::uint64_t seed_;
};

/// How many random optimisations: REWRIGHT_RANDOM_RUNS, or as many as a test may take time for.
std::uint64_t run_count() {
  const char* wanted = std::getenv("REWRIGHT_RANDOM_RUNS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 200;
}

/// A search with settings drawn at random, small enough to be quick.
std::unique_ptr<SearchStrategy> random_search(Random& random) {
  static const std::vector<std::pair<std::string, Options>> kSearches = {
      {"backtracking", {{"alpha", 1.2}}},
      {"backtracking", {{"alpha", 1.0}}},
      {"greedy", {}},
      {"beam", {{"width", std::int64_t{3}}, {"dearer", 3.0}}},
      {"annealing", {{"hot", 0.3}, {"proposals", std::int64_t{12}}, {"patience", std::int64_t{7}}}},
      {"sampling",
       {{"beta", 5.0}, {"walks", std::int64_t{3}}, {"proposals", std::int64_t{12}}, {"patience", std::int64_t{3}}}},
      {"mcts", {{"glances", std::int64_t{3}}}},
      {"egraph", {{"applications", std::int64_t{300}}, {"matches", std::int64_t{40}}}},
      {"egraph", {{"applications", std::int64_t{200}}, {"matches", std::int64_t{20}}, {"several", std::int64_t{3}}}},
  };
  const auto& [name, options] = random.pick(kSearches);
  auto search = (*loaded().get<SearchStrategy>(name))->clone();
  if (const Status status = search->configure(options); !status) fail(status.error().message);
  return search;
}

TEST(RandomOptimization, GivesAnEqualGraphThatIsNeverDearer) {
  const std::vector<Rule> all = testing::true_rules();
  const std::uint64_t runs = run_count();
  std::map<std::string, std::uint64_t> changed;
  std::set<std::string> fired;
  std::size_t reordered = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph graph = Grower(seed).graph(static_cast<int>(6 + seed % 15));
    Random random(seed * 7919);
    std::vector<Rule> rules;
    for (const Rule& rule : all)
      if (!random.one_in(3)) rules.push_back(rule);
    const auto search = random_search(random);

    RandomPrices prices(seed);
    GraphCost cost(prices, nullptr);
    GraphCost in_layouts(prices, nullptr, *loaded().get<Operator>("transpose"));
    const bool with_layouts = random.one_in(3);
    const auto layout = with_layouts ? static_cast<LayoutUse>(random.between(1, 3)) : LayoutUse::kNone;
    const auto report = optimize(graph, rules, *search, cost,
                                 {.steps = 25,
                                  .seed = seed,
                                  .registry = with_layouts ? &loaded() : nullptr,
                                  .threads = static_cast<int>(random.between(1, 3)),
                                  .region_size = static_cast<std::size_t>(random.one_in(4) ? 6 : 0),
                                  .layout = layout,
                                  .in_layouts = &in_layouts});
    ASSERT_TRUE(report) << search->name() << ": " << report.error().message;
    EXPECT_TRUE(report->refused.empty()) << report->refused.front().reason;
    EXPECT_LE(report->search.cost_after_us, report->search.cost_before_us);
    if (!with_layouts) {
      EXPECT_EQ(*cost.cost_us(report->search.best), report->search.cost_after_us) << search->name();
    }
    reordered += report->reordered;
    bool equal = equal_values(graph, report->best, seed);
    EXPECT_TRUE(equal) << search->name() << "\n" << to_text(graph) << "became\n" << to_text(report->best);
    changed[search->name()] += report->search.path.empty() ? 0 : 1;
    for (const RewriteStep& step : report->search.path) {
      fired.insert(step.rule_id);
      const bool step_equal = equal_values(graph, step.graph, seed);
      EXPECT_TRUE(step_equal) << search->name() << ", after rule " << step.rule_name;
      equal = equal && step_equal;
    }
    wrong += equal ? 0 : 1;
  }
  std::string by_search;
  std::uint64_t all_changed = 0;
  for (const auto& [name, count] : changed) by_search += fmt::format(" {} {}", name, count), all_changed += count;
  fmt::print("{} optimisations, {} that changed the graph (by search:{}), {} rules fired, {} wrong graphs\n", runs,
             all_changed, by_search, fired.size(), wrong);
  EXPECT_EQ(wrong, 0u);
  // The claim is about graphs that were rewritten; enough of them must have been.
  EXPECT_GE(all_changed, runs / 4);
  EXPECT_EQ(changed.size(), 7u) << "every search took part";
  EXPECT_GE(fired.size(), 20u);
  EXPECT_GT(reordered, 0u) << "layouts were used";
}

TEST(Optimization, IsTheSameWithAnyNumberOfThreads) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Graph graph = Grower(seed).graph(10);
    std::vector<std::string> results;
    for (int threads : {1, 4}) {
      Random random(seed);
      const auto search = random_search(random);
      RandomPrices prices(seed);
      GraphCost cost(prices, nullptr);
      const auto report = optimize(graph, testing::true_rules(), *search, cost,
                                   {.steps = 25, .threads = threads, .region_size = seed % 2 == 0 ? 6U : 0U});
      results.push_back(
          fmt::format("{} {}\n{}", report->search.steps, report->search.candidates, to_text(report->best)));
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

}  // namespace
}  // namespace rewright
