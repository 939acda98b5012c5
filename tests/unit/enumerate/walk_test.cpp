// The walk over TASO's own space against what TASO's program counts, and on few samples against all.
#include "enumerate/walk.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "enumerate/operator_space.h"
#include "support/operators.h"
#include "support/taso_space.h"

namespace rewright::enumeration {
namespace {

struct Counts {
  std::uint64_t graphs = 0;
  std::uint64_t sequences = 0;  ///< Orders in which the applications of a graph can be made, over all graphs.
};

std::uint64_t orders_of(const Leaf& leaf, const Walk& walk, Space& space) {
  const std::size_t count = leaf.applications.size() + 1;
  const auto entry = [&](std::size_t i) -> const Entry& { return i + 1 < count ? leaf.applications[i] : *leaf.last; };
  std::vector<unsigned> before(count);
  const std::size_t inputs = space.inputs().size();
  for (std::size_t i = 0; i < count; ++i) {
    before[i] = entry(i).producers;
    // TASO takes the operands of a concatenation in the order in which they were made.
    if (!space.choices()[entry(i).choice].made_in_order) continue;
    const auto [a, b, unused] = entry(i).operands;
    if (a < inputs || b < inputs) continue;
    const unsigned first = walk.made()[a - inputs].producer, second = walk.made()[b - inputs].producer;
    if (first != second) before[second] |= 1U << first;
  }
  std::vector<std::uint64_t> orders(std::size_t{1} << count);
  orders[0] = 1;
  for (std::size_t set = 1; set < orders.size(); ++set) {
    for (std::size_t i = 0; i < count; ++i) {
      if ((set >> i & 1) != 0 && (before[i] & ~set) == 0) orders[set] += orders[set & ~(std::size_t{1} << i)];
    }
  }
  return orders.back();
}

/// Graphs of up to 1, 2, 3 operators, the one without operators among them.
std::vector<Counts> count(const Scope& scope, std::size_t operators) {
  std::vector<Counts> all;
  Counts total{1, 1};
  Walk walk(std::make_unique<test::TasoSpace>(), scope, 4096);
  for (std::size_t level = 1; level <= operators; ++level) {
    for (const Unit& unit : walk.units(level)) {
      walk.run(level, unit, [&](const Leaf& leaf) {
        ++total.graphs;
        total.sequences += orders_of(leaf, walk, walk.space());
      });
    }
    all.push_back(total);
  }
  return all;
}

TEST(Walk, CountsTheGraphsAndSequencesOfTasosGenerator) {
  const auto counts = count({.inputs_in_order = false, .connected = false, .keep_repetitions = false}, 3);
  EXPECT_EQ(counts[0].graphs, 229U);
  EXPECT_EQ(counts[1].graphs, 32'298U);
  EXPECT_EQ(counts[2].graphs, 3'709'181U);
  EXPECT_EQ(counts[0].sequences, 229U);
  EXPECT_EQ(counts[1].sequences, 58'176U);
  EXPECT_EQ(counts[2].sequences, 16'405'411U);
}

TEST(Walk, CountsGraphsThatUseInputsInOrder) {
  const auto counts = count({.inputs_in_order = true, .connected = false, .keep_repetitions = false}, 3);
  EXPECT_EQ(counts[0].graphs, 71U);
  EXPECT_EQ(counts[1].graphs, 5'462U);
  EXPECT_EQ(counts[2].graphs, 436'849U);
}

TEST(Walk, CountsConnectedGraphs) {
  const auto counts = count({.inputs_in_order = true, .connected = true, .keep_repetitions = false}, 3);
  EXPECT_EQ(counts[0].graphs, 71U);
  EXPECT_EQ(counts[1].graphs, 1'676U);
  EXPECT_EQ(counts[2].graphs, 78'171U);
}

TEST(Walk, GivesUnitsInAnyOrderTheSameGraphs) {
  const Scope scope{.inputs_in_order = true, .connected = true, .keep_repetitions = true};
  const auto fingerprints = [&](bool backwards, std::size_t cache_slots) {
    Walk walk(std::make_unique<test::TasoSpace>(), scope, cache_slots);
    auto units = walk.units(3);
    if (backwards) std::reverse(units.begin(), units.end());
    std::multiset<std::uint64_t> all;
    for (const Unit& unit : units) walk.run(3, unit, [&](const Leaf& leaf) { all.insert(leaf.fingerprint); });
    return all;
  };
  const auto all = fingerprints(false, 4096);
  EXPECT_GT(all.size(), 70'000U);
  EXPECT_EQ(fingerprints(true, 4096), all);
  EXPECT_EQ(fingerprints(false, 1), all) << "a cache of one tensor";
}

TEST(Walk, VisitsNoGraphTwice) {
  const Scope scope{.inputs_in_order = false, .connected = false, .keep_repetitions = false};
  Walk walk(std::make_unique<test::TasoSpace>(), scope, 4096);
  std::set<std::set<std::uint64_t>> seen;
  std::uint64_t visited = 0;
  for (const Unit& unit : walk.units(2)) {
    walk.run(2, unit, [&](const Leaf& leaf) {
      ++visited;
      // An application is known by its choice and the tensors that it takes.
      const auto name = [&](const Entry& entry) {
        std::uint64_t hash = mix(entry.choice + 1U);
        for (std::uint32_t i = 0; i < walk.space().choices()[entry.choice].arity; ++i) {
          const std::size_t operand = entry.operands[i], inputs = walk.input_hashes().size();
          hash = mix(hash ^
                     (operand < inputs ? walk.input_hashes()[operand] : walk.made()[operand - inputs].hash).identity);
        }
        return hash;
      };
      EXPECT_TRUE(seen.insert({name(leaf.applications[0]), name(*leaf.last)}).second);
    });
  }
  EXPECT_EQ(seen.size(), visited);
}

EnumerationConfig small_space() {
  EnumerationConfig config;
  config.max_operators = 3;
  for (const char* text : {"matmul", "ewadd", "ewmul", "smul", "relu", "transpose", "concat[axis=1]",
                           "split[axis=1, sizes=[]]", "conv2d[strides=[1, 1], padding=same, groups=1]"}) {
    const auto [op, params] = rewright::testing::call(text);
    config.operators.push_back({op, params});
  }
  config.inputs = {{"x", Shape{2, 3}, InputKind::kData, {Shape{3, 2}}},
                   {"y", Shape{2, 3}, InputKind::kData, {Shape{3, 2}}},
                   {"s", Shape{}, InputKind::kData, {Shape{}}},
                   {"i", Shape{1, 2, 3, 3}, InputKind::kData, {Shape{2, 2, 2, 3}}},
                   {"w", Shape{2, 2, 3, 3}, InputKind::kWeight, {Shape{2, 2, 3, 3}}}};
  return config;
}

TEST(Walk, CompletesWhatItFoundOnFewSamples) {
  const EnumerationConfig config = small_space();
  const auto walk_of = [&](Samples samples, std::size_t cache_slots) {
    return Walk(std::make_unique<OperatorSpace>(config), Scope{.samples = samples}, cache_slots);
  };
  using Graph = std::tuple<std::uint64_t, std::uint16_t, std::vector<std::uint64_t>>;
  const auto graph_of = [](const Walk& walk, const Leaf& leaf) {
    Graph graph{leaf.fingerprint, leaf.last->choice, {}};
    walk.output_hashes(leaf, std::get<2>(graph));
    return graph;
  };
  Walk on_all = walk_of(Samples::kAll, 64);
  for (const std::size_t cache_slots : {64, 1}) {
    Walk on_few = walk_of(Samples::kFew, cache_slots);
    for (std::size_t level = 1; level <= 3; ++level) {
      std::vector<Graph> expected, found;
      std::map<std::uint64_t, std::set<std::uint64_t>> few_of;
      for (const Unit& unit : on_all.units(level))
        on_all.run(level, unit, [&](const Leaf& leaf) { expected.push_back(graph_of(on_all, leaf)); });
      for (const Unit& unit : on_few.units(level)) {
        on_few.run(level, unit, [&](const Leaf& leaf) {
          EXPECT_EQ(leaf.samples, Samples::kFew);
          Graph few = graph_of(on_few, leaf);
          std::uint64_t sum = 0;
          for (const std::uint64_t output : std::get<2>(few)) sum += output;
          EXPECT_EQ(leaf.fingerprint, sum);
          const Leaf all = on_few.complete(leaf);
          found.push_back(graph_of(on_few, all));
          few_of[all.fingerprint].insert(leaf.fingerprint);
        });
      }
      EXPECT_EQ(found, expected) << level;
      for (const auto& [all, few] : few_of) EXPECT_EQ(few.size(), 1U);
      EXPECT_GT(found.size(), level == 3 ? 9'000U : 10U);
    }
  }
}

}  // namespace
}  // namespace rewright::enumeration
