// Where rules match in graphs written by hand, and what applying them gives.
#include "support/matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rewriter.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using rewright::testing::plain_text;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Rule rule(std::string_view text) { return rewright::testing::read_rule(text); }
Graph graph(std::string_view text) { return rewright::testing::read_graph(text); }

/// The graphs one application away, as text.
std::vector<std::string> results(const std::string& rule_text, const std::string& graph_text) {
  const Rewriter rewriter({rule(rule_text)});
  const Graph start = graph(graph_text);
  std::vector<std::string> texts;
  for (const Match& match : rewriter.matches(start)) {
    auto replaced = rewriter.apply(start, match);
    texts.push_back(replaced ? plain_text(*replaced) : replaced.error().message);
  }
  return texts;
}

/// The text form that results() gives for this graph.
std::string same(const std::string& text) { return plain_text(graph(text)); }

std::size_t match_count(const std::string& rule_text, const std::string& graph_text) {
  return Rewriter({rule(rule_text)}).matches(graph(graph_text)).size();
}

TEST(Matcher, FindsAnApplicationAndReplacesIt) {
  EXPECT_THAT(results("(x:2) relu(relu(x)) => relu(x)", R"(
x = input (2, 4)
a = relu(x)
b = relu(a)
c = transpose(b)
output c
)"),
              ElementsAre(same(R"(
x = input (2, 4)
a = relu(x)
c = transpose(a)
output c
)")));
}

TEST(Matcher, ComparesParameters) {
  const std::string source =
      "(x:4, w:4) relu(conv2d[strides=[2, 2]](x, w)) => conv2d[strides=[2, 2], activation=relu](x, w)";
  const auto model = [](const std::string& strides) {
    return "x = input (1, 3, 8, 8)\nw = weight (4, 3, 3, 3)\nc = conv2d[strides=" + strides +
           "](x, w)\nr = relu(c)\noutput r\n";
  };
  EXPECT_EQ(match_count(source, model("[2, 2]")), 1u);
  EXPECT_EQ(match_count(source, model("[1, 1]")), 0u);
  const std::string rows = "(x:2, y:2) relu(concat[axis=0](x, y)) => concat[axis=0](relu(x), relu(y))";
  const std::string concat = "x = input (2, 2)\ny = input (2, 2)\nc = concat";
  EXPECT_EQ(match_count(rows, concat + "(x, y)\nr = relu(c)\noutput r\n"), 1u);
  EXPECT_EQ(match_count(rows, concat + "[axis=1](x, y)\nr = relu(c)\noutput r\n"), 0u);
}

TEST(Matcher, FindsEveryPlace) {
  // Two chains; one of three, in which two places overlap.
  EXPECT_EQ(match_count("(x:2) relu(relu(x)) => relu(x)",
                        "x = input (2, 2)\ny = input (2, 2)\na = relu(x)\nb = relu(a)\nc = relu(y)\nd = relu(c)\n"
                        "e = relu(d)\noutput b, e\n"),
            3u);
}

TEST(Matcher, ComparesRanks) {
  const std::string source = "(x:2) relu(relu(x)) => relu(x)";
  EXPECT_EQ(match_count(source, "x = input (2, 2)\na = relu(x)\nb = relu(a)\noutput b\n"), 1u);
  EXPECT_EQ(match_count(source, "x = input (2, 2, 2)\na = relu(x)\nb = relu(a)\noutput b\n"), 0u);
}

TEST(Matcher, TakesTheSameTensorWhereThePatternNamesOne) {
  const std::string source = "(x:2) ewadd(relu(x), x) => ewadd(x, relu(x))";
  // The sides differ in the order of operands alone: such a rule has nothing to do.
  EXPECT_THAT(Rewriter({rule(source)}).unusable(), SizeIs(1));
  const std::string doubled = "(x:2, w:2) ewadd(matmul(x, w), matmul(x, w)) => matmul(x, ewadd(w, w))";
  EXPECT_EQ(match_count(doubled, "x = input (2, 4)\nw = weight (4, 3)\nm = matmul(x, w)\ns = ewadd(m, m)\noutput s\n"),
            1u);
  EXPECT_EQ(match_count(doubled,
                        "x = input (2, 4)\nw = weight (4, 3)\nv = weight (4, 3)\nm = matmul(x, w)\n"
                        "n = matmul(x, v)\ns = ewadd(m, n)\noutput s\n"),
            0u);
}

TEST(Matcher, TakesTheSameApplicationWhereThePatternSharesOne) {
  const std::string doubled = "(x:2, w:2) let m = matmul(x, w) in ewadd(m, m) => matmul(x, ewadd(w, w))";
  const std::string weights = "x = input (2, 4)\nw = weight (4, 3)\nv = weight (4, 3)\n";
  EXPECT_EQ(match_count(doubled, weights + "m = matmul(x, w)\ns = ewadd(m, m)\noutput s\n"), 1u);
  // x w + x v is not x (w + w), whichever operand comes first and however many products there are.
  EXPECT_EQ(match_count(doubled, weights + "m = matmul(x, w)\nn = matmul(x, v)\ns = ewadd(m, n)\noutput s\n"), 0u);
  EXPECT_EQ(match_count(doubled, weights + "m = matmul(x, w)\nn = matmul(x, v)\ns = ewadd(n, m)\noutput s\n"), 0u);
}

TEST(Matcher, TakesTheSameApplicationThroughTwoUsers) {
  // relu serves both operands of the product; one of them is matched before it.
  const std::string shared =
      "(x:2, y:2) let r = relu(x) in ewmul(transpose(r), ewadd(r, y)) => ewmul(ewadd(relu(x), y), "
      "transpose(relu(relu(x))))";
  const std::string inputs =
      "x = input (3, 3)\ny = input (3, 3)\nz = input (3, 3)\na = relu(x)\nb = relu(z)\nt = transpose(a)\n";
  EXPECT_EQ(match_count(shared, inputs + "s = ewadd(a, y)\np = ewmul(t, s)\noutput p\n"), 1u);
  EXPECT_EQ(match_count(shared, inputs + "s = ewadd(b, y)\np = ewmul(t, s)\noutput p\n"), 0u);
}

TEST(Matcher, TakesOperandsOfCommutativeOperatorsInEitherOrder) {
  const std::string distribute = "(x:2, y:2, z:2) ewmul(x, ewadd(y, z)) => ewadd(ewmul(x, y), ewmul(x, z))";
  const std::string prefix = "x = input (2, 4)\ny = input (2, 4)\nz = input (2, 4)\ns = ewadd(y, z)\n";
  // y and z can be exchanged too.
  EXPECT_EQ(match_count(distribute, prefix + "p = ewmul(x, s)\noutput p\n"), 2u);
  EXPECT_EQ(match_count(distribute, prefix + "p = ewmul(s, x)\noutput p\n"), 2u);
  // matmul is not commutative.
  const std::string linear = "(x:2, y:2, z:2) matmul(x, ewadd(y, z)) => ewadd(matmul(x, y), matmul(x, z))";
  const std::string squares = "x = input (4, 4)\ny = input (4, 4)\nz = input (4, 4)\ns = ewadd(y, z)\n";
  EXPECT_EQ(match_count(linear, squares + "p = matmul(x, s)\noutput p\n"), 2u);
  EXPECT_EQ(match_count(linear, squares + "p = matmul(s, x)\noutput p\n"), 0u);
}

const char* const kMergeMatmuls =
    "(x:2, a:2, b:2) matmul(x, a), matmul(x, b) => let p, q = split[axis=1, sizes=[a.1, b.1]](matmul(x, "
    "concat[axis=1](a, b))) in p, q";

TEST(Matcher, MatchesSeveralOutputsThatShareAnInput) {
  const auto found = results(kMergeMatmuls, R"(
x = input (2, 4)
v = weight (4, 3)
w = weight (4, 5)
m = matmul(x, v)
n = matmul(x, w)
output m, n
)");
  ASSERT_THAT(found, SizeIs(2)) << "either matmul may be the first";
  EXPECT_THAT(found, Contains(same(R"(
x = input (2, 4)
v = weight (4, 3)
w = weight (4, 5)
c = concat[axis=1](v, w)
p = matmul(x, c)
m, n = split[axis=1, sizes=[3, 5]](p)
output m, n
)")));
}

TEST(Matcher, NeverMatchesOneTensorAsTwoOutputs) {
  EXPECT_EQ(match_count(kMergeMatmuls, "x = input (2, 4)\nw = weight (4, 3)\nm = matmul(x, w)\noutput m\n"), 0u);
}

TEST(Matcher, MatchesPartsThatNothingJoins) {
  const std::string both =
      "(x:2, y:2) relu(x), relu(y) => let p, q = split[axis=0, sizes=[x.0, y.0]](relu(concat[axis=0](x, y))) in p, q";
  EXPECT_EQ(match_count(both, "x = input (2, 4)\ny = input (3, 4)\na = relu(x)\nb = relu(y)\noutput a, b\n"), 2u);
}

TEST(Matcher, RefusesMatchesWhoseReplacementWouldBeCyclic) {
  // The second matmul needs the first one's result: merged, the product would be its own operand.
  const std::string merge =
      "(x:2, y:2, w:2) matmul(x, w), matmul(y, w) => let p, q = split[axis=0, sizes=[x.0, "
      "y.0]](matmul(concat[axis=0](x, y), w)) in p, q";
  const std::string inputs = "x = input (4, 4)\ny = input (4, 4)\nw = weight (4, 4)\nm = matmul(x, w)\n";
  EXPECT_EQ(match_count(merge, inputs + "r = relu(m)\nn = matmul(r, w)\noutput n\n"), 0u);
  EXPECT_EQ(match_count(merge, inputs + "n = matmul(m, w)\noutput m, n\n"), 0u);
  EXPECT_EQ(match_count(merge, inputs + "n = matmul(y, w)\noutput m, n\n"), 2u);
  EXPECT_EQ(match_count(merge, inputs + "r = relu(y)\nn = matmul(r, w)\noutput m, n\n"), 2u)
      << "an operand computed later than the first output, and not from it";
  // A chain beside the match is no obstacle.
  EXPECT_EQ(match_count(merge, inputs + "r = relu(m)\nn = matmul(y, w)\ns = ewadd(r, n)\noutput s\n"), 2u);
}

TEST(Matcher, KeepsWhatIsUsedOutsideTheMatch) {
  EXPECT_THAT(results("(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))", R"(
x = input (2, 4)
y = weight (4, 4)
z = weight (4, 3)
p = matmul(x, y)
q = matmul(p, z)
output p, q
)"),
              ElementsAre(same(R"(
x = input (2, 4)
y = weight (4, 4)
z = weight (4, 3)
p = matmul(x, y)
yz = matmul(y, z)
q = matmul(x, yz)
output p, q
)")));
}

TEST(Matcher, RedirectsEveryUseOfAnOutput) {
  EXPECT_THAT(results("(x:2) relu(relu(x)) => relu(x)", R"(
x = input (2, 2)
a = relu(x)
b = relu(a)
c = ewadd(a, b)
d = ewmul(b, c)
output d, b
)"),
              ElementsAre(same(R"(
x = input (2, 2)
a = relu(x)
c = ewadd(a, a)
d = ewmul(a, c)
output d, a
)")));
}

TEST(Matcher, ReplacesByABareInput) {
  EXPECT_THAT(results("(x:2) transpose(transpose(x)) => x", R"(
x = input (2, 4)
a = transpose(x)
b = transpose(a)
output b
)"),
              ElementsAre(same("x = input (2, 4)\noutput x\n")));
}

TEST(Matcher, ReplacesEachOutputOfASplit) {
  EXPECT_THAT(results("(x:2, y:2) let p, q = split[axis=0, sizes=[x.0, y.0]](concat[axis=0](x, y)) in p, q => x, y", R"(
x = input (2, 4)
y = input (3, 4)
c = concat(x, y)
p, q = split[sizes=[2, 3]](c)
r = relu(q)
output p, r
)"),
              ElementsAre(same("x = input (2, 4)\ny = input (3, 4)\nr = relu(y)\noutput x, r\n")));
}

TEST(Matcher, HoldsSizeParametersAgainstTheSizesOfInputs) {
  const std::string cancel =
      "(x:2, y:2) let p, q = split[axis=0, sizes=[x.0, y.0]](concat[axis=0](x, y)) in p, q => x, y";
  EXPECT_EQ(match_count(cancel,
                        "x = input (2, 4)\ny = input (3, 4)\nc = concat(x, y)\np, q = split[sizes=[3, 2]](c)\n"
                        "output p, q\n"),
            0u)
      << "the split is elsewhere than the concat";
}

TEST(Matcher, BindsSizesThatAreNoSizesOfInputs) {
  EXPECT_THAT(results("(x:2) let p, q = split[axis=0, sizes=[s0, s1]](relu(x)) in p, q => let p, q = split[axis=0, "
                      "sizes=[s0, s1]](x) in relu(p), relu(q)",
                      R"(
x = input (5, 4)
r = relu(x)
p, q = split[sizes=[2, 3]](r)
output p, q
)"),
              ElementsAre(same(R"(
x = input (5, 4)
p, q = split[sizes=[2, 3]](x)
a = relu(p)
b = relu(q)
output a, b
)")));
}

TEST(Matcher, EvaluatesThePreconditionOnTheSizesOfTheMatch) {
  const std::string guarded = "(x:2, w:2) relu(matmul(x, w)) => relu(relu(matmul(x, w))) where x.0 >= 3, 2 | w.1";
  const auto model = [](int rows, int columns) {
    return fmt::format("x = input ({}, 4)\nw = weight (4, {})\nm = matmul(x, w)\nr = relu(m)\noutput r\n", rows,
                       columns);
  };
  EXPECT_EQ(match_count(guarded, model(3, 2)), 1u);
  EXPECT_EQ(match_count(guarded, model(2, 2)), 0u);
  EXPECT_EQ(match_count(guarded, model(3, 3)), 0u);
}

TEST(Matcher, MatchesNoEmptyTensor) {
  EXPECT_EQ(match_count("(x:2) relu(relu(x)) => relu(x)", "x = input (0, 2)\na = relu(x)\nb = relu(a)\noutput b\n"), 0u)
      << "conditions of rules were derived for sizes of at least 1";
}

TEST(Matcher, MatchesOnePlaceOnceWhicheverOperatorItStartsFrom) {
  // Few matmuls and many relus, or the other way round: the start of matching changes, the matches do not.
  const std::string source = "(x:2, w:2) relu(matmul(x, w)) => matmul(x, w)";
  std::string many_relus = "x = input (4, 4)\nw = weight (4, 4)\nm = matmul(x, w)\nr0 = relu(m)\n";
  for (int i = 1; i < 5; ++i) many_relus += fmt::format("r{} = relu(r{})\n", i, i - 1);
  EXPECT_EQ(match_count(source, many_relus + "output r4\n"), 1u);
  std::string many_matmuls = "x = input (4, 4)\nw = weight (4, 4)\nm0 = matmul(x, w)\nr = relu(m0)\n";
  many_matmuls += "m1 = matmul(r, w)\nm2 = matmul(m1, w)\nm3 = matmul(m2, w)\n";
  EXPECT_EQ(match_count(source, many_matmuls + "output m3\n"), 1u);
}

TEST(Rewriter, SaysWhichRulesCanNeverBeApplied) {
  Rule grows = rule("(x:2) transpose(transpose(x)) => x");
  std::swap(grows.source, grows.target);
  const Rewriter rewriter(
      {grows, rule("(x:2) relu(relu(x)) => relu(x)"), rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)")});
  ASSERT_THAT(rewriter.unusable(), SizeIs(2));
  EXPECT_EQ(rewriter.unusable()[0].rule, 0u);
  EXPECT_THAT(rewriter.unusable()[0].reason, HasSubstr("bare input"));
  EXPECT_EQ(rewriter.unusable()[1].rule, 2u);
  EXPECT_THAT(rewriter.unusable()[1].reason, HasSubstr("order of operands"));
}

TEST(Rewriter, RefusesAMatchWhoseTargetIsNotDefined) {
  // A rule whose precondition was lost: its target needs equal sizes that its source does not.
  Rule wrong = rule("(x:2, y:2) concat[axis=0](x, y) => concat[axis=0](ewadd(x, y), y) where x.0 = y.0");
  wrong.precondition.clear();
  const Rewriter rewriter({wrong});
  const Graph start = graph("x = input (2, 4)\ny = input (3, 4)\nc = concat(x, y)\noutput c\n");
  const auto matches = rewriter.matches(start);
  ASSERT_THAT(matches, SizeIs(1));
  const auto replaced = rewriter.apply(start, matches[0]);
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().code, ErrorCode::kShape);
}

TEST(Matcher, ComparesNumbersWithAFraction) {
  const std::string source = "(x:2) relu(leaky_relu[alpha=0.25](x)) => relu(x)";
  const auto model = [](const char* alpha) {
    return fmt::format("x = input (2, 2)\na = leaky_relu[alpha={}](x)\nb = relu(a)\noutput b\n", alpha);
  };
  EXPECT_EQ(match_count(source, model("0.25")), 1u);
  EXPECT_EQ(match_count(source, model("0.5")), 0u);
}

TEST(Rewriter, SaysThatASourceLeavesAnInputOpen) {
  Rule open = rule("(x:2) relu(relu(x)) => relu(x)");
  open.inputs.push_back({"y", 2});
  for (Pattern* side : {&open.source, &open.target}) {  // Nodes count from behind the inputs.
    const auto move = [](Port& port) {
      if (port.node.value >= 1) ++port.node.value;
    };
    for (PatternNode& node : side->nodes)
      for (Port& port : node.inputs) move(port);
    for (Port& port : side->outputs) move(port);
  }
  const Rewriter rewriter({open});
  ASSERT_THAT(rewriter.unusable(), SizeIs(1));
  EXPECT_THAT(rewriter.unusable()[0].reason, HasSubstr("its source does not use input y"));
}

TEST(Rewriter, AppliesNoMatchOfARuleThatCannotBeApplied) {
  Rule grows = rule("(x:2) transpose(transpose(x)) => x");
  std::swap(grows.source, grows.target);
  const Rewriter rewriter({grows, rule("(x:2) relu(relu(x)) => relu(x)")});
  const Graph start = graph("x = input (2, 4)\na = relu(x)\nb = relu(a)\noutput b\n");
  auto matches = rewriter.matches(start);
  ASSERT_THAT(matches, SizeIs(1));
  matches[0].rule = 0;
  EXPECT_EQ(rewriter.apply(start, matches[0]).error().message, "the match names rule 0, which cannot be applied");
}

TEST(Rewriter, RefusesATargetOfAnotherElementType) {
  // Wrong: it exchanges its outputs, which are of one shape here.
  const Rewriter rewriter(
      {rule("(x:2, y:2) relu(x), relu(relu(y)) => relu(relu(y)), relu(x) where x.0 = y.0, x.1 = y.1")});
  GraphBuilder builder(&rewright::testing::loaded());
  const Port x = *builder.input("x", {Shape{2, 2}, ElementType::kFloat32});
  const Port y = *builder.input("y", {Shape{2, 2}, ElementType::kFloat64});
  builder.output(*builder.apply1("relu", {}, {x}));
  builder.output(*builder.apply1("relu", {}, {*builder.apply1("relu", {}, {y})}));
  const Graph start = builder.finish();
  bool refused = false;
  for (const Match& match : rewriter.matches(start)) {
    const auto replaced = rewriter.apply(start, match);
    refused = refused || (!replaced && replaced.error().message.find("would change the element type of a tensor") !=
                                           std::string::npos);
  }
  EXPECT_TRUE(refused);
}

TEST(Rewriter, RefusesATargetOfAnotherShape) {
  Rule wrong = rule("(x:2) relu(relu(x)) => relu(x)");
  wrong.target = rule("(x:2) relu(transpose(x)) => transpose(x)").target;
  const Rewriter rewriter({wrong});
  const Graph start = graph("x = input (2, 4)\na = relu(x)\nb = relu(a)\noutput b\n");
  const auto replaced = rewriter.apply(start, rewriter.matches(start).at(0));
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().code, ErrorCode::kInternal);
  EXPECT_THAT(replaced.error().message, HasSubstr("(4, 2)"));
}

TEST(Rewriter, AppliesInADeepGraph) {
  std::string text = "x = input (1, 1)\nv0 = relu(x)\n";
  constexpr int kDepth = 20'000;
  for (int i = 1; i < kDepth; ++i) text += fmt::format("v{} = {}(v{})\n", i, i == 1 ? "relu" : "transpose", i - 1);
  const Graph start = graph(text + fmt::format("output v{}\n", kDepth - 1));
  const Rewriter rewriter({rule("(x:2) relu(relu(x)) => relu(x)")});
  const auto matches = rewriter.matches(start);
  ASSERT_THAT(matches, SizeIs(1));
  const auto replaced = rewriter.apply(start, matches[0]);
  ASSERT_TRUE(replaced) << replaced.error().message;
  EXPECT_EQ(replaced->operator_count(), start.operator_count() - 1);
}

}  // namespace
}  // namespace rewright
