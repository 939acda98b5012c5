// Layouts of a whole graph: as cheap as all kernels and copies can be together.
#include "compile/layout_choice.h"

#include <rewright/base/mixing.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>

namespace {

using namespace rewright;
using namespace rewright::compile;
using testing::ElementsAre;

using Bools = std::vector<bool>;

/// x -> kernel 0 -> a -> kernel 1 -> b -> kernel 2 -> y, of which kernels 0 to 2 like channels last as said.
LayoutProblem chain(double copy) {
  LayoutProblem problem;
  problem.tensors = 4;
  problem.must_be_first = {false, false, false, true};
  for (std::size_t k = 0; k < 3; ++k) problem.kernels.push_back({{k}, {k + 1}});
  problem.copy_cost = [copy](std::size_t, bool) { return copy; };
  problem.kernel_cost = [](std::size_t k, const Bools& is_last) {
    const double first[] = {10, 1, 10}, last[] = {1, 4, 1};
    return is_last[0] != is_last[1] ? 20 : is_last[0] ? last[k] : first[k];
  };
  return problem;
}

TEST(LayoutChoice, CopiesArePaidOrSaved) {
  const Bools all_last = {true, true}, all_first = {false, false};
  EXPECT_THAT(choose_layouts(chain(1)), ElementsAre(all_last, all_first, all_last));    // 3 + 4 copies.
  EXPECT_THAT(choose_layouts(chain(5)), ElementsAre(all_last, all_last, all_last));     // 6 + 2 copies.
  EXPECT_THAT(choose_layouts(chain(9)), ElementsAre(all_first, all_first, all_first));  // 21.
}

TEST(LayoutChoice, WhatTheGraphHandsOutIsCopiedOnceForAll) {
  LayoutProblem problem;
  problem.tensors = 2;
  problem.must_be_first = {false, true};
  problem.kernels = {{{0}, {1}}, {{1}, {}}};  // The second reads what is handed out.
  problem.copy_cost = [](std::size_t t, bool) { return t == 0 ? 0 : 3; };
  problem.kernel_cost = [](std::size_t, const Bools& is_last) {
    return 2 * static_cast<double>(std::ranges::count(is_last, false));
  };
  EXPECT_THAT(choose_layouts(problem), ElementsAre(Bools{true, true}, Bools{true}));
}

TEST(LayoutChoice, NobodyReadsWhatIsNotThere) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    LayoutProblem problem;
    problem.tensors = 3 + random.below(8);
    std::vector<std::size_t> writer(problem.tensors);
    for (std::size_t t = 0; t < problem.tensors; ++t) problem.must_be_first.push_back(random.one_in(3));
    for (std::size_t t = 2; t < problem.tensors; ++t) {
      auto& kernel = problem.kernels.emplace_back();
      for (std::size_t r = 0; r < t; ++r)
        if (random.one_in(2)) kernel.reads.push_back(r);
      kernel.writes = {t};
    }
    problem.copy_cost = [&](std::size_t t, bool) { return static_cast<double>(t % 3); };
    std::map<std::pair<std::size_t, Bools>, double> costs;
    problem.kernel_cost = [&](std::size_t k, const Bools& is_last) {
      const auto [known, is_new] = costs.try_emplace({k, is_last}, 0);
      if (is_new) known->second = static_cast<double>(random.below(10));
      return known->second;
    };
    const auto chosen = choose_layouts(problem);
    ASSERT_EQ(chosen.size(), problem.kernels.size());
    double cost = 0;
    std::vector<std::array<bool, 2>> is_read(problem.tensors);
    Bools made(problem.tensors);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const auto& kernel = problem.kernels[k];
      ASSERT_EQ(chosen[k].size(), kernel.reads.size() + 1);
      ASSERT_TRUE(costs.contains({k, chosen[k]})) << "an option that was not asked for";
      cost += costs.at({k, chosen[k]});
      for (std::size_t i = 0; i < kernel.reads.size(); ++i) is_read[kernel.reads[i]][chosen[k][i] ? 1 : 0] = true;
      made[kernel.writes[0]] = chosen[k].back();
    }
    for (std::size_t t = 0; t < problem.tensors; ++t)
      if (is_read[t][made[t] ? 0 : 1] || (problem.must_be_first[t] && made[t])) cost += problem.copy_cost(t, !made[t]);
    // Everything with channels first is allowed and needs no copy.
    double plain = 0;
    for (std::size_t k = 0; k < chosen.size(); ++k) plain += costs.at({k, Bools(problem.kernels[k].reads.size() + 1)});
    EXPECT_LE(cost, plain);
  }
}

}  // namespace
