// The equivalence gate: what it lets pass, what it catches, and whom it names.
#include "optimize/equivalence.h"

#include <rewright/search.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "optimize/comparison.h"
#include "optimize/optimizer.h"
#include "support/true_rules.h"
#include "unit/optimize/fixed_prices.h"

namespace rewright {
namespace {

using testing::FixedPrices;
using ::testing::HasSubstr;
using testing::loaded;
using testing::read_graph;
using testing::read_rule;
using ::testing::SizeIs;

Equivalence check(const Graph& original, const Graph& candidate, EquivalenceOptions options = {}) {
  auto gate = EquivalenceGate::create(original, std::move(options));
  if (!gate) fail(gate.error().message);
  auto checked = gate->check(candidate);
  if (!checked) fail(checked.error().message);
  return *std::move(checked);
}

const char* const kProduct =
    "x = input (3, 4)\nv = weight (4, 5)\nw = weight (5, 2)\na = matmul(x, v)\nb = matmul(a, w)\noutput b\n";
const char* const kReordered =
    "x = input (3, 4)\nv = weight (4, 5)\nw = weight (5, 2)\na = matmul(v, w)\nb = matmul(x, a)\noutput b\n";

TEST(EquivalenceGate, PassesAnEqualGraphInTheReferenceEvaluation) {
  const Equivalence result = check(read_graph(kProduct), read_graph(kReordered));
  EXPECT_TRUE(result.equal) << result.difference;
  EXPECT_THAT(result.runs, SizeIs(1));
  EXPECT_GT(result.tolerance, 0);
  EXPECT_LT(result.tolerance, 1e-12) << "double precision leaves little room";
  EXPECT_LE(result.max_abs_error, result.tolerance);
}

TEST(EquivalenceGate, CatchesADifferentGraph) {
  const Equivalence result = check(read_graph("x = input (3, 3)\ny = input (3, 3)\na = matmul(x, y)\noutput a\n"),
                                   read_graph("x = input (3, 3)\ny = input (3, 3)\na = matmul(y, x)\noutput a\n"));
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.difference, HasSubstr("differs at element 0"));
}

TEST(EquivalenceGate, CatchesADifferenceOfOneElement) {
  // relu on one row more: the graphs agree wherever that row is positive.
  const Equivalence result =
      check(read_graph("x = input (3, 1)\np, q = split[sizes=[2, 1]](x)\nr = relu(p)\nj = concat(r, q)\noutput j\n"),
            read_graph("x = input (3, 1)\nr = relu(x)\noutput r\n"), {.trials = 16});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.difference, HasSubstr("element 2"));
}

TEST(EquivalenceGate, CatchesAnotherShapeBeforeItRuns) {
  const Equivalence result = check(read_graph("x = input (2, 3)\na = relu(x)\noutput a\n"),
                                   read_graph("x = input (2, 3)\na = transpose(x)\noutput a\n"));
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.difference, HasSubstr("(3, 2)"));
  EXPECT_THAT(result.runs, SizeIs(0));
}

TEST(EquivalenceGate, SaysWhatIsMissingWhenItCannotJudge) {
  GraphBuilder builder;
  const Port x = *builder.input("x", {Shape{2}, ElementType::kFloat32});
  builder.output(builder.opaque({"Mystery", ""}, {x}, {{Shape{2}, ElementType::kFloat32}})[0]);
  const Graph graph = builder.finish();
  const auto gate = EquivalenceGate::create(graph, {});
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(gate.error().message, HasSubstr("--runtime"));
}

TEST(FindCulprit, BisectsToTheFirstUnequalRewrite) {
  for (std::size_t rewrites = 1; rewrites <= 20; ++rewrites) {
    for (std::size_t culprit = 0; culprit < rewrites; ++culprit) {
      std::size_t questions = 0;
      const auto found = find_culprit(
          rewrites, [&](std::size_t after) -> Result<bool> { return ++questions, after <= culprit; }, "");
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(*found, culprit);
      EXPECT_LE(questions, 7u);
    }
  }
}

TEST(FindCulprit, SaysThatNoRewriteBroughtTheDifference) {
  for (const std::size_t rewrites : {0, 3}) {
    const auto none = find_culprit(
        rewrites, [](std::size_t) -> Result<bool> { return true; }, "output 0 differs");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message,
              "the result differs from the original (output 0 differs), though every rewrite is equal");
    const auto all = find_culprit(
        rewrites, [](std::size_t) -> Result<bool> { return false; }, "output 0 differs");
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().message,
              "the model differs from the original before any rewrite, so import or export are at fault: output 0 "
              "differs");
  }
}

