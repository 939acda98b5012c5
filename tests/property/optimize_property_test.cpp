// Random graphs, random subsets of true rules, every search: the result computes the same, exactly, and is never
// dearer. Over the prime field no rounding can hide a difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "optimize/optimizer.h"
#include "support/random.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using testing::loaded;
using testing::operator_named;
using testing::Random;

/// Grows a graph by random applications to the tensors that are there; most choices do not fit and are not made.
class Grower {
 public:
  explicit Grower(std::uint64_t seed) : random_(seed) {}

  Graph graph(int applications) {
    const bool images = random_.one_in(3);
    for (int i = 0; i < 3; ++i) images ? add_image_inputs(i) : add_matrix_inputs(i);
    for (int made = 0, tried = 0; made < applications && tried < 40 * applications; ++tried) made += try_one(images);
    // What nothing uses is an output, so that nothing of the graph is lost.
    for (Port port : ports_)
      if (!used_.contains(port) && !builder_.node(port.node).is_input()) builder_.output(port);
    builder_.output(ports_.back());
    return builder_.finish();
  }

 private:
  void add_input(const std::string& name, Shape shape, InputKind kind) {
    ports_.push_back(*builder_.input(name, {std::move(shape), ElementType::kFloat32}, kind));
  }
  void add_matrix_inputs(int i) {
    add_input(fmt::format("x{}", i), {size(), size()}, InputKind::kData);
    add_input(fmt::format("w{}", i), {size(), size()}, InputKind::kWeight);
  }
  void add_image_inputs(int i) {
    add_input(fmt::format("x{}", i), {1, 2, 3, 4}, InputKind::kData);
    add_input(fmt::format("w{}", i), {2, 2, random_.pick(kTaps), random_.pick(kTaps)}, InputKind::kWeight);
  }
  std::int64_t size() { return random_.one_in(4) ? 2 : 3; }

  bool try_one(bool images) {
    static const std::vector<std::string> kMatrixCalls = {"ewadd",
                                                          "ewmul",
                                                          "matmul",
                                                          "matmul",
                                                          "relu",
                                                          "transpose",
                                                          "concat",
                                                          "concat[axis=1]",
                                                          "split[axis=0, sizes=[2, 1]]",
                                                          "split[axis=1, sizes=[2, 2]]"};
    static const std::vector<std::string> kImageCalls = {
        "ewadd", "conv2d", "conv2d", "conv2d", "relu", "concat[axis=1]", "split[axis=1, sizes=[2, 2]]"};
    const testing::Call call = testing::call(random_.pick(images ? kImageCalls : kMatrixCalls));
    std::vector<Port> operands;
    for (int i = 0; i < std::max(call.op->info().min_arity, 1); ++i) operands.push_back(random_.pick(ports_));
    const auto outputs = builder_.apply(*call.op, call.params, operands);
    if (!outputs) return false;
    for (Port port : operands) used_.insert(port);
    for (Port port : *outputs)
      if (std::find(ports_.begin(), ports_.end(), port) == ports_.end()) ports_.push_back(port);
    return true;
  }

  static constexpr std::int64_t kTaps[] = {1, 3};
  Random random_;
  GraphBuilder builder_;
  std::vector<Port> ports_;
  std::set<Port> used_;
};

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
    return static_cast<double>(Random(key).between(1, 1000));
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<RandomPrices>(seed_); }

 private:
  std::uint64_t seed_;
};

class RandomOptimization : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomOptimization, GivesAnEqualGraphThatIsNeverDearer) {
  const std::vector<Rule> all = testing::true_rules();
  const auto search = (*loaded().get<SearchStrategy>(GetParam()))->clone();
  int changed = 0;
  std::set<std::string> fired;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph graph = Grower(seed).graph(static_cast<int>(6 + seed % 15));
    Random random(seed * 7919);
    std::vector<Rule> rules;
    for (const Rule& rule : all)
      if (!random.one_in(3)) rules.push_back(rule);

    RandomPrices prices(seed);
    GraphCost cost(prices, nullptr);
    const auto report = optimize(graph, rules, *search, cost, {.steps = 25, .seed = seed});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->refused.empty()) << report->refused.front().reason;
    EXPECT_LE(report->search.cost_after_us, report->search.cost_before_us);
    EXPECT_EQ(*cost.cost_us(report->search.best), report->search.cost_after_us);
    EXPECT_TRUE(equal_values(graph, report->best, seed)) << to_text(graph) << "became\n" << to_text(report->best);
    changed += report->search.path.empty() ? 0 : 1;
    for (const RewriteStep& step : report->search.path) {
      fired.insert(step.rule_id);
      EXPECT_TRUE(equal_values(graph, step.graph, seed)) << "after rule " << step.rule_name;
    }
  }
  // The claim is about graphs that were rewritten; enough of them must have been.
  EXPECT_GE(changed, 200);
  EXPECT_GE(fired.size(), 25u);
}

INSTANTIATE_TEST_SUITE_P(Searches, RandomOptimization, ::testing::Values("backtracking", "greedy"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Optimization, IsTheSameEachTime) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Graph graph = Grower(seed).graph(10);
    std::vector<std::string> results;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto search = (*loaded().get<SearchStrategy>("backtracking"))->clone();
      RandomPrices prices(seed);
      GraphCost cost(prices, nullptr);
      results.push_back(to_text(optimize(graph, testing::true_rules(), *search, cost, {.steps = 25})->best));
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

}  // namespace
}  // namespace rewright
