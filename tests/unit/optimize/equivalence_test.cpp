// The equivalence gate: what it lets pass, what it catches, and whom it names.
#include "optimize/equivalence.h"

#include <rewright/optimize/search.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "optimize/comparison.h"
#include "optimize/optimizer.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

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
  EXPECT_TRUE(result.equal()) << result.difference;
  EXPECT_THAT(result.runs, SizeIs(1));
  EXPECT_GT(result.tolerance, 0);
  EXPECT_LT(result.tolerance, 1e-5) << "what float32 rounds of a product of small matrices";
  EXPECT_LE(result.max_abs_error, result.tolerance);
}

TEST(EquivalenceGate, CatchesADifferentGraph) {
  const Equivalence result = check(read_graph("x = input (3, 3)\ny = input (3, 3)\na = matmul(x, y)\noutput a\n"),
                                   read_graph("x = input (3, 3)\ny = input (3, 3)\na = matmul(y, x)\noutput a\n"));
  EXPECT_EQ(result.verdict, GateVerdict::kDifferent);
  EXPECT_THAT(result.difference, HasSubstr("differs at element"));
}

TEST(EquivalenceGate, CatchesADifferenceOfOneElement) {
  // relu on one row more: the graphs agree wherever that row is positive.
  const Equivalence result =
      check(read_graph("x = input (3, 1)\np, q = split[sizes=[2, 1]](x)\nr = relu(p)\nj = concat(r, q)\noutput j\n"),
            read_graph("x = input (3, 1)\nr = relu(x)\noutput r\n"), {.trials = 16});
  EXPECT_EQ(result.verdict, GateVerdict::kDifferent);
  EXPECT_THAT(result.difference, HasSubstr("element 2"));
}

TEST(EquivalenceGate, CatchesAnotherShapeBeforeItRuns) {
  const Equivalence result = check(read_graph("x = input (2, 3)\na = relu(x)\noutput a\n"),
                                   read_graph("x = input (2, 3)\na = transpose(x)\noutput a\n"));
  EXPECT_EQ(result.verdict, GateVerdict::kDifferent);
  EXPECT_THAT(result.difference, HasSubstr("(3, 2)"));
  EXPECT_THAT(result.runs, SizeIs(0));
}

TEST(EquivalenceGate, SaysWhatIsMissingWhenItCannotJudge) {
  GraphBuilder builder;
  const Port x = *builder.input("x", {Shape{2}, ElementType::kFloat32});
  builder.output(builder.opaque({"Mystery", ""}, {x}, {{Shape{2}, ElementType::kFloat32}})[0]);
  const Graph graph = builder.finish();
  const Equivalence result = check(graph, graph);
  EXPECT_EQ(result.verdict, GateVerdict::kNotComparable);
  EXPECT_THAT(result.reason, HasSubstr("'Mystery'"));
  EXPECT_THAT(result.reason, HasSubstr("--runtime"));
}

TEST(EquivalenceGate, ComparesNothingWhereNoElementIsFinite) {
  const Graph graph = read_graph("x = input (8)\na = exp(x)\nb = neg(a)\nc = log(b)\noutput c\n");
  const Equivalence result = check(graph, read_graph("x = input (8)\na = neg(x)\nc = log(a)\nd = sqrt(c)\noutput d\n"));
  EXPECT_EQ(result.verdict, GateVerdict::kNotComparable);
  EXPECT_THAT(result.reason, HasSubstr("NaN or infinite in 100 %"));
  EXPECT_THAT(result.reason, HasSubstr("--input"));
}

TEST(EquivalenceGate, ComparesNothingWhereNoOutputChangesWithTheInputs) {
  const Graph graph = read_graph("x = input (8)\na = ewmul(x, x)\nb = neg(a)\nc = relu(b)\noutput c\n");
  const Equivalence result = check(graph, graph);
  EXPECT_EQ(result.verdict, GateVerdict::kNotComparable);
  EXPECT_THAT(result.reason, HasSubstr("0 % of the original's outputs change"));
}

TEST(EquivalenceGate, ComparesOnInputsThatAreGiven) {
  const Graph graph = read_graph("x = input (8)\na = ewmul(x, x)\nb = neg(a)\nc = log(b)\noutput c\n");
  EXPECT_EQ(check(graph, graph).verdict, GateVerdict::kNotComparable);
  EquivalenceOptions options;
  options.inputs["y"].numbers = {1};
  const auto gate = EquivalenceGate::create(graph, options);
  ASSERT_FALSE(gate);
  EXPECT_THAT(gate.error().message, HasSubstr("it has: x"));
}