TEST(FindCulprit, HandsOnWhyAGraphCouldNotBeCompared) {
  const auto found = find_culprit(
      2, [](std::size_t) -> Result<bool> { return make_error(ErrorCode::kBudget, "stopped"); }, "");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kBudget);
}

// --- with ONNX Runtime -----------------------------------------------------------------------------------------

class InRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = loaded().find<Runtime>("onnxruntime");
    ASSERT_NE(runtime_, nullptr);
    const auto version = runtime_->version();
    ASSERT_TRUE(version) << version.error().message;
  }
  [[nodiscard]] EquivalenceOptions options(double reference_flops = 0) const {
    EquivalenceOptions options;
    options.runtime = runtime_;
    options.reference_flops = reference_flops;
    return options;
  }
  const Runtime* runtime_ = nullptr;
};

/// Weights get values: one number repeated, as in models that are made for timing.
Graph with_uniform_weights(std::string_view text) {
  const Graph graph = read_graph(text);
  GraphBuilder builder;
  std::vector<std::vector<Port>> made;
  for (const Node& node : graph.nodes()) {
    std::vector<Port> operands;
    for (Port operand : node.inputs) operands.push_back(made[operand.node.value][operand.output]);
    if (node.is_input()) {
      auto value = node.input_kind == InputKind::kWeight
                       ? std::make_shared<const ConstantData>(ConstantData{node.outputs[0], 0.125})
                       : nullptr;
      made.push_back({*builder.input(node.name, node.outputs[0], node.input_kind, value)});
    } else {
      made.push_back(*builder.apply(*node.op, node.params, operands));
    }
  }
  int i = 0;
  for (Port port : graph.outputs()) builder.output(made[port.node.value][port.output], fmt::format("y{}", i++));
  return builder.finish();
}

TEST_F(InRuntime, EqualGraphsPass) {
  const Equivalence result = check(with_uniform_weights(kProduct), with_uniform_weights(kReordered), options(1e6));
  EXPECT_TRUE(result.equal) << result.difference;
  EXPECT_THAT(result.runs, SizeIs(3)) << "as given, with random weights, by meaning";
  EXPECT_LE(result.max_abs_error, result.tolerance);
}

TEST_F(InRuntime, ExchangedWeightsAreSeenThoughTheModelsAreUniform) {
  const auto model = [](const char* first, const char* second) {
    return with_uniform_weights(
        fmt::format("x = input (4, 4)\nv = weight (4, 4)\nw = weight (4, 4)\n"
                    "a = matmul(x, {})\nb = relu(a)\nc = matmul(b, {})\noutput c\n",
                    first, second));
  };
  const Equivalence result = check(model("v", "w"), model("w", "v"), options());
  EXPECT_FALSE(result.equal) << "with the repeated number alone both models are one";
  EXPECT_THAT(result.difference, HasSubstr("with random weights"));
}

