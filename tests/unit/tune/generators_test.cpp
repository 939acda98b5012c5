// Generators: what they write fits and computes the same, blocks are those of the linear programme, and nothing is
// written where a machine or a program gives no hold.
#include <rewright/plugin/registry.h>
#include <rewright/tune/generator.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/apply.h"
#include "schedule/schedule_space.h"
#include "support/equal_programs.h"

namespace {

using namespace rewright;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The sum is in c itself, or in a number of its own of which c is a function.
std::string product(int rows, int sums, int columns, bool has_own_sum = false) {
  return fmt::format(
      "buffer a[{0}, {1}] float32 in\nbuffer w[{1}, {2}] float32 weight\nbuffer c[{0}, {2}] float32 out\n{3}"
      "for c.i {0} serial {{ for c.j {2} serial {{ store {4} = 0\n"
      "for c.k {1} serial {{ store {4} += a[c.i, c.k] * w[c.k, c.j] }} {5} }} }}",
      rows, sums, columns, has_own_sum ? "buffer s[1] float32 temporary\n" : "", has_own_sum ? "s[0]" : "c[c.i, c.j]",
      has_own_sum ? "store c[c.i, c.j] = max(s[0], 0)" : "");
}

/// 3 * 64 * 64 numbers in the first cache, 3 * 256 * 256 in the second.
tune::Machine machine() {
  tune::Machine machine;
  machine.instructions = {"AVX2", "AVX-512", "FMA"};
  machine.caches = {{1, 3 * 64 * 64 * 4, 400}, {2, 3 * 256 * 256 * 4, 200}, {0, 0, 20}};
  machine.peak_gflops = 200;
  return machine;
}

class Generators : public testing::TestWithParam<const char*> {
 protected:
  Generators() { EXPECT_TRUE(registry_.load_default()); }
  std::vector<std::string> schedules(const loop::Program& program, const tune::Machine& on) const {
    const Generator* generator = registry_.find<Generator>(GetParam());
    return generator == nullptr ? std::vector<std::string>{"there is no such generator"}
                                : generator->schedules(program, on);
  }
  Registry registry_;
};

TEST_P(Generators, WriteWhatFitsAndComputesTheSame) {
  for (const auto& [rows, sums, columns] :
       std::vector<std::array<int, 3>>{{24, 16, 32}, {7, 5, 64}, {64, 8, 32}, {1, 8, 64}}) {
    for (const bool has_own_sum : {false, true}) {
      const loop::Program plain = test_support::program_of(product(rows, sums, columns, has_own_sum));
      const auto texts = schedules(plain, machine());
      EXPECT_FALSE(texts.empty());
      EXPECT_EQ(texts, schedules(plain, machine())) << "the same each time";
      for (const std::string& text : texts) {
        const auto space = schedule::parse_space(text);
        ASSERT_TRUE(space) << space.error().message << "\n" << text;
        const auto steps = schedule::parse_schedule(text);
        ASSERT_TRUE(steps) << steps.error().message << "\n" << text;
        const auto made = schedule::apply(plain, *steps);
        ASSERT_TRUE(made) << made.error().message << "\n" << text;
        test_support::expect_equal(made->program, plain, 1, text);
      }
    }
  }
}

TEST(RegisterTiles, GoAlongTheLastPlaceWhereverItsLoopIs) {
  Registry registry;
  ASSERT_TRUE(registry.load_default());
  // Two sums into one result with channels last, and zeros beside them.
  const loop::Program plain = test_support::program_of(
      "buffer x[6, 6, 8] float32 in\nbuffer w[32, 8, 3] float32 weight\nbuffer v[16, 8, 1] float32 weight\n"
      "buffer y[7, 6, 48] float32 out\nbuffer s[] float32 temporary\nbuffer u[] float32 temporary\n"
      "for z.j 6 serial { for z.o 48 serial { store y[0, z.j, z.o] = 0 } }\n"
      "for a.o 32 serial { for a.i 4 serial { for a.j 6 serial { store s[] = 0\n"
      "for a.c 8 serial { for a.t 3 serial { store s[] += x[a.i + a.t, a.j, a.c] * w[a.o, a.c, a.t] } }\n"
      "store y[a.i + 1, a.j, a.o] = max(s[], 0) } } }\n"
      "for b.o 16 serial { for b.i 4 serial { for b.j 6 serial { store u[] = 0\n"
      "for b.c 8 serial { for b.t 1 serial { store u[] += x[b.i, b.j, b.c] * v[b.o, b.c, b.t] } }\n"
      "store y[b.i + 1, b.j, b.o + 32] = max(u[], 0) } } }");
  const auto texts = registry.find<Generator>("register-tiles")->schedules(plain, machine());
  ASSERT_FALSE(texts.empty());
  for (const std::string& text : texts) {
    EXPECT_THAT(text, HasSubstr("vectorise a.o/1"));
    EXPECT_THAT(text, HasSubstr("vectorise b.o/1"));
    EXPECT_THAT(text, HasSubstr("pack w w_panels 0/"));
    const auto steps = schedule::parse_schedule(text);
    ASSERT_TRUE(steps) << steps.error().message << "\n" << text;
    const auto made = schedule::apply(plain, *steps);
    ASSERT_TRUE(made) << made.error().message << "\n" << text;
  }
}

TEST_P(Generators, WriteNothingForWhatIsNoSum) {
  const loop::Program relu = test_support::program_of(
      "buffer x[64] float32 in\nbuffer y[64] float32 out\nfor y.i 64 serial { store y[y.i] = max(x[y.i], 0) }");
  EXPECT_THAT(schedules(relu, machine()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Tune, Generators, testing::Values("register-tiles", "projective-tiles", "placed-tiles"));

class ProjectiveTiles : public Generators {};

// A square product's best block has sqrt(M) iterations of each loop, where each array gets M numbers.
TEST_P(ProjectiveTiles, AreThoseOfTheLinearProgramme) {
  const auto texts = schedules(test_support::program_of(product(512, 512, 512)), machine());
  std::string all;
  for (const std::string& text : texts) all += text;
  for (const char* loop : {"c.i", "c.j", "c.k"}) {
    EXPECT_THAT(all, HasSubstr(fmt::format("split {} 64\n", loop)));
    EXPECT_THAT(all, HasSubstr(fmt::format("split {} 256\n", loop)));
  }
  // A loop that is shorter than that lets the others be longer: 16 * 256 of a, 16 * 256 of c, and all of k there is.
  const auto narrow = schedules(test_support::program_of(product(512, 16, 512)), machine());
  for (const std::string& text : narrow) EXPECT_EQ(text.find("split c.k"), std::string::npos) << text;
}

TEST_P(ProjectiveTiles, NeedACacheThatHoldsAVectorOfEachArray) {
  const loop::Program program = test_support::program_of(product(64, 64, 64));
  tune::Machine none = machine();
  none.caches.clear();
  EXPECT_THAT(schedules(program, none), IsEmpty());
  tune::Machine tiny = machine();
  tiny.caches[0].bytes = 64;
  for (const std::string& text : schedules(program, tiny)) EXPECT_THAT(text, HasSubstr("blocks for cache 2"));
  const Generator* generator = registry_.find<Generator>(GetParam());
  EXPECT_THAT(generator->notes(program, tiny),
              ElementsAre("cache 1 of 64 bytes: it holds no vector of each of 3 arrays; there are no blocks for it"));
  EXPECT_THAT(generator->notes(program, none),
              ElementsAre("of this machine no caches are known: there are no blocks for them"));
  EXPECT_THAT(generator->notes(program, machine()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Blocks, ProjectiveTiles, testing::Values("projective-tiles"));

}  // namespace
