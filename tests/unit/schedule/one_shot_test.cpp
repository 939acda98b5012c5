// Schedules without a search apply as they stand, change no value, and give programs that the validator takes.
#include "schedule/one_shot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/lower.h"
#include "schedule/apply.h"
#include "support/equal_programs.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using test_support::lanes_of_two;
using test_support::program_of;
using test_support::random_runs;
using testing::HasSubstr;
using testing::Not;

void expect_same(const loop::Program& plain, const VectorUnit& unit, std::uint64_t seed) {
  const OneShot made = one_shot(plain, unit);
  const auto again = schedule::apply(plain, made.steps);
  ASSERT_TRUE(again) << seed << ": " << again.error().message << "\n" << to_string(made.steps) << to_string(plain);
  EXPECT_TRUE(again->deviations.empty());
  EXPECT_EQ(to_string(again->program), to_string(made.program)) << seed;
  test_support::expect_equal(made.program, plain, seed, to_string(made.steps));
}

TEST(OneShot, ChangesNoValueOfRandomDefinitions) {
  std::size_t steps = 0;
  for (std::uint64_t seed = 0; seed < random_runs(400) && !HasFailure(); ++seed) {
    const auto plain = loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(plain) << plain.error().message;
    for (const VectorUnit& unit : {VectorUnit{2, 8}, VectorUnit{4, 16}}) {
      expect_same(*plain, unit, seed);
      steps += one_shot(*plain, unit).steps.size();
    }
  }
  EXPECT_GT(steps, random_runs(400)) << "it scheduled hardly anything";
}

/// c = a w + b at sizes that no tile divides.
std::string product(std::int64_t rows, std::int64_t columns, std::int64_t sum) {
  return fmt::format(
      "buffer a[{0}, {2}] float32 in\nbuffer w[{2}, {1}] float32 weight\nbuffer b[{1}] float32 weight\n"
      "buffer c[{0}, {1}] float32 out\nbuffer acc[] float32 temporary\n"
      "for c.i {0} serial {{ for c.j {1} serial {{ store acc[] = 0\n"
      "for c.k {2} serial {{ store acc[] += a[c.i, c.k] * w[c.k, c.j] }}\nstore c[c.i, c.j] = acc[] + b[c.j] }} }}",
      rows, columns, sum);
}

TEST(OneShot, ChangesNoValueOfProducts) {
  for (const std::int64_t rows : {1, 2, 5, 7, 13, 16}) {
    for (const std::int64_t columns : {1, 3, 8, 17, 31, 32}) {
      expect_same(program_of(product(rows, columns, 5)), VectorUnit{4, 16}, 1);
      expect_same(program_of(product(rows, columns, 1)), VectorUnit{8, 16}, 2);
    }
  }
}

TEST(OneShot, FewLanesAreFusedWithWhatIsAroundThem) {
  for (const std::int64_t outer : {1, 2, 3, 7}) {
    for (const std::int64_t inner : {1, 3, 4, 6, 9, 17})
      expect_same(program_of(lanes_of_two(outer, inner)), VectorUnit{4, 16}, 3);
  }
  const auto steps = [](const std::string& text) {
    return to_string(one_shot(program_of(text), VectorUnit{4, 16}).steps);
  };
  EXPECT_THAT(steps(lanes_of_two(7, 6)), HasSubstr("fuse y.n y.o\npack w w_rows 1 0 2\n"));
  EXPECT_THAT(steps(lanes_of_two(7, 17)), Not(HasSubstr("fuse"))) << "lanes enough";
  std::string apart = lanes_of_two(7, 6);
  for (const auto& [from, to] : {std::pair("y[3, 7, 6]", "y[7, 3, 6]"), {"y[y.i, y.n, y.o]", "y[y.n, y.i, y.o]"}})
    apart.replace(apart.find(from), std::string_view(from).size(), to);
  EXPECT_THAT(steps(apart), Not(HasSubstr("fuse"))) << "the result is not even over both";
  EXPECT_THAT(steps(product(7, 6, 5)), Not(HasSubstr("fuse"))) << "what is no weight follows one of both";
}

TEST(OneShot, HasLanesATileAndPackedWeights) {
  const std::string steps = to_string(one_shot(program_of(product(64, 64, 64)), VectorUnit{8, 16}).steps);
  for (const char* step : {"vectorise c.j/1", "unroll c.i/1", "pack w "}) EXPECT_THAT(steps, HasSubstr(step));
}

// Channels first: vectors of columns, which the outputs of a group read alike.
TEST(OneShot, OutputsOfAGroupShareVectorsOfColumns) {
  const loop::Program plain = test_support::program_of(
      "buffer x[8, 10, 34] float32 in\nbuffer w[8, 4, 3, 3] float32 weight\nbuffer y[8, 8, 32] float32 out\n"
      "for y.o 8 serial { for y.i 8 serial { for y.j 32 serial { store y[y.o, y.i, y.j] = 0\n"
      "for y.c 4 serial { for y.s 3 serial { for y.t 3 serial {\n"
      "store y[y.o, y.i, y.j] += x[floor(y.o / 4)*4 + y.c, y.i + y.s, y.j + y.t] * w[y.o, y.c, y.s, y.t]\n"
      "} } } } } }");
  const OneShot made = one_shot(plain, {8, 16});
  const std::string steps = to_string(made.steps);
  for (const char* step : {"split y.o 4\n", "unroll y.o/1/1\n", "vectorise y.j/1\n"})
    EXPECT_NE(steps.find(step), std::string::npos) << step << " in\n" << steps;
  test_support::expect_equal(made.program, plain, 1, steps);
}