TEST_F(InRuntime, TheWrongRewriteIsFoundAmongTrueOnes) {
  const Graph start = with_uniform_weights(R"(
x = input (4, 4)
z = input (4, 4)
v = weight (4, 4)
w = weight (4, 4)
a = matmul(x, v)
b = matmul(x, w)
s = ewadd(a, b)
t = ewadd(s, z)
r = relu(t)
q = relu(r)
output q
)");
  const std::vector<Rule> rules = {
      read_rule("(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))"),
      read_rule("(x:2, y:2, z:2) ewadd(matmul(x, y), z) => matmul(x, y)"),  // Wrong: it forgets z.
      read_rule("(x:2) relu(relu(x)) => relu(x)")};
  FixedPrices prices({{"matmul", 10}, {"ewadd", 5}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const auto report = optimize(start, rules, *(*loaded().get<SearchStrategy>("greedy"))->clone(), cost);
  ASSERT_TRUE(report) << report.error().message;
  const auto& path = report->search.path;
  ASSERT_THAT(path, SizeIs(3));

  const auto gate = EquivalenceGate::create(start, options());
  ASSERT_TRUE(gate) << gate.error().message;
  EXPECT_FALSE(gate->check(report->best)->equal);
  const auto culprit = find_culprit(
      path.size(),
      [&](std::size_t after) -> Result<bool> { return gate->check(after == 0 ? start : path[after - 1].graph)->equal; },
      "");
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_EQ(path[*culprit].rule_id, rules[1].id);
}

TEST_F(InRuntime, TimesOfTwoModelsAreComparedInTurn) {
  const auto square = [](int n) {
    return with_uniform_weights(
        fmt::format("x = input ({0}, {0})\nw = weight ({0}, {0})\na = matmul(x, w)\noutput a\n", n));
  };
  const Graph small = square(8);
  const auto bytes = *to_model(small);
  const std::string model(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto times = compare_times(*runtime_, small, model, model, {.rounds = 5});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(times->rounds, 5);
  for (const TimeSpread& time : {times->before, times->after}) {
    EXPECT_GT(time.low_us, 0);
    EXPECT_LE(time.low_us, time.median_us);
    EXPECT_LE(time.median_us, time.high_us);
  }
  EXPECT_LE(times->gain.low, times->gain.median);
  EXPECT_LE(times->gain.median, times->gain.high);
}

/// Writes down what is loaded ("A"), measured ("a") and given back ("-"), of models of one letter.
class Diary final : public Runtime {
 public:
  class Session final : public RuntimeSession {
   public:
    Session(char model, std::string& diary) : model_(model), diary_(diary) { diary_ += model_; }
    ~Session() override { diary_ += '-'; }
    Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor>) override {
      return std::vector<RuntimeTensor>{};
    }
    Result<RunTimes> measure(std::span<const RuntimeTensor>, int, double) override {
      diary_ += static_cast<char>(model_ - 'A' + 'a');
      const double us = model_ == 'A' ? 6.0 : 3.0;
      return RunTimes{us, us, us, us};
    }

   private:
    char model_;
    std::string& diary_;
  };
  [[nodiscard]] std::string name() const override { return "diary"; }
  [[nodiscard]] std::string summary() const override { return "of a test"; }
  [[nodiscard]] Result<std::string> version() const override { return std::string("1"); }
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                                             const LoadOptions&) const override {
    return std::unique_ptr<RuntimeSession>(std::make_unique<Session>(static_cast<char>(model[0]), diary));
  }
  mutable std::string diary;
};

/// Runs models "A" (the original) and others as it is told.
class Told final : public Runtime {
 public:
  using Answer = std::function<Result<std::vector<RuntimeTensor>>()>;
  class Session final : public RuntimeSession {
   public:
    explicit Session(const Answer& answer) : answer_(answer) {}
    Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor>) override { return answer_(); }
    Result<RunTimes> measure(std::span<const RuntimeTensor>, int, double) override { return RunTimes{1, 1, 1, 1}; }

   private:
    const Answer& answer_;
  };
  [[nodiscard]] std::string name() const override { return "told"; }
  [[nodiscard]] std::string summary() const override { return "of a test"; }
  [[nodiscard]] Result<std::string> version() const override { return std::string("Told 1"); }
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                                             const LoadOptions&) const override {
    if (static_cast<char>(model[0]) == 'X') return make_error(ErrorCode::kUnsupported, "it is no model");
    const Answer& answer = static_cast<char>(model[0]) == 'A' ? original : result;
    return std::unique_ptr<RuntimeSession>(std::make_unique<Session>(answer));
  }
  Answer original, result;
};

RuntimeTensor halves(ElementType type, const Shape& shape, const std::vector<std::uint16_t>& bits) {
  const auto bytes = std::as_bytes(std::span(bits));
  return {"y", {shape, type}, {bytes.begin(), bytes.end()}};
}

/// What the gate says where the original gives one tensor, and the result another.
Equivalence judged(const RuntimeTensor& expected, const Told::Answer& answer, const std::string& model = "B") {
  Told runtime;
  runtime.original = [&] { return Result<std::vector<RuntimeTensor>>(std::vector{expected}); };
  runtime.result = answer;
  GraphBuilder builder(&loaded());
  builder.output(*builder.apply1("relu", {}, {*builder.input("x", expected.type)}), "y");
  const Graph graph = builder.finish();
  EquivalenceOptions options;
  options.runtime = &runtime;
  options.reference_flops = 0;
  options.original_model = "A";
  const auto gate = EquivalenceGate::create(graph, options);
  if (!gate) fail(gate.error().message);
  return *gate->check(graph, model);
}

TEST(EquivalenceGate, LeavesRoomForTheRoundingOfTheElementType) {
  struct Case {
    ElementType type;
    std::uint16_t one, near, far;  ///< 1, and what lies 16 and 64 spacings above it.
  };
  for (const Case& of :
       {Case{ElementType::kFloat16, 0x3c00, 0x3c10, 0x3c40}, Case{ElementType::kBFloat16, 0x3f80, 0x3f90, 0x3fc0}}) {
    const auto with = [&](std::uint16_t bits) {
      return judged(halves(of.type, Shape{1}, {of.one}), [&, bits] {
        return Result<std::vector<RuntimeTensor>>(std::vector{halves(of.type, Shape{1}, {bits})});
      });
    };
    EXPECT_TRUE(with(of.near).equal) << with(of.near).difference;
    EXPECT_FALSE(with(of.far).equal);
    EXPECT_THAT(with(of.far).difference, HasSubstr("Told 1: output y differs at element 0"));
  }
}

