// What is stored between kernels is a choice, and the search comes by the cheapest.
#include "compile/fusion_search.h"

#include <rewright/base/mixing.h>
#include <rewright/optimize/cost_key.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "compile/grouping.h"
#include "compile/kernels.h"
#include "compiled_graph.h"
#include "support/fixed_prices.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A kernel costs what a function of its key says.
class PricesByKey final : public rewright::testing::FixedPrices {
 public:
  explicit PricesByKey(std::function<double(const std::string&)> us) : us_(std::move(us)) {}
  [[nodiscard]] Result<std::vector<Estimate>> estimates(std::span<const Kernel> kernels) override {
    std::vector<Estimate> all;
    for (const Kernel& kernel : kernels) {
      const double us = us_(to_key(kernel));
      if (!(us > 0)) return make_error(ErrorCode::kUnsupported, "no price for {}", to_key(kernel));
      all.push_back({us, 0});
    }
    return all;
  }

 private:
  std::function<double(const std::string&)> us_;
};

/// x * w, relu, tanh, sigmoid: three joints.
Graph chain() {
  GraphBuilder builder(&loaded());
  Port y = *builder.apply1("matmul", {}, {*builder.input("x", floats({4, 3})), *builder.input("w", floats({3, 5}))});
  for (const char* op : {"relu", "tanh", "sigmoid"}) y = *builder.apply1(op, {}, {y});
  builder.output(y, "y");
  return builder.finish();
}

TEST(FusionSearch, WhatIsStoredIsNotFused) {
  const Graph graph = chain();
  Grouping grouping(graph, &loaded());
  const auto joints = grouping.joints();
  ASSERT_TRUE(joints) << joints.error().message;
  ASSERT_THAT(*joints, SizeIs(3));
  EXPECT_THAT(kernels_of(graph)->calls, SizeIs(1));
  for (const Port& port : *joints) EXPECT_THAT(kernels_of(graph, {}, {}, nullptr, {port})->calls, SizeIs(2));
  EXPECT_THAT(kernels_of(graph, {}, {}, nullptr, {joints->begin(), joints->end()})->calls, SizeIs(4));
}

TEST(FusionSearch, FindsTheCheapestOfAllChoices) {
  const Graph graph = chain();
  Grouping grouping(graph, &loaded());
  const auto joints = grouping.joints();
  ASSERT_TRUE(joints);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    // The more operators the dearer, and a little for each kernel, which decides.
    PricesByKey costs([seed](const std::string& key) {
      return 100.0 * static_cast<double>(std::ranges::count(key, '|')) +
             static_cast<double>(mix(seed, std::hash<std::string>()(key)) % 16);
    });
    double least = std::numeric_limits<double>::infinity();
    for (unsigned choice = 0; choice < 8; ++choice) {
      std::set<Port> stored;
      for (std::size_t i = 0; i < 3; ++i) {
        if ((choice >> i & 1) != 0) stored.insert((*joints)[i]);
      }
      double us = 0;
      const auto groups = grouping.groups(stored);
      ASSERT_TRUE(groups) << groups.error().message;
      for (const Group& group : groups->all)
        us += (*costs.estimates(std::vector{kernel_of(graph, group.nodes).kernel()}))[0].us;
      least = std::min(least, us);
    }
    for (const bool from_random : {false, true}) {
      const auto found =
          search_fusion(graph, loaded(), costs, {.moves = 300, .from_random = from_random, .seed = seed});
      ASSERT_TRUE(found) << found.error().message;
      const double best = found->best.empty() ? found->usual.us : std::min(found->usual.us, found->best.front().us);
      EXPECT_NEAR(best, least, 1e-9) << "seed " << seed;
      EXPECT_EQ(found->joints, 3);
    }
  }
}

TEST(FusionSearch, TheUsualChoiceIsNoneOfTheBest) {
  const Graph graph = chain();
  PricesByKey costs([](const std::string&) { return 1.0; });  // The fewer kernels the cheaper.
  const auto found = search_fusion(graph, loaded(), costs, {.moves = 200, .from_random = true, .best = 2});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->usual.us, 1);
  ASSERT_THAT(found->best, SizeIs(2));
  for (const FusionChoice& choice : found->best) {
    EXPECT_EQ(choice.us, 2);
    EXPECT_THAT(choice.stored, SizeIs(1));
  }
}

TEST(FusionSearch, AKernelWithoutAPriceIsNotChosen) {
  const Graph graph = chain();
  const auto without = [](const std::string& part) {
    return PricesByKey([part](const std::string& key) { return key.find(part) == std::string::npos ? 1.0 : -1.0; });
  };
  PricesByKey costs = without("|no such kernel");
  ASSERT_TRUE(search_fusion(graph, loaded(), costs, {.moves = 50}));
  PricesByKey none = without("matmul");
  const auto refused = search_fusion(graph, loaded(), none, {.moves = 50});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cost model fixed does not know what kernels take: no price for"));
  // Only whole chains have a price: from a choice that has none the search comes to one that has.
  PricesByKey whole([](const std::string& key) { return key.find("sigmoid") != std::string::npos ? 1.0 : -1.0; });
  const auto found = search_fusion(graph, loaded(), whole, {.moves = 50, .from_random = true});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->best, IsEmpty());
}

TEST(FusionSearch, NothingToFuseIsASentence) {
  GraphBuilder builder(&loaded());
  builder.output(*builder.apply1("relu", {}, {*builder.input("x", floats({4}))}), "y");
  const Graph graph = builder.finish();
  PricesByKey costs([](const std::string&) { return 1.0; });
  const auto found = search_fusion(graph, loaded(), costs, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "there are no two nodes that could run as one kernel");
}

TEST(FusionSearch, StopsWhenItIsTold) {
  const Graph graph = chain();
  PricesByKey costs([](const std::string&) { return 1.0; });
  const auto found =
      search_fusion(graph, loaded(), costs, {.moves = 1000, .goes_on = [](std::int64_t moves) { return moves < 7; }});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->moves, 7);
}

}  // namespace
