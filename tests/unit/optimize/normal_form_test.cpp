// The normal form: what is folded, what is left alone, and that it computes the same.
#include "optimize/normal_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "optimize/optimizer.h"
#include "support/random.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using testing::loaded;
using testing::plain_text;
using testing::read_graph;

Graph normal(const Graph& graph) {
  auto form = normal_form(graph, loaded());
  if (!form) fail(form.error().message);
  return *std::move(form);
}

int count(const Graph& graph, std::string_view op, bool weights) {
  const std::vector<bool> weight = weight_only(graph);
  int found = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) found += graph.nodes()[i].applies(op) && weight[i] == weights ? 1 : 0;
  return found;
}

/// Equal outputs, exactly: over the prime field the square root is some function of its argument, so only what holds
/// whatever the deviation is counts as equal.
void expect_equal_values(const Graph& a, const Graph& b) {
  testing::Random random(5);
  std::vector<Tensor<Field>> inputs;
  for (NodeId id : a.inputs()) {
    inputs.emplace_back(a.node(id).outputs[0].shape);
    for (Field& value : inputs.back().values()) value = Field::from_integer(random.between(-1000, 1000));
  }
  const auto left = *evaluate<Field>(a, std::span<const Tensor<Field>>(inputs));
  const auto right = *evaluate<Field>(b, std::span<const Tensor<Field>>(inputs));
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].values(), right[i].values());
}

std::string norm_of(const std::string& x, const std::string& y, const std::string& suffix, int channels,
                    const std::string& kind = "weight") {
  std::string text;
  for (const char* name : {"s", "b", "m", "v"}) text += fmt::format("{}{} = {} ({})\n", name, suffix, kind, channels);
  return text + fmt::format("{1} = batch_norm[epsilon=0.25]({0}, s{2}, b{2}, m{2}, v{2})\n", x, y, suffix);
}

TEST(NormalForm, KeepsTheNamesOfOutputs) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", {Shape{2, 2}});
  builder.output(*builder.apply1("relu", {}, {x}), "first");
  builder.output(*builder.apply1("tanh", {}, {x}), "second");
  const Graph form = normal(builder.finish());
  ASSERT_EQ(form.output_names().size(), 2u);
  EXPECT_EQ(form.output_names()[0], "first");
  EXPECT_EQ(form.output_names()[1], "second");
}

TEST(NormalForm, FoldsBatchNormIntoTheConvolutionBeforeIt) {
  const Graph graph = read_graph("x = input (1, 2, 4, 4)\nw = weight (3, 2, 3, 3)\nc = conv2d[strides=[2, 2]](x, w)\n" +
                                 norm_of("c", "n", "", 3) + "r = relu(n)\noutput r\n");
  const Graph form = normal(graph);
  EXPECT_EQ(count(form, "batch_norm", false), 0);
  EXPECT_EQ(count(form, "bias_add", false), 1);
  EXPECT_EQ(count(form, "conv2d", false), 1);
  expect_equal_values(graph, form);
}

TEST(NormalForm, FoldsIntoGroupedConvolutions) {
  const Graph graph = read_graph("x = input (1, 4, 4, 4)\nw = weight (6, 2, 3, 3)\nc = conv2d[groups=2](x, w)\n" +
                                 norm_of("c", "n", "", 6) + "output n\n");
  const Graph form = normal(graph);
  EXPECT_EQ(count(form, "batch_norm", false), 0);
  expect_equal_values(graph, form);
}

TEST(NormalForm, LeavesAloneWhatIsNoWeightsAffair) {
  const std::string conv = "x = input (1, 2, 4, 4)\nw = weight (3, 2, 3, 3)\nc = conv2d(x, w)\n";
  const std::string data = "x = input (1, 2, 4, 4)\nw = input (3, 2, 3, 3)\nc = conv2d(x, w)\n";
  const std::string fused = "x = input (1, 2, 4, 4)\nw = weight (3, 2, 3, 3)\nc = conv2d[activation=relu](x, w)\n";
  for (const std::string& text :
       {conv + norm_of("c", "n", "", 3, "input") + "output n\n", data + norm_of("c", "n", "", 3) + "output n\n",
        fused + norm_of("c", "n", "", 3) + "output n\n", conv + norm_of("c", "n", "", 3) + "output n, c\n"}) {
    const Graph graph = read_graph(text);
    EXPECT_EQ(to_text(normal(graph)), to_text(graph));
  }
}

TEST(NormalForm, AddsBiasesOfConvolutionsThatCouldBecomeOne) {
  const std::string text =
      "x = input (1, 2, 4, 4)\ny = input (1, 2, 4, 4)\nv = weight (3, 2, 3, 3)\nw = weight (3, 2, 1, 1)\n"
      "b = weight (3)\nc = weight (3)\nd = conv2d(x, v)\np = bias_add(d, b)\n";
  const std::string one_tensor = text + "e = conv2d(x, w)\nq = bias_add(e, c)\ns = ewadd(p, q)\n";
  const Graph graph = read_graph(one_tensor + "output s\n");
  const Graph form = normal(graph);
  EXPECT_EQ(count(form, "bias_add", false), 1);
  EXPECT_EQ(count(form, "ewadd", true), 1);
  expect_equal_values(graph, form);

  const Graph shared = read_graph(one_tensor + "output s, p\n");
  EXPECT_EQ(to_text(normal(shared)), to_text(shared)) << "p is needed as it is";
  const Graph two_tensors = read_graph(text + "e = conv2d(y, w)\nq = bias_add(e, c)\ns = ewadd(p, q)\noutput s\n");
  EXPECT_EQ(to_text(normal(two_tensors)), to_text(two_tensors)) << "a runtime adds each bias on the way";
}