TEST(EquivalenceGate, NamesARuntimeThatCannotRunTheResultOrGivesAnotherShape) {
  const RuntimeTensor one = halves(ElementType::kFloat16, Shape{2}, {0x3c00, 0x3c00});
  const auto fails = [] {
    return Result<std::vector<RuntimeTensor>>(make_error(ErrorCode::kUnsupported, "out of luck"));
  };
  const auto long_one = [] {
    return Result<std::vector<RuntimeTensor>>(
        std::vector{halves(ElementType::kFloat16, Shape{3}, {0x3c00, 0x3c00, 0x3c00})});
  };
  EXPECT_EQ(judged(one, fails).difference, "Told 1: the result cannot be run: out of luck");
  EXPECT_EQ(judged(one, fails, "X").difference, "Told 1 refuses the result: it is no model");
  EXPECT_EQ(judged(one, long_one).difference, "Told 1: output y has shape (3) instead of (2)");
  EXPECT_FALSE(judged(one, long_one).equal);
}

TEST(EquivalenceGate, NamesGraphsWithOtherInputs) {
  const Graph one = read_graph("x = input (2)\na = relu(x)\noutput a\n");
  EXPECT_EQ(check(one, read_graph("x = input (2)\ny = input (2)\na = relu(x)\noutput a\n")).difference,
            "the graphs differ in their number of inputs or outputs");
  EXPECT_EQ(check(one, read_graph("z = input (2)\na = relu(z)\noutput a\n")).difference, "input x became z");
}

TEST(EquivalenceGate, DrawsNoInputsOfText) {
  GraphBuilder builder;
  const Port x = *builder.input("x", {Shape{1}, ElementType::kString});
  builder.output(builder.opaque({"Mystery", ""}, {x}, {{Shape{1}, ElementType::kFloat32}})[0]);
  const Graph graph = builder.finish();
  const Told runtime;
  const auto gate = EquivalenceGate::create(graph, {.runtime = &runtime, .original_model = "A"});
  ASSERT_FALSE(gate);
  EXPECT_THAT(gate.error().message, HasSubstr("element type (ONNX number 8)"));
}

TEST(TimesOfTwoModels, AreOfBothLoadedAnewInEachRound) {
  const Diary runtime;
  const Graph graph = with_uniform_weights("x = input (2, 2)\na = relu(x)\noutput a\n");
  const auto times = compare_times(runtime, graph, "A", "B", {.rounds = 3});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(runtime.diary, "ABabba--BAbaab--ABabba--");
  EXPECT_EQ(times->gain.median, 2);
  EXPECT_EQ(times->before.median_us, 6);
}

// Ranks: Conover, Practical Nonparametric Statistics, 3rd ed., table A3, of the binomial distribution with p = 1/2.
TEST(SpreadOfMedian, LeavesOutWhatTheSignTestAllows) {
  struct Case {
    int count;
    double low, high;  // Of the numbers from 1 to `count`.
  };
  for (const Case& asked : {Case{1, 1, 1}, Case{5, 1, 5}, Case{6, 1, 6}, Case{9, 2, 8}, Case{20, 6, 15},
                            Case{21, 6, 16}, Case{100, 40, 61}, Case{1000, 469, 532}}) {
    std::vector<double> ratios;
    for (int i = asked.count; i > 0; --i) ratios.push_back(i);
    const RatioSpread spread = spread_of_median(ratios);
    EXPECT_EQ(spread.low, asked.low) << asked.count;
    EXPECT_EQ(spread.high, asked.high) << asked.count;
    EXPECT_EQ(spread.median, static_cast<double>(asked.count / 2 + 1)) << asked.count;
  }
}

TEST_F(InRuntime, OperatorsAreMeasuredAndCostMoreWhenTheyDoMore) {
  const auto model = (*loaded().get<CostModel>("onnxruntime"))->clone();
  const Status configured = model->configure({{"repetitions", std::int64_t{3}}}, loaded());
  ASSERT_TRUE(configured) << configured.error().message;
  EXPECT_THAT(model->device(), HasSubstr("ONNX Runtime"));
  const auto cost = [&](std::int64_t n) {
    const Shape shapes[] = {{n, n}, {n, n}};
    const InputKind kinds[] = {InputKind::kData, InputKind::kWeight};
    return *model->cost_us({testing::operator_named("matmul"), Params(), shapes, kinds});
  };
  EXPECT_GT(cost(512), cost(16)) << "32,768 times the work";
}

}  // namespace
}  // namespace rewright
