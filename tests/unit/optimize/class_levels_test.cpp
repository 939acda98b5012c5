// Levels of classes never rule out what a plain walk finds.
#include "optimize/class_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/grown_graph.h"
#include "support/random.h"

namespace rewright {
namespace {

using testing::Grower;
using testing::Random;

/// Is the first class computed from the second? By a walk over all applications.
bool reaches(const NodePool& pool, const TensorClasses& classes, std::uint32_t from, std::uint32_t to) {
  std::set<std::uint32_t> seen = {from};
  std::vector<std::uint32_t> open = {from};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const auto& [node, output] : classes.makers(at))
      if (classes.is_alive(node))
        for (const Port port : pool.operands(node)) {
          const std::uint32_t next = classes.find(port);
          if (next == to) return true;
          if (seen.insert(next).second) open.push_back(next);
        }
  }
  return false;
}

std::vector<std::uint32_t> classes_of(const TensorClasses& classes) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t tensor = 0; tensor < classes.tensor_count(); ++tensor)
    if (classes.find(tensor) == tensor) all.push_back(tensor);
  return all;
}

/// How many pairs were ruled out.
std::size_t expect_true(const NodePool& pool, const TensorClasses& classes, const ClassLevels& levels) {
  std::size_t ruled_out = 0;
  for (const std::uint32_t from : classes_of(classes)) {
    for (const std::uint32_t to : classes_of(classes)) {
      if (from == to || levels.may_reach(from, to)) continue;
      ++ruled_out;
      EXPECT_FALSE(reaches(pool, classes, from, to)) << from << " from " << to;
    }
  }
  return ruled_out;
}

TEST(ClassLevels, RuleOutNothingThatIsSoWhateverIsJoined) {
  std::size_t ruled_out = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph graph = Grower(seed).graph(14);
    const NodePool pool(graph);
    TensorClasses classes(pool);
    classes.grow();
    classes.close();
    ClassLevels levels(pool, classes);
    levels.rebuild();
    ASSERT_TRUE(levels.known());
    Random random(seed);
    for (int joins = 0; joins < 6; ++joins) {
      const std::vector<std::uint32_t> all = classes_of(classes);
      const std::uint32_t a = random.pick(all), b = random.pick(all);
      if (a == b || reaches(pool, classes, a, b) || reaches(pool, classes, b, a)) continue;
      ASSERT_TRUE(classes.unite(classes.port(a), classes.port(b)));
      levels.united(a, b);
      EXPECT_TRUE(levels.known()) << "no circle was closed";
      ruled_out += expect_true(pool, classes, levels);
    }
    levels.rebuild();
    ruled_out += expect_true(pool, classes, levels);
  }
  EXPECT_GT(ruled_out, 1000u) << "they rule something out";
}

TEST(ClassLevels, RuleNothingOutOnceACircleIsClosed) {
  const Graph graph = *parse_graph("x = input (2, 2)\na = relu(x)\nb = exp(a)\noutput b\n", testing::loaded());
  const NodePool pool(graph);
  TensorClasses classes(pool);
  classes.grow();
  classes.close();
  ClassLevels levels(pool, classes);
  levels.rebuild();
  const std::uint32_t x = classes.find(Port{{0}, 0}), b = classes.find(Port{{2}, 0});
  EXPECT_FALSE(levels.may_reach(x, b));
  ASSERT_TRUE(classes.unite(classes.port(x), classes.port(b)));
  levels.united(x, b);
  EXPECT_FALSE(levels.known());
  EXPECT_TRUE(levels.may_reach(x, classes.find(Port{{1}, 0})));
}

}  // namespace
}  // namespace rewright