// Few outputs a group: rows beside each other read the same vectors, at other steps of the sum along them.
TEST(OneShot, RowsOfFewOutputsAreATile) {
  for (const auto& [columns, step] : {std::pair(32, 1), std::pair(37, 1), std::pair(7, 1), std::pair(21, 2)}) {
    const loop::Program plain = test_support::program_of(fmt::format(
        "buffer x[8, {0}, {1}] float32 in\nbuffer w[8, 2, 3, 3] float32 weight\nbuffer y[8, 8, {2}] float32 out\n"
        "for y.o 8 serial {{ for y.i 8 serial {{ for y.j {2} serial {{ store y[y.o, y.i, y.j] = 0\n"
        "for y.c 2 serial {{ for y.s 3 serial {{ for y.t 3 serial {{\n"
        "store y[y.o, y.i, y.j] += x[floor(y.o / 2)*2 + y.c, {3} * y.i + y.s, {3} * y.j + y.t] * w[y.o, y.c, y.s, "
        "y.t]\n"
        "}} }} }} }} }} }}",
        step * 7 + 3, step * (columns - 1) + 3, columns, step));
    const OneShot made = one_shot(plain, {8, 16});
    const std::string steps = to_string(made.steps);
    for (const char* part : {"split y.o 2\n", "split y.i 4\n", "unroll y.i/1\n", "unroll y.o/1\n", "unroll y.s\n"})
      EXPECT_NE(steps.find(part), std::string::npos) << part << " in\n" << steps;
    test_support::expect_equal(made.program, plain, 1, steps);
  }
}

// Channels last: a vector of 8 would hold parts of groups of 6, and gather what they read; of groups of 4 it holds two.
TEST(OneShot, LanesAreOfOneGroupWhereVectorsHoldPartsOfSome) {
  for (const auto& [outputs, is_split] : {std::pair(6, true), std::pair(4, false)}) {
    const loop::Program plain = test_support::program_of(fmt::format(
        "buffer x[9, 9, {0}] float32 in\nbuffer w[{0}, 3, 3, 3] float32 weight\nbuffer y[7, 7, {0}] float32 out\n"
        "for y.i 7 serial {{ for y.j 7 serial {{ for y.o {0} serial {{ store y[y.i, y.j, y.o] = 0\n"
        "for y.s 3 serial {{ for y.t 3 serial {{ for y.c 3 serial {{\n"
        "store y[y.i, y.j, y.o] += x[y.i + y.s, y.j + y.t, floor(y.o / {1})*3 + y.c] * w[y.o, y.c, y.s, y.t]\n"
        "}} }} }} }} }} }}",
        4 * outputs, outputs));
    const OneShot made = one_shot(plain, {8, 32});
    const std::string steps = to_string(made.steps);
    EXPECT_EQ(steps.find(fmt::format("split y.o {}\n", outputs)) != std::string::npos, is_split) << steps;
    test_support::expect_equal(made.program, plain, 1, steps);
  }
}

TEST(OneShot, OfLoopsThatDependOnEachOtherIsNothing) {
  const loop::Program sums = program_of(
      "buffer x[9] float32 in\nbuffer y[9] float32 out\nstore y[0] = x[0]\n"
      "for y.i 8 serial { store y[y.i + 1] = y[y.i] + x[y.i + 1] }");
  EXPECT_TRUE(one_shot(sums, VectorUnit{}).steps.empty());
}

TEST(OneShot, RowsGetPartialResults) {
  for (const int size : {8, 24, 29, 64}) {
    const loop::Program rows = program_of(
        fmt::format("buffer x[3, {0}] float32 in\nbuffer y[3] float32 out\nfor y.i 3 serial {{ store y[y.i] = 0\n"
                    "for y.k {0} serial {{ store y[y.i] += x[y.i, y.k] }} }}",
                    size));
    expect_same(rows, VectorUnit{4, 16}, 1);
    EXPECT_THAT(to_string(one_shot(rows, VectorUnit{4, 16}).steps), HasSubstr("rfactor")) << size;
  }
}

/// y[c, p] = x[p, c]
TEST(OneShot, TranspositionsGoByBlocks) {
  for (const int places : {3, 4, 8, 21}) {
    for (const int channels : {2, 4, 5, 9, 16}) {
      const loop::Program copy = program_of(
          fmt::format("buffer x[{0}, {1}] float32 in buffer y[{1}, {0}] float32 out\n"
                      "for y.c {1} serial {{ for y.p {0} serial {{ store y[y.c, y.p] = x[y.p, y.c] * 3 }} }}",
                      places, channels));
      expect_same(copy, VectorUnit{4, 16}, 1);
      const std::string made = to_string(one_shot(copy, VectorUnit{4, 16}).program);
      const std::string block = fmt::format("for y.c {} serial {{\n    for y.p/1 4 vector", channels);
      EXPECT_EQ(made.find(block) != std::string::npos, places >= 4 && channels > 4) << made;
    }
  }
}

}  // namespace
