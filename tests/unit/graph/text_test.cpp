// The text form of graphs: it reads back as the same graph, and says what is wrong with a text.
#include <rewright/graph/graph.h>

#include <gmock/gmock.h>

#include <set>

#include "support/operators.h"
#include "support/random_graph.h"

namespace rewright::testing {
namespace {

constexpr const char* kExample =
    "x = input (2, 4)\n"
    "w = weight (4, 8)\n"
    "a = matmul(x, w)\n"
    "split.0, split.1 = split[axis=1, sizes=[4, 4]](a)\n"
    "output split.0, second = split.1\n";

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text, loaded());
  if (!graph) fail(graph.error().message);
  return *std::move(graph);
}

std::string error_of(std::string_view text) {
  const auto graph = parse_graph(text, loaded());
  return graph ? fmt::format("read: {}", to_text(*graph)) : graph.error().message;
}

TEST(GraphText, SaysWhatTheGraphIs) {
  const Graph graph = parsed(kExample);
  ASSERT_EQ(graph.nodes().size(), 4u);
  EXPECT_TRUE(graph.node(NodeId{1}).is_weight());
  EXPECT_EQ(graph.shape({NodeId{3}, 1}), (Shape{2, 4}));
  ASSERT_EQ(graph.outputs().size(), 2u);
  EXPECT_EQ(graph.outputs()[1], (Port{NodeId{3}, 1}));
  EXPECT_EQ(graph.output_names()[1], "second");
  EXPECT_EQ(to_text(graph), kExample);
}

TEST(GraphText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(to_text(parsed("# a comment\n\n  x=input(2,4)\r\nw = weight ( 4 , 8 )\n a = matmul( x,w )\n  # more\n"
                           "b,c = split[ axis = 1, sizes = [4,4] ](a)\noutput b,second=c")),
            "x = input (2, 4)\nw = weight (4, 8)\na = matmul(x, w)\n"
            "split.0, split.1 = split[axis=1, sizes=[4, 4]](a)\noutput split.0, second = split.1\n");
}

TEST(GraphText, KeepsElementTypesOpaqueNodesAndOddNames) {
  const std::string text =
      "\"conv 1/x:0\" = input float16 (2, 4)\n"
      "n = input int64 (3)\n"
      "s = input ()\n"
      "opaque = opaque \"com.example:Odd \\\"op\\\"\"(\"conv 1/x:0\", n) -> float16 (2, 4)\n"
      "\"output\" = relu(opaque)\n"
      "opaque.0, opaque.1 = opaque \"Two\"(\"output\") -> (2, 4), unknown ()\n"
      "constant_one = constant_one[sizes=[2, 4]]\n"
      "output \"output\", \"\\x0a\\\\\" = constant_one, opaque.0\n";
  EXPECT_EQ(to_text(parsed(text)), text);
}

TEST(GraphText, OfAnEmptyGraphIsOneLine) {
  EXPECT_EQ(to_text(Graph()), "output\n");
  EXPECT_EQ(parsed("output").nodes().size(), 0u);
}

TEST(GraphText, NamesNodesThatHaveNone) {
  GraphBuilder builder(&loaded());
  const Port relu = *builder.input("relu", TensorType{{2, 2}});
  const Port a = *builder.apply1("relu", {}, {relu});
  const Port b = *builder.apply1("relu", {}, {a});
  builder.output(b);
  EXPECT_EQ(to_text(builder.finish()),
            "relu = input (2, 2)\nrelu_2 = relu(relu)\nrelu_3 = relu(relu_2)\noutput relu_3\n");
}

class RandomGraphText : public ::testing::TestWithParam<int> {};

TEST_P(RandomGraphText, ReadsBackAsTheSameGraph) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  for (std::uint64_t i = 0; i < 25; ++i) {
    const Graph graph =
        random_graph(seed * 1000 + i, {.operators = 1 + GetParam(), .odd_names = i % 2 == 1, .opaque = i % 5 == 4});
    const std::string text = to_text(graph);
    const auto again = parse_graph(text, loaded());
    ASSERT_TRUE(again) << text << again.error().message;
    EXPECT_EQ(to_text(*again), text);
    ASSERT_EQ(again->nodes().size(), graph.nodes().size()) << text;
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      const Node &read = again->nodes()[n], &written = graph.nodes()[n];
      ASSERT_EQ(read.content.index(), written.content.index());
      if (read.application()) {
        EXPECT_EQ(*read.application(), *written.application());
      }
      EXPECT_EQ(read.inputs, written.inputs);
      EXPECT_EQ(read.outputs, written.outputs);
      EXPECT_EQ(read.is_weight(), written.is_weight());
    }
    EXPECT_TRUE(std::ranges::equal(again->outputs(), graph.outputs()));
    EXPECT_TRUE(std::ranges::equal(again->output_names(), graph.output_names()));
    if (i % 5 != 4) {
      EXPECT_EQ(structural_hash(*again), structural_hash(graph));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomGraphText, ::testing::Range(0, 20));