TEST(EquivalenceGate, SeesWhatLargeInputsReach) {
  const Equivalence result = check(read_graph("x = input (4)\na = clip[low=-50, high=50](x)\noutput a\n"),
                                   read_graph("x = input (4)\na = reshape[sizes=[4]](x)\noutput a\n"));
  EXPECT_EQ(result.verdict, GateVerdict::kDifferent);
  EXPECT_THAT(result.difference, HasSubstr("inputs times 1024"));
}

/// A product of matrices in float16, of numbers scaled by 0.01 before or after it.
Graph scaled_product(bool before) {
  GraphBuilder builder(&loaded());
  const ElementType half = ElementType::kFloat16;
  const Port x = *builder.input("x", {Shape{4, 64}, half}), y = *builder.input("y", {Shape{64, 4}, half});
  const Port small = builder.constant({{Shape{}, half}, 0.01});
  const Port left = before ? *builder.apply1("smul", {}, {x, small}) : x;
  const Port product = *builder.apply1("matmul", {}, {left, y});
  builder.output(before ? product : *builder.apply1("smul", {}, {product, small}));
  return builder.finish();
}

TEST(EquivalenceGate, RefusesWhatOverflowsWhereTheOriginalDoesNot) {
  const Equivalence result = check(scaled_product(true), scaled_product(false));
  EXPECT_EQ(result.verdict, GateVerdict::kDifferent);
  EXPECT_THAT(result.difference, HasSubstr("the model's own arithmetic"));
  EXPECT_THAT(result.difference, HasSubstr("inf"));
  EXPECT_TRUE(check(scaled_product(false), scaled_product(true)).equal());
}

/// relu, or another operator, at a size.
Graph one_operator(const char* op, int size) {
  return read_graph(fmt::format("x = input ({}, 4)\na = {}(x)\noutput a\n", size, op));
}

TEST(EquivalenceGate, ComparesWhatWasWrittenAtTheSizesOfEveryCase) {
  const Graph small = one_operator("relu", 2), large = one_operator("relu", 30);
  const GateCase cases[] = {{"rows=2", &small}, {"rows=30", &large}};
  const auto verdict_of = [&](const char* at_large) {
    EquivalenceOptions options;
    options.from_model = [&, at_large](const std::string&, std::size_t i) -> Result<Graph> {
      return i == 0 ? one_operator("relu", 2) : one_operator(at_large, 30);
    };
    const auto gate = EquivalenceGate::create(cases, options);
    if (!gate) fail(gate.error().message);
    return *gate->check(small, "written");
  };
  EXPECT_TRUE(verdict_of("relu").equal()) << verdict_of("relu").difference << verdict_of("relu").reason;
  EXPECT_THAT(verdict_of("relu").runs.front(), HasSubstr("at 2 sizes"));
  EXPECT_EQ(verdict_of("exp").verdict, GateVerdict::kDifferent);
  EXPECT_THAT(verdict_of("exp").difference, HasSubstr("rows=30"));
}

// --- whom it names ---------------------------------------------------------------------------------------------

Equivalence judged(GateVerdict verdict) {
  Equivalence made;
  made.verdict = verdict;
  if (verdict == GateVerdict::kDifferent) made.difference = "output 0 differs";
  if (verdict == GateVerdict::kNotComparable) made.reason = "it draws random numbers";
  return made;
}

TEST(FindCulprit, BisectsToTheFirstUnequalRewrite) {
  for (std::size_t rewrites = 1; rewrites <= 20; ++rewrites) {
    for (std::size_t culprit = 0; culprit < rewrites; ++culprit) {
      std::size_t questions = 0;
      const auto check = [&](std::size_t after) -> Result<Equivalence> {
        ++questions;
        return judged(after <= culprit ? GateVerdict::kEqual : GateVerdict::kDifferent);
      };
      const auto found = find_culprit(rewrites, check, judged(GateVerdict::kDifferent));
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(found->rewrite, culprit);
      EXPECT_LE(questions, 7u);
    }
  }
}

