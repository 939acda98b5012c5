// The page of an optimisation: what has changed is marked, what a model calls its tensors cannot break the page.
#include "report/optimization.h"

#include <gmock/gmock.h>

#include "report/graph_difference.h"
#include "support/operators.h"

namespace rewright::testing {
namespace {

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
  EXPECT_THAT(changed(thrice, once), ElementsAre("tanh")) << "the first and the last have counterparts";
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

TEST(OptimizationPage, TellsTheStory) {
  OptimizationStory story{"model.onnx", "greedy", "flops", {{"equal", "yes"}}, {}, {}, &kBefore, &kAfter};
  story.rewrites = {{"merge-two", "(x:2) relu(relu(x)) => relu(x)", 12.5, 2.5}};
  story.curve = {{0, 0, 12.5}, {0.5, 10, 2.5}, {1, 1234, 2.5}};
  const auto page = optimization_page(story);
  ASSERT_TRUE(page) << page.error().message;
  for (const char* part :
       {"model.onnx", "merge-two", "relu(relu(x)) =&gt; relu(x)", "12.5", "1,234 candidates", "class=\"rw-plot\""})
    EXPECT_THAT(*page, HasSubstr(part));
  for (const char* part : {"href=\"http", "src=", "url("})
    EXPECT_THAT(*page, Not(HasSubstr(part))) << "nothing is asked for over the network";
}

TEST(OptimizationPage, EscapesWhatAModelCallsThings) {
  OptimizationStory story{"<script>alert(1)</script>", "s", "c", {}, {{"<b>", "", 1, 1}}, {}, nullptr, nullptr};
  const auto page = optimization_page(story);
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, Not(HasSubstr("<script>")));
  EXPECT_THAT(*page, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace rewright::testing
