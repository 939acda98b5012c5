// The walk over TASO's own space against what TASO's program counts.
#include "enumerate/walk.h"

#include "support/taso_space.h"

#include <gtest/gtest.h>

#include <set>

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
        std::uint64_t hash = mixed(entry.choice + 1U);
        for (std::uint32_t i = 0; i < walk.space().choices()[entry.choice].arity; ++i) {
          const std::size_t operand = entry.operands[i], inputs = walk.input_hashes().size();
          hash = mixed(hash ^
                       (operand < inputs ? walk.input_hashes()[operand] : walk.made()[operand - inputs].hash).identity);
        }
        return hash;
      };
      EXPECT_TRUE(seen.insert({name(leaf.applications[0]), name(*leaf.last)}).second);
    });
  }
  EXPECT_EQ(seen.size(), visited);
}

}  // namespace
}  // namespace rewright::enumeration