TEST(FindCulprit, BlamesNoRewriteForWhatWasThereBefore) {
  const auto always = [](GateVerdict verdict) {
    return [verdict](std::size_t) -> Result<Equivalence> { return judged(verdict); };
  };
  const Equivalence different = judged(GateVerdict::kDifferent), unknown = judged(GateVerdict::kNotComparable);
  for (const std::size_t rewrites : {0, 3}) {
    const auto found = find_culprit(rewrites, always(GateVerdict::kDifferent), different);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->rewrite);
    EXPECT_THAT(found->reason, HasSubstr("read and written again, without any rewrite (output 0 differs)"));
    EXPECT_EQ(find_culprit(rewrites, always(GateVerdict::kEqual), unknown)->reason, "it draws random numbers");
    EXPECT_EQ(find_culprit(rewrites, always(GateVerdict::kNotComparable), different)->reason,
              "it draws random numbers");
  }
}

TEST(FindCulprit, HandsOnWhyAGraphCouldNotBeCompared) {
  const auto fails = [](std::size_t) -> Result<Equivalence> { return make_error(ErrorCode::kBudget, "stopped"); };
  const auto found = find_culprit(2, fails, judged(GateVerdict::kDifferent));
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
  [[nodiscard]] EquivalenceOptions options(double reference_flops = -1) const {
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
      auto value =
          node.is_weight() ? std::make_shared<const ConstantData>(ConstantData{node.outputs[0], 0.125}) : nullptr;
      made.push_back({*builder.input(node.name, node.outputs[0], node.input()->kind, value)});
    } else {
      made.push_back(*builder.apply(*node.application(), operands));
    }
  }
  int i = 0;
  for (Port port : graph.outputs()) builder.output(made[port.node.value][port.output], fmt::format("y{}", i++));
  return builder.finish();
}

TEST_F(InRuntime, EqualGraphsPass) {
  const Equivalence result = check(with_uniform_weights(kProduct), with_uniform_weights(kReordered), options(1e9));
  EXPECT_TRUE(result.equal()) << result.difference;
  EXPECT_THAT(result.runs, SizeIs(3)) << "by meaning, in the runtime, with random weights";
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
  EXPECT_FALSE(result.equal()) << "with the repeated number alone both models are one";
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
  const Equivalence end = *gate->check(report->best);
  EXPECT_FALSE(end.equal());
  const auto check = [&](std::size_t after) { return gate->check(after == 0 ? start : path[after - 1].graph); };
  const auto culprit = find_culprit(path.size(), check, end);
  ASSERT_TRUE(culprit) << culprit.error().message;
  ASSERT_TRUE(culprit->rewrite) << culprit->reason;
  EXPECT_EQ(path[*culprit->rewrite].rule_id, rules[1].id);
}

/// Runs models "A" (the original) and others as it is told: what they make of their first input.
class Told final : public Runtime {
 public:
  using Answer = std::function<Result<RuntimeTensor>(RuntimeTensor)>;
  class Session final : public RuntimeSession {
   public:
    explicit Session(const Answer& answer) : answer_(answer) {}
    Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) override {
      REWRIGHT_TRY(RuntimeTensor made, answer_(inputs.empty() ? RuntimeTensor{} : inputs.front()));
      return std::vector{std::move(made)};
    }
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
  Answer original = [](RuntimeTensor x) { return Result<RuntimeTensor>(std::move(x)); };
  Answer result = original;
};

/// What the gate says of a graph from x to y where the original gives back its input, and the result something else.
Equivalence judged(ElementType type, const Told::Answer& answer, const std::string& model = "B") {
  Told runtime;
  runtime.result = answer;
  GraphBuilder builder(&loaded());
  builder.output(*builder.apply1("relu", {}, {*builder.input("x", {Shape{64}, type})}), "y");
  const Graph graph = builder.finish();
  EquivalenceOptions options;
  options.runtime = &runtime;
  options.reference_flops = -1;
  options.original_model = "A";
  const auto gate = EquivalenceGate::create(graph, options);
  if (!gate) fail(gate.error().message);
  return *gate->check(graph, model);
}

/// Numbers of 16 bits that are not 0, moved by so many spacings.
Told::Answer moved_by(std::uint16_t spacings) {
  return [spacings](RuntimeTensor x) -> Result<RuntimeTensor> {
    for (std::size_t i = 0; i + 1 < x.bytes.size(); i += 2) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, &x.bytes[i], 2);
      if ((bits & 0x7fff) != 0) bits = static_cast<std::uint16_t>(bits + spacings);
      std::memcpy(&x.bytes[i], &bits, 2);
    }
    return x;
  };
}