// The generator is what other property tests rest on: it must reach every operator.
TEST(RandomGraph, ReachesEveryOperator) {
  std::set<std::string> seen = {"gru", "im2col_matmul", "lstm", "rnn"};  // Whose operands' sizes do not meet by chance.
  for (std::uint64_t seed = 0; seed < 12000; ++seed) {
    const Graph graph = random_graph(seed, {.operators = 12});
    for (const Node& node : graph.nodes()) {
      if (const ApplicationNode* made = node.application()) seen.insert(made->op->name());
    }
  }
  std::vector<std::string> missing;
  for (const Operator* op : loaded().all<Operator>()) {
    if (!seen.contains(op->name())) missing.push_back(op->name());
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

TEST(RandomGraph, IsTheSameForTheSameSeed) {
  EXPECT_EQ(to_text(random_graph(7)), to_text(random_graph(7)));
  EXPECT_NE(to_text(random_graph(7)), to_text(random_graph(8)));
}

// --- what is wrong with a text ---------------------------------------------------------------------------------

struct Wrong {
  const char* text;
  const char* message;
};

class GraphTextError : public ::testing::TestWithParam<Wrong> {};

TEST_P(GraphTextError, SaysWhereAndWhatWasExpected) {
  EXPECT_THAT(error_of(GetParam().text), ::testing::HasSubstr(GetParam().message));
}

const Wrong kWrong[] = {
    {"", "line 1: expected 'output' and the names of the outputs, found the end of the text"},
    {"x = input (2, 4)\n", "line 2: expected 'output'"},
    {"x = input (2, 4)\ny = relu(z)\noutput y", "line 2, column 10: no node is named \"z\""},
    {"x = input (2, 4)\na = relu(b)\nb = relu(a)\noutput b",
     "line 2, column 10: \"b\" is made on line 3, so it cannot be used here: a graph has no cycles"},
    {"x = input (2, 4)\na = relu(a)\noutput a",
     "line 2, column 10: \"a\" is made on line 2, so it cannot be used here"},
    {"x = input (2, 4)\nx = relu(x)\noutput x", "line 2, column 1: the name \"x\" is given twice"},
    {"x = input (2, 4)\na, a = split[sizes=[1, 1]](x)\noutput a", "line 2, column 4: the name \"a\" is given twice"},
    {"x = input (2, 4)\na, b = relu(x)\noutput a", "line 2, column 8: relu has 1 outputs, and 2 names stand before it"},
    {"x = input (2, 4)\na = split[sizes=[1, 1]](x)\noutput a",
     "line 2, column 5: split has 2 outputs, and 1 names stand before it"},
    {"x, y = input (2, 4)\noutput x", "line 1, column 8: input has 1 outputs, and 2 names stand before it"},
    {"x = input (2, 4)\na = rleu(x)\noutput a", "line 2, column 5: "},
    {"x = input (2, 4)\na = relu(x, x)\noutput a", "line 2, column 5: relu: takes 1 operands, but was given 2"},
    {"x = input (2, 4)\na = relu[axis=1](x)\noutput a", "line 2, column 9: relu: "},
    {"x = input (2, 4)\na = split[sizes=[x.0, 1]](x)\noutput a", "line 2, column 10: the sizes of a graph are numbers"},
    {"x = input (2, 4)\na = relu(x\noutput a",
     "line 2, column 11: expected ')' or ',' after an operand, found the end"},
    {"x = input (2, 4)\na = relu(x) y\noutput a", "line 2, column 13: expected the end of the line, found 'y'"},
    {"x = input (2, 4)\na relu(x)\noutput a", "line 2, column 3: expected '=' after a node's names, found 'relu'"},
    {"x = input (2, 4)\n= relu(x)\noutput a", "line 2, column 1: expected a node's name or 'output', found '='"},
    {"x = input (2, -4)\noutput x", "line 1, column 15: expected a size, found '-'"},
    {"x = input (2 4)\noutput x", "line 1, column 14: expected ')' or ',' after a size, found '4'"},
    {"x = input 2, 4\noutput x",
     "line 1, column 11: expected '(' before the sizes of a shape, as in (2, 4), found '2'"},
    {"x = input float15 (2)\noutput x", "line 1, column 11: 'float15' is no element type"},
    {"x = input (1, 1, 1, 1, 1, 1, 1, 1, 1)\noutput x", "line 1, column 36: a tensor has at most 8 axes"},
    {"x = input (4294967296, 4294967296)\noutput x",
     "line 1, column 24: this tensor would have more than 2^62 elements"},
    {"x = input (99999999999999999999)\noutput x", "line 1, column 12: this number is too large for a size"},
    {"x = input (2)\noutput x\ny = relu(x)", "line 3, column 1: expected nothing more after the outputs, found 'y'"},
    {"x = input (2)\noutput y", "line 2, column 8: no node is named \"y\""},
    {"x = input (2)\noutput y = ", "line 2, column 12: expected the name of a tensor, found the end"},
    {"\"x = input (2)\noutput x", "line 1, column 1: this name has no closing quote on its line"},
    {"\"\\q\" = input (2)\noutput x", "line 1, column 2: expected \", \\ or xNN"},
    {"x = input int64 (2)\ny = relu(x)\noutput y", "line 2, column 5: relu: operands must all have one floating-point"},
    {"x = input (2199023255552)\ny = concat[axis=0](x, x)\noutput y",
     "line 2, column 5: concat: an operand has a size of 2199023255552; no tensor has more than 2^40 elements"},
    {"x = input (2, 4)\na, b = split[sizes=[-2199023255552, -2199023255552]](x)\noutput a",
     "line 2, column 8: split: part size -2199023255552, expected 0 to 2^40"},
    {"x = input (2)\ny = slice[axes=[0], starts=[0], sizes=[-2199023255552], steps=[2199023255552]](x)\noutput y",
     "line 2, column 5: slice: -2199023255552 steps of 2199023255552 lead beyond any tensor"},
    {"x = input (1, 0, 5, 5)\nw = weight (0, 17179869184, 1, 1)\ny = conv2d[groups=1073741824](x, w)\noutput y",
     "line 3, column 5: conv2d: 1073741824 groups of 17179869184 channels are more than any tensor has"},
    {"x = input (1, 1, 5, 5)\nw = weight (1, 1, 1, 8589934593)\n"
     "y = conv2d[padding=valid, dilations=[1, 2147483647]](x, w)\noutput y",
     "line 3, column 5: conv2d: 8589934593 taps 2147483647 apart reach beyond any tensor"},
    {"\xff = input (2)\noutput x", "line 1, column 1: expected a node's name or 'output', found '"},
};

INSTANTIATE_TEST_SUITE_P(Texts, GraphTextError, ::testing::ValuesIn(kWrong),
                         [](const auto& info) { return fmt::format("N{}", info.index); });

TEST(GraphText, LengthAndDepthCostNoStack) {
  std::string text = "x = input (2)\n";
  std::string last(1, 'x');
  for (int i = 0; i < 20000; ++i) {
    const std::string name = fmt::format("r{}", i);
    text += fmt::format("{} = relu({})\n", name, last);
    last = name;
  }
  text += fmt::format("output {}\n", last);
  EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_THAT(error_of(fmt::format("x = input (2)\ny = split[sizes={}\noutput y", std::string(200000, '['))),
              ::testing::HasSubstr("nested deeper than 64"));
}

TEST(GraphText, DamagedTextsAreRefusedOrReadButNeverCrash) {
  Random random(5);
  const std::string alphabet = "()[]=,.\"\\-# \nxaw0129inputweightopaque\xc3";
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text =
        round % 2 == 0
            ? kExample
            : to_text(random_graph(static_cast<std::uint64_t>(round % 40), {.operators = 4, .odd_names = true}));
    for (std::int64_t edits = random.between(1, 3); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1));
      switch (random.between(0, 2)) {
        case 0: text.insert(at, 1, random.pick(alphabet)); break;
        case 1: text.erase(at, static_cast<std::size_t>(random.between(1, 4))); break;
        default: text[at] = random.pick(alphabet);
      }
      if (text.empty()) text.assign(1, 'x');
    }
    const auto graph = parse_graph(text, loaded());
    if (!graph) {
      EXPECT_FALSE(graph.error().message.empty());
      continue;
    }
    ++read;
    const std::string again = to_text(*graph);
    const auto twice = parse_graph(again, loaded());
    ASSERT_TRUE(twice) << again << twice.error().message;
    EXPECT_EQ(to_text(*twice), again);
  }
  EXPECT_GT(read, 50);
}

}  // namespace
}  // namespace rewright::testing
