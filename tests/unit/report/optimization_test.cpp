// The page of an optimisation: what has changed is marked, what a model calls its tensors cannot break the page.
#include "report/optimization.h"

#include <gmock/gmock.h>

#include "report/change_drawing.h"
#include "report/graph_difference.h"
#include "support/operators.h"

namespace rewright::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Graph graph_of(std::string_view text) { return *parse_graph(text, loaded()); }

/// Operators (or names of inputs) of the nodes that are marked.
std::vector<std::string> changed(const Graph& graph, const Graph& other) {
  std::vector<std::string> names;
  const std::vector<bool> marks = changed_nodes(graph, other);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (marks[i]) names.push_back(node.application() ? node.application()->op->name() : node.name);
  }
  return names;
}

const Graph kBefore = graph_of(
    "x = input (4, 4)\nw = weight (4, 4)\nv = weight (4, 4)\na = tanh(x)\nb = matmul(a, w)\nc = matmul(a, v)\n"
    "d = ewadd(b, c)\ne = relu(d)\nf = exp(e)\noutput f\n");
const Graph kAfter = graph_of(
    "x = input (4, 4)\nw = weight (4, 4)\nv = weight (4, 4)\na = tanh(x)\nu = ewadd(w, v)\nd = matmul(a, u)\n"
    "e = relu(d)\nf = exp(e)\noutput f\n");

TEST(GraphDifference, MarksWhatWasReplacedAndNothingElse) {
  EXPECT_THAT(changed(kBefore, kAfter), ElementsAre("matmul", "matmul", "ewadd"));
  EXPECT_THAT(changed(kAfter, kBefore), ElementsAre("ewadd", "matmul"));
}

TEST(GraphDifference, OfAGraphWithItselfIsNothing) {
  EXPECT_THAT(changed(kBefore, kBefore), ElementsAre());
  const Graph renamed = graph_of("x = input (4, 4)\nq = tanh(x)\noutput q\n");
  EXPECT_THAT(changed(renamed, graph_of("x = input (4, 4)\nr = tanh(x)\noutput r\n")), ElementsAre());
}

TEST(GraphDifference, CountsHowOftenSomethingIsThere) {
  const Graph once = graph_of("x = input (4)\na = tanh(x)\noutput a\n");
  const Graph thrice = graph_of("x = input (4)\na = tanh(x)\nb = tanh(a)\nc = tanh(b)\noutput c\n");
  EXPECT_THAT(changed(thrice, once), ElementsAre("tanh", "tanh")) << "no two nodes are one";
  EXPECT_THAT(changed(once, thrice), ElementsAre());
}

TEST(GraphDifference, SeesThatANodeHasOtherWeights) {
  const Graph before = graph_of("x = input (4, 4)\nw = weight (4, 4)\na = matmul(x, w)\nb = relu(a)\noutput b\n");
  const Graph after =
      graph_of("x = input (4, 4)\nw = weight (4, 4)\nu = transpose(w)\na = matmul(x, u)\nb = relu(a)\noutput b\n");
  EXPECT_THAT(changed(before, after), ElementsAre("matmul"));
  EXPECT_THAT(changed(after, before), ElementsAre("transpose", "matmul"));
}

TEST(GraphDifference, OfTwoChangesLeavesOutWhatLiesBetween) {
  const Graph before = graph_of(
      "x = input (4, 4)\na = neg(x)\nb = neg(a)\nc = relu(b)\nd = neg(c)\ne = neg(d)\nf = tanh(e)\noutput f\n");
  const Graph after = graph_of("x = input (4, 4)\nc = relu(x)\nf = tanh(c)\noutput f\n");
  EXPECT_THAT(changed(before, after), Not(Contains("tanh")));
  EXPECT_THAT(changed(after, before), Not(Contains("tanh")));
  const Graph swapped = graph_of("x = input (4, 4)\na = relu(x)\nb = tanh(a)\nc = exp(b)\noutput c\n");
  const Graph original = graph_of("x = input (4, 4)\na = tanh(x)\nb = relu(a)\nc = exp(b)\noutput c\n");
  EXPECT_THAT(changed(original, swapped), ElementsAre("tanh", "relu")) << "their order is what changed";
}

