// Drawings: every node and edge is there, names cannot break the syntax, and Graphviz accepts what is written.
#include "report/dot.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/operators.h"
#include "support/random_graph.h"

namespace rewright::testing {
namespace {

using ::testing::HasSubstr;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool has_graphviz() {
  const auto drawn = render_svg("digraph {}");
  return drawn || drawn.error().code != ErrorCode::kNotFound;
}

TEST(Dot, ShowsEveryNodeAndOperand) {
  const auto graph = parse_graph(
      "x = input (2, 4)\nw = weight (4, 8)\na = matmul(x, w)\nb, c = split[axis=1, sizes=[4, 4]](a)\n"
      "d = ewadd(b, c)\ne = opaque \"Odd\"(d) -> (2)\noutput sum = d, e",
      loaded());
  ASSERT_TRUE(graph) << graph.error().message;
  const std::string dot = to_dot(*graph);
  EXPECT_THAT(dot, HasSubstr("n0 [label=\"x\\n(2, 4)\", style=\"rounded,filled\", fillcolor=\"#dbe9f6\"]"));
  EXPECT_THAT(dot, HasSubstr("n1 [label=\"w\\n(4, 8)\", style=\"rounded,filled\", fillcolor=\"#e4e4e4\"]"));
  EXPECT_THAT(dot, HasSubstr("n3 [label=\"split\\n[axis=1, sizes=[4, 4]]\\n(2, 4) (2, 4)\", style=solid]"));
  EXPECT_THAT(dot, HasSubstr("n5 [label=\"Odd\\n(2)\", style=dashed]"));
  EXPECT_THAT(dot, HasSubstr("n1 -> n2 [headlabel=\"1\"];"));
  EXPECT_THAT(dot, HasSubstr("n2 -> n3;"));
  EXPECT_THAT(dot, HasSubstr("n3 -> n4 [taillabel=\"1\"];"));
  EXPECT_THAT(dot, HasSubstr("out0 [label=\"sum\""));
  EXPECT_EQ(count(dot, " -> "), 8u);
}

TEST(Dot, EscapesNames) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("a\"b\\c\nd\x01\xff\xc3\xa9", TensorType{{2}});
  builder.output(x, "\"]; evil [label=\"");
  const std::string dot = to_dot(builder.finish());
  EXPECT_THAT(dot, HasSubstr("label=\"a\\\"b\\\\c\\nd??\xc3\xa9\\n(2)\""));
  EXPECT_THAT(dot, HasSubstr("label=\"\\\"]; evil [label=\\\"\""));
}

TEST(Dot, DrawsBothSidesOfARuleWithInputsColouredAlike) {
  const auto rule = parse_rule(
      "(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v)) where w.2 = v.2, w.3 = v.3",
      loaded());
  ASSERT_TRUE(rule) << rule.error().message;
  const std::string dot = to_dot(*rule);
  for (const char* input :
       {"0 [label=\"x\\n(x.0, x.1, x.2, x.3)\", style=\"rounded,filled\", fillcolor=\"#aed6f1\"]",
        "1 [label=\"w\\n(w.0, w.1, w.2, w.3)\", style=\"rounded,filled\", fillcolor=\"#f9d29b\"]"}) {
    EXPECT_THAT(dot, HasSubstr(std::string("s") + input));
    EXPECT_THAT(dot, HasSubstr(std::string("t") + input));
  }
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_source"));
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_target"));
  EXPECT_THAT(dot, HasSubstr("where w.2 = v.2, w.3 = v.3"));
  EXPECT_THAT(dot, HasSubstr("trust: none"));
}

TEST(Svg, IsDrawnForRandomGraphsWithOddNames) {
  if (!has_graphviz()) GTEST_SKIP() << "Graphviz is not installed";
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Graph graph = random_graph(seed, {.operators = 8, .odd_names = true, .opaque = true});
    const auto svg = render_svg(to_dot(graph));
    ASSERT_TRUE(svg) << svg.error().message;
    EXPECT_THAT(*svg, HasSubstr("<svg"));
    EXPECT_EQ(count(*svg, "class=\"node\""), graph.nodes().size() + graph.outputs().size());
  }
}

TEST(Svg, IsDrawnForARule) {
  if (!has_graphviz()) GTEST_SKIP() << "Graphviz is not installed";
  const auto rule = parse_rule("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y", loaded());
  const auto svg = render_svg(to_dot(*rule));
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_EQ(count(*svg, "class=\"node\""), 10u);
  EXPECT_EQ(count(*svg, "class=\"cluster\""), 2u);
}

/// Drawn with a PATH of one folder that holds a file `dot`, or none.
std::string refusal_with(const std::string& content, std::filesystem::perms rights) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("rewright-dot-{}", getpid());
  std::filesystem::create_directories(folder);
  if (!content.empty()) {
    std::ofstream(folder / "dot") << content;
    std::filesystem::permissions(folder / "dot", rights);
  }
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder.c_str(), 1);
  const auto svg = render_svg("digraph {}");
  setenv("PATH", path.c_str(), 1);
  std::filesystem::remove_all(folder);
  return svg ? "drawn" : svg.error().message;
}

TEST(Svg, SaysWhatToDoWithoutGraphviz) {
  using std::filesystem::perms;
  EXPECT_EQ(refusal_with("", perms::none),
            "the program 'dot' is not installed; install Graphviz (Debian's package graphviz), or take the DOT text");
  EXPECT_EQ(refusal_with("#!/bin/sh\nexit 127\n", perms::owner_all),
            "the program 'dot' cannot be run; install Graphviz (Debian's package graphviz), or take the DOT text");
  EXPECT_EQ(refusal_with("#!/bin/sh\n", perms::owner_read),
            "drawing with Graphviz: cannot start 'dot': Permission denied");
}

TEST(Svg, SaysWhereTheSystemGivesNoRoomOrLosesTheProgram) {
  void (*const on_size)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none = {0, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  const auto no_room = render_svg("digraph {}");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, on_size);
  ASSERT_FALSE(no_room);
  EXPECT_EQ(no_room.error().message, "drawing with Graphviz: cannot write a temporary file: File too large");

  void (*const on_child)(int) = std::signal(SIGCHLD, SIG_IGN);  // The system forgets children that ended.
  EXPECT_EQ(refusal_with("#!/bin/sh\n", std::filesystem::perms::owner_all),
            "drawing with Graphviz: waiting for 'dot': No child processes");
  std::signal(SIGCHLD, on_child);
}

TEST(Svg, NamesWhatIsWrongWithADrawing) {
  if (!has_graphviz()) GTEST_SKIP() << "Graphviz is not installed";
  const auto svg = render_svg("digraph { this is no");
  ASSERT_FALSE(svg);
  EXPECT_THAT(svg.error().message, HasSubstr("Graphviz's 'dot' failed on a drawing: "));
}

}  // namespace
}  // namespace rewright::testing
