// Buffers that are in use at once do not overlap; those that are not share memory.
#include "compile/memory_plan.h"

#include <rewright/base/mixing.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace rewright;
using namespace rewright::compile;
using testing::ElementsAre;

TEST(MemoryPlan, BuffersShareWhereTheirLivesDoNotMeet) {
  const Lifetime chain[] = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  const MemoryPlan plan = plan_memory(chain);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 128, 0));
  EXPECT_EQ(plan.bytes, 256);
}

TEST(MemoryPlan, NothingInUseOverlaps) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Lifetime> buffers;
    std::int64_t all = 0;
    for (std::size_t i = random.below(12); i > 0; --i) {
      const std::size_t first = random.below(8);
      buffers.push_back({random.between(0, 1000), first, first + random.below(4)});
      all += buffers.back().bytes + 64;
    }
    const MemoryPlan plan = plan_memory(buffers);
    EXPECT_LE(plan.bytes, all);
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + buffers[a].bytes, plan.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const bool meet = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        const bool apart = plan.offsets[a] + buffers[a].bytes <= plan.offsets[b] ||
                           plan.offsets[b] + buffers[b].bytes <= plan.offsets[a];
        EXPECT_TRUE(!meet || apart);
      }
    }
  }
}

}  // namespace