TEST(EquivalenceGate, LeavesRoomForTheRoundingOfTheElementType) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBFloat16}) {
    EXPECT_TRUE(judged(type, moved_by(8)).equal()) << judged(type, moved_by(8)).difference;
    EXPECT_EQ(judged(type, moved_by(64)).verdict, GateVerdict::kDifferent);
    EXPECT_THAT(judged(type, moved_by(64)).difference, HasSubstr("Told 1: output y differs at element"));
  }
}

TEST(EquivalenceGate, NamesARuntimeThatCannotRunTheResultOrGivesAnotherShape) {
  const auto fails = [](const RuntimeTensor&) -> Result<RuntimeTensor> {
    return make_error(ErrorCode::kUnsupported, "out of luck");
  };
  const auto longer = [](RuntimeTensor x) -> Result<RuntimeTensor> {
    x.type.shape = Shape{65};
    x.bytes.resize(65 * 4);
    return x;
  };
  const auto difference = [](const Told::Answer& answer, const std::string& model = "B") {
    return judged(ElementType::kFloat32, answer, model).difference;
  };
  EXPECT_EQ(difference(fails), "Told 1: the result cannot be run: out of luck");
  EXPECT_EQ(difference(fails, "X"), "Told 1 refuses the result: it is no model");
  EXPECT_EQ(difference(longer), "Told 1: output y has shape (65) instead of (64)");
}

TEST(EquivalenceGate, ComparesNothingWithAnOriginalThatDrawsRandomNumbers) {
  Told runtime;
  float drawn = 0;
  runtime.original = [&](RuntimeTensor x) -> Result<RuntimeTensor> {
    std::memcpy(x.bytes.data(), &++drawn, sizeof drawn);
    return x;
  };
  const Graph graph = read_graph("x = input (4)\na = relu(x)\noutput a\n");
  EquivalenceOptions options{.runtime = &runtime, .reference_flops = -1, .original_model = "A"};
  const auto gate = EquivalenceGate::create(graph, options);
  ASSERT_TRUE(gate) << gate.error().message;
  EXPECT_THAT(gate->reason(), HasSubstr("differs from itself"));
  EXPECT_EQ(gate->check(graph, "B")->verdict, GateVerdict::kNotComparable);
}

TEST(EquivalenceGate, SaysThatTheOriginalCannotBeLoadedWithoutAdviceOnInputs) {
  const Told runtime;
  const Graph graph = read_graph("x = input (4)\na = relu(x)\noutput a\n");
  const auto gate = EquivalenceGate::create(graph, {.runtime = &runtime, .reference_flops = -1, .original_model = "X"});
  ASSERT_TRUE(gate) << gate.error().message;
  EXPECT_EQ(gate->reason(), "Told 1 cannot load the original: it is no model");
}

TEST(EquivalenceGate, TakesAnotherMeaningOfTheRuntimeForAFault) {
  Told runtime;
  runtime.original = [](RuntimeTensor x) -> Result<RuntimeTensor> {
    std::ranges::fill(x.bytes, std::byte{0});
    return x;
  };
  GraphBuilder builder(&loaded());
  builder.output(*builder.apply1("relu", {}, {*builder.input("x", {Shape{64}})}), "y");
  const Graph graph = builder.finish();
  const auto model = *to_model(graph);
  EquivalenceOptions options{.runtime = &runtime};
  options.original_model = std::string(reinterpret_cast<const char*>(model.data()), model.size());
  runtime.result = runtime.original;
  const auto gate = EquivalenceGate::create(graph, options);
  ASSERT_TRUE(gate) << gate.error().message;
  EXPECT_THAT(gate->reason(), HasSubstr("Told 1 and the evaluation of the operators differ on the original"));
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
  Told runtime;
  runtime.original = [](const RuntimeTensor&) -> Result<RuntimeTensor> {
    return make_error(ErrorCode::kUnsupported, "x is missing");
  };
  const auto gate = EquivalenceGate::create(graph, {.runtime = &runtime, .original_model = "A"});
  ASSERT_TRUE(gate) << gate.error().message;
  EXPECT_EQ(gate->reason(), "input 'x' is of strings, which are not drawn");
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