TEST(GraphDifference, PairsAreReversedByReversing) {
  const Counterparts there = counterparts(kBefore, kAfter);
  const Counterparts back = reversed(there, kAfter.nodes().size());
  for (std::uint32_t i = 0; i < there.size(); ++i) {
    if (there[i]) {
      EXPECT_EQ(back[*there[i]], i);
    }
  }
  EXPECT_EQ(std::ranges::count_if(back, [](const auto& pair) { return !pair; }), 2)
      << "the sum of weights and its product";
}

TEST(OptimizationDrawing, LeavesOutWeightsAndWorkOnThem) {
  const std::string dot = changes_as_dot(kAfter, changed_nodes(kAfter, kBefore));
  EXPECT_THAT(dot, HasSubstr("matmul"));
  EXPECT_THAT(dot, Not(HasSubstr("ewadd")));
}

TEST(OptimizationDrawing, OfALargeGraphShowsWhatLiesAroundTheChanges) {
  std::string text = "x = input (4)\na0 = tanh(x)\n";
  for (int i = 1; i < 20; ++i) text += fmt::format("a{} = tanh(a{})\n", i, i - 1);
  const Graph chain = graph_of(text + "output a19\n");
  std::vector<bool> marks(chain.nodes().size(), false);
  marks[10] = true;
  const auto boxes = [&](std::size_t most) {
    const std::string dot = changes_as_dot(chain, marks, most);
    std::size_t count = 0;
    for (std::size_t at = dot.find("tanh"); at != std::string::npos; at = dot.find("tanh", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(boxes(150), 20u);
  EXPECT_EQ(boxes(5), 5u) << "the marked one, two before and two behind";
  EXPECT_THAT(changes_as_dot(chain, marks, 5), HasSubstr("...")) << "more is before it";
}

/// How often `part` stands in `text`.
std::size_t times(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST(OptimizationDrawing, OfAStepHasBothGraphsAndWhatStaysOnce) {
  const auto dot = step_as_dot(kBefore, kAfter, counterparts(kBefore, kAfter));
  ASSERT_TRUE(dot);
  EXPECT_EQ(times(*dot, "class=\"op gone\""), 3u) << *dot;
  EXPECT_EQ(times(*dot, "class=\"op new\""), 2u) << "work on weights that comes is drawn";
  EXPECT_EQ(times(*dot, "<b>tanh</b>"), 1u);
  EXPECT_EQ(times(*dot, "class=\"op\""), 3u) << "tanh, relu and exp have no colour";
  EXPECT_EQ(times(*dot, "class=\"weight\""), 2u);
}

TEST(OptimizationDrawing, OfAStepThatChangesNothingIsNone) {
  EXPECT_FALSE(step_as_dot(kBefore, kBefore, counterparts(kBefore, kBefore)));
}

TEST(OptimizationDrawing, OfAStepInALargeGraphShowsWhatLiesAround) {
  const auto chain = [](std::string_view middle) {
    std::string text = "x = input (4)\na0 = tanh(x)\n";
    for (int i = 1; i < 40; ++i) text += fmt::format("a{} = {}(a{})\n", i, i == 20 ? middle : "tanh", i - 1);
    return graph_of(text + "output a39\n");
  };
  const Graph before = chain("exp"), after = chain("relu");
  const auto dot = step_as_dot(before, after, counterparts(before, after), 10);
  ASSERT_TRUE(dot);
  EXPECT_EQ(times(*dot, "<b>tanh</b>"), 4u);
  EXPECT_EQ(times(*dot, " gone\""), 1u);
  EXPECT_EQ(times(*dot, " new\""), 1u);
}

TEST(OptimizationPage, TellsTheStory) {
  OptimizationStory story{"model.onnx", "greedy", "flops", {{"equal", "yes"}}, {}, {}, &kBefore, &kAfter};
  const Rule rule = *parse_rule("(x:2) relu(relu(x)) => relu(x)", loaded());
  story.rewrites = {{"merge-two", "(x:2) relu(relu(x)) => relu(x)", 12.5, 2.5, "exact", &rule, &kAfter}};
  story.curve = {{0, 0, 12.5}, {0.5, 10, 2.5}, {1, 1234, 2.5}};
  const auto page = optimization_page(story);
  ASSERT_TRUE(page) << page.error().message;
  for (const char* part : {"model.onnx", "merge-two", "relu(relu(x)) =&gt; relu(x)", "12.5", "1,234 candidates",
                           "class=\"rw-plot\"", "id=\"rewrite-1\"", "href=\"#rewrite-1\"", "exact"})
    EXPECT_THAT(*page, HasSubstr(part));
  for (const char* part : {"href=\"http", "src=", "url("})
    EXPECT_THAT(*page, Not(HasSubstr(part))) << "nothing is asked for over the network";
  EXPECT_EQ(times(*page, "<h1>"), 1u);
  EXPECT_EQ(times(*page, "<main"), 1u);
  EXPECT_EQ(times(*page, "class=\"pane\""), 3u) << "the step, the graph before, the graph after";
  EXPECT_EQ(times(*page, "<figcaption>The rule&#39;s source"), 1u);
}

TEST(OptimizationPage, ColoursWhatRewritesTouchedAndNotWhatLiesBetweenThem) {
  const Graph start =
      graph_of("x = input (4, 4)\na = neg(x)\nb = neg(a)\nc = relu(b)\nd = exp(c)\ne = log(d)\noutput e\n");
  const Graph middle = graph_of("x = input (4, 4)\nc = relu(x)\nd = exp(c)\ne = log(d)\noutput e\n");
  const Graph end = graph_of("x = input (4, 4)\nc = relu(x)\noutput c\n");
  OptimizationStory story{"m", "s", "c", {}, {}, {}, &start, &end};
  story.rewrites = {{"one", "", 3, 2, "", nullptr, &middle}, {"two", "", 2, 1, "", nullptr, &end}};
  const auto page = optimization_page(story);
  ASSERT_TRUE(page) << page.error().message;
  const std::string_view whole = std::string_view(*page).substr(page->find("<section id=\"graph\""));
  EXPECT_EQ(times(whole.substr(0, whole.find("</section>")), "class=\"node op touched\""), 4u)
      << "both negations, exp and log; relu stays";
}

TEST(OptimizationPage, ColoursWhatGotOtherWeightsInAnyStep) {
  const std::string head = "x = input (4, 4)\nw = weight (4, 4)\n";
  const Graph start = graph_of(head + "a = matmul(x, w)\nb = relu(a)\nc = relu(b)\noutput c\n");
  const Graph middle = graph_of(head + "u = transpose(w)\na = matmul(x, u)\nb = relu(a)\nc = relu(b)\noutput c\n");
  const Graph end = graph_of(head + "u = transpose(w)\na = matmul(x, u)\nb = relu(a)\noutput b\n");
  OptimizationStory story{"m", "s", "c", {}, {}, {}, &start, &end};
  story.rewrites = {{"one", "", 3, 2, "", nullptr, &middle}, {"two", "", 2, 1, "", nullptr, &end}};
  const auto page = optimization_page(story);
  ASSERT_TRUE(page) << page.error().message;
  const std::string_view whole = std::string_view(*page).substr(page->find("<section id=\"graph\""));
  EXPECT_EQ(times(whole.substr(0, whole.find("</section>")), "class=\"node op touched\""), 3u)
      << "the product on both sides, and one relu before";
}

TEST(OptimizationPage, ShowsTimeByItsLogarithmWhereAllIsFoundEarly) {
  OptimizationStory story{"m", "s", "c", {}, {}, {{0, 0, 9}, {0.001, 5, 3}, {2, 99, 3}}, nullptr, nullptr};
  EXPECT_THAT(*optimization_page(story), HasSubstr("seconds, logarithmic"));
  story.curve = {{0, 0, 9}, {1, 5, 3}, {2, 99, 3}};
  EXPECT_THAT(*optimization_page(story), Not(HasSubstr("seconds, logarithmic")));
}

TEST(OptimizationPage, EscapesWhatAModelCallsThings) {
  OptimizationStory story{"<script>alert(1)</script>", "s", "c", {}, {{"<b>", "", 1, 1}}, {}, nullptr, nullptr};
  const auto page = optimization_page(story);
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(*page, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace rewright::testing
