// Graphs that fall apart are found as a search through all divisions finds them.
#include "enumerate/join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace rewright::enumeration {
namespace {

TEST(SortedFingerprints, FindsWhatIsThereAndNothingElse) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0, 1, 3, 4, 5, 100, 5000}) {
    std::set<std::uint64_t> wanted;
    while (wanted.size() < count) wanted.insert(random());
    std::vector<std::uint64_t> twice(wanted.begin(), wanted.end());
    twice.insert(twice.end(), wanted.begin(), wanted.end());
    std::ranges::shuffle(twice, random);
    const SortedFingerprints sorted(twice);
    EXPECT_TRUE(std::ranges::equal(sorted.all(), wanted));
    std::size_t position = 0;
    for (const std::uint64_t fingerprint : wanted) EXPECT_EQ(sorted.find(fingerprint), position++);
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t other = random();
      EXPECT_EQ(sorted.contains(other), wanted.contains(other));
    }
    EXPECT_FALSE(sorted.contains(0));
    EXPECT_FALSE(sorted.contains(~std::uint64_t{0}));
  }
}

/// Fewest operators of two parts or more, each a set of outputs whose sum is a part: all divisions are tried.
std::optional<int> by_search(const std::vector<std::vector<TwoFingerprints>>& by_operators,
                             const std::vector<std::uint64_t>& outputs, int most) {
  const auto operators_of = [&](std::uint64_t sum) -> std::optional<int> {
    for (std::size_t count = 0; count < by_operators.size(); ++count)
      for (const TwoFingerprints& part : by_operators[count])
        if (part.all == sum) return static_cast<int>(count);
    return std::nullopt;
  };
  std::optional<int> best;
  std::vector<std::size_t> block(outputs.size(), 0);  // Restricted growth: of each output its part.
  const auto visit = [&](const auto& self, std::size_t at, std::size_t blocks) -> void {
    if (at < outputs.size()) {
      for (block[at] = 0; block[at] <= blocks; ++block[at]) self(self, at + 1, std::max(blocks, block[at] + 1));
      return;
    }
    if (blocks < 2) return;
    int total = 0;
    for (std::size_t part = 0; part < blocks; ++part) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < outputs.size(); ++i) sum += block[i] == part ? outputs[i] : 0;
      const auto operators = operators_of(sum);
      if (!operators) return;
      total += *operators;
    }
    if (total <= most && (!best || total < *best)) best = total;
  };
  visit(visit, 0, 0);
  return best == 0 ? std::nullopt : best;  // Inputs alone.
}

TEST(Divisions, AreThoseOfFewestOperators) {
  std::mt19937_64 random(2);
  int found = 0, without = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<std::uint64_t> outputs(2 + random() % 4);
    for (std::uint64_t& output : outputs) output = random();
    // Parts: some sums of the outputs, and others that are none.
    const int most = static_cast<int>(1 + random() % 5);
    std::vector<std::vector<TwoFingerprints>> by_operators(static_cast<std::size_t>(most));
    for (unsigned mask = 1; mask < 1U << outputs.size(); ++mask) {
      if (random() % 3 != 0) continue;
      std::uint64_t sum = 0;
      for (std::size_t k = 0; k < outputs.size(); ++k) sum += mask >> k & 1 ? outputs[k] : 0;
      by_operators[random() % by_operators.size()].push_back({sum, sum});
      if (random() % 4 == 0) by_operators[random() % by_operators.size()].push_back({sum, sum});
    }
    for (auto& list : by_operators)
      for (int others = 0; others < 5; ++others) list.push_back({random(), random()});

    const Parts parts(by_operators, most);
    const std::optional<int> wanted = by_search(by_operators, outputs, most);
    const std::optional<Division> division = divide(parts, outputs);
    ASSERT_EQ(division ? std::optional(division->operators) : std::nullopt, wanted) << i;
    if (division) {
      ++found;
      EXPECT_TRUE(may_fall_apart(parts, outputs)) << i;
      int total = 0;
      std::uint64_t sum = 0, all = 0;
      for (std::uint32_t k = 0; k < division->part_count; ++k) {
        total += *parts.operators(division->parts[k]);
        sum += division->parts[k];
      }
      for (const std::uint64_t output : outputs) all += output;
      EXPECT_EQ(total, division->operators);
      EXPECT_EQ(sum, all) << "the parts have every output, each once";
    } else {
      without += may_fall_apart(parts, outputs) ? 0 : 1;
    }
  }
  EXPECT_GT(found, 500);
  EXPECT_GT(without, 1000) << "most are told at once";
}

// Of kMostParts outputs, none more.
TEST(Divisions, AreOfTwoToEightOutputs) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> outputs;
  std::vector<std::vector<TwoFingerprints>> single(2);
  for (std::uint64_t i = 0; i < kMostParts + 1; ++i) {
    outputs.push_back(random());
    single[1].push_back({outputs.back(), outputs.back()});
  }
  const Parts parts(single, 20);
  for (std::size_t count = 0; count <= outputs.size(); ++count) {
    const auto some = std::span(outputs).first(count);
    const bool divides = 2 <= count && count <= kMostParts;
    EXPECT_EQ(may_fall_apart(parts, some), divides) << count;
    const auto division = divide(parts, some);
    EXPECT_EQ(division.has_value(), divides) << count;
    EXPECT_EQ(division ? division->part_count : 0, divides ? count : 0);
  }
}

}  // namespace
}  // namespace rewright::enumeration