TEST(NormalForm, GivesBiasesBackToConvolutionsThatStayedApart) {
  const std::string text =
      "x = input (1, 2, 4, 4)\nv = weight (3, 2, 3, 3)\nw = weight (3, 2, 1, 1)\nb = weight (3)\n"
      "d = conv2d(x, v)\ne = conv2d(x, w)\n";
  const Graph apart = read_graph(text + "s = ewadd(d, e)\np = bias_add(s, b)\noutput p\n");
  const Graph given_back = *biases_to_convolutions(apart);
  EXPECT_EQ(plain_text(given_back), plain_text(read_graph(text + "p = bias_add(d, b)\ns = ewadd(p, e)\noutput s\n")));
  expect_equal_values(apart, given_back);
  const Graph shared = read_graph(text + "s = ewadd(d, e)\np = bias_add(s, b)\noutput p, s\n");
  EXPECT_EQ(to_text(*biases_to_convolutions(shared)), to_text(shared));
  const Graph of_none = read_graph(text + "f = relu(d)\ng = relu(e)\ns = ewadd(f, g)\np = bias_add(s, b)\noutput p\n");
  EXPECT_EQ(to_text(*biases_to_convolutions(of_none)), to_text(of_none)) << "no addend is a convolution's";
}

TEST(NormalForm, LetsBranchesWithBatchNormsBecomeOneConvolution) {
  const Graph graph = read_graph(
      "x = input (1, 8, 6, 6)\nv = weight (8, 8, 3, 3)\nw = weight (8, 8, 1, 1)\n"
      "c = conv2d(x, v)\nd = conv2d(x, w)\n" +
      norm_of("c", "n", "1", 8) + norm_of("d", "k", "2", 8) + "s = ewadd(n, k)\nr = relu(s)\noutput r\n");
  const auto price = (*loaded().get<CostModel>("flops"))->clone();
  GraphCost cost(*price, nullptr);
  const auto search = (*loaded().get<SearchStrategy>("backtracking"))->clone();
  ASSERT_TRUE(search->configure({{"alpha", 2.0}}));
  const auto report = optimize(graph, testing::true_rules(), *search, cost, {.steps = 100, .registry = &loaded()});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(count(report->best, "conv2d", false), 1);
  ASSERT_FALSE(report->search.path.empty());
  EXPECT_EQ(report->search.path.front().rule_name, kNormalFormStep);
  EXPECT_EQ(report->search.cost_before_us, *cost.cost_us(graph));
  expect_equal_values(graph, report->best);
}

TEST(NormalForm, IsKeptWhereItAlonePays) {
  const Graph graph = read_graph("x = input (1, 2, 4, 4)\nw = weight (3, 2, 3, 3)\nc = conv2d(x, w)\n" +
                                 norm_of("c", "n", "", 3) + "output n\n");
  const auto price = (*loaded().get<CostModel>("flops"))->clone();
  GraphCost cost(*price, nullptr);
  const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
  const auto report = optimize(graph, {}, *search, cost, {.registry = &loaded()});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->search.path.size(), 1U);
  EXPECT_EQ(report->search.path[0].rule_name, kNormalFormStep);
  EXPECT_LT(report->search.cost_after_us, report->search.cost_before_us);
  EXPECT_EQ(report->search.cost_before_us, *cost.cost_us(graph));
  EXPECT_EQ(report->search.cost_after_us, *cost.cost_us(report->best));
  EXPECT_EQ(count(report->best, "batch_norm", false), 0);
  expect_equal_values(graph, report->best);
}

TEST(NormalForm, IsNotMadeWhereNumbersAreToStayTheSame) {
  const Graph graph = read_graph("x = input (1, 2, 4, 4)\nw = weight (3, 2, 3, 3)\nc = conv2d(x, w)\n" +
                                 norm_of("c", "n", "", 3) + "output n\n");
  const auto price = (*loaded().get<CostModel>("flops"))->clone();
  GraphCost cost(*price, nullptr);
  const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
  const auto report = optimize(graph, {}, *search, cost, {.registry = &loaded(), .exact = true});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->search.path, ::testing::IsEmpty()) << "folded weights round otherwise";
  EXPECT_EQ(count(report->best, "batch_norm", false), 1);
}

TEST(NormalForm, IsNotKeptWhereNothingCameOfIt) {
  // No rule fires, and prices at which a bias is dear: the graph stays as it was given.
  class DearBias final : public CostModel {
   public:
    [[nodiscard]] std::string name() const override { return "dear bias"; }
    [[nodiscard]] std::string summary() const override { return "bias_add costs 100"; }
    [[nodiscard]] std::string device() const override { return "none"; }
    [[nodiscard]] bool measured() const override { return false; }
    Status configure(const Options&, const Registry&) override { return {}; }
    [[nodiscard]] Result<double> cost_us(const Application& application) override {
      return application.op.name() == "bias_add" ? 100.0 : 1.0;
    }
    [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<DearBias>(); }
  } prices;
  GraphCost cost(prices, nullptr);
  const Graph graph = read_graph("x = input (1, 2, 4, 4)\nw = weight (3, 2, 3, 3)\nc = conv2d(x, w)\n" +
                                 norm_of("c", "n", "", 3) + "output n\n");
  const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
  const auto report = optimize(graph, testing::true_rules(), *search, cost, {.registry = &loaded()});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->search.path.empty());
  EXPECT_EQ(report->search.cost_after_us, 2.0);
  EXPECT_EQ(to_text(report->best), to_text(graph));
}

}  // namespace
}  // namespace rewright
