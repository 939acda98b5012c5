// Sketches are as many as the rules say, and every choice of their numbers computes the same.
#include "schedule/sketch.h"

#include <rewright/base/mixing.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "loop/lower.h"
#include "schedule/apply.h"
#include "support/equal_programs.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using test_support::program_of;
using test_support::random_runs;
using testing::HasSubstr;
using testing::Not;

const SketchOptions kSmall{VectorUnit{4, 16}};

std::string product(const std::string& to, const std::string& a, const std::string& b, std::int64_t rows,
                    std::int64_t columns, std::int64_t sum) {
  return fmt::format(
      "for {0}.i {3} serial {{ for {0}.j {4} serial {{ store {0}[{0}.i, {0}.j] = 0\nfor {0}.k {5} serial {{ store "
      "{0}[{0}.i, {0}.j] += {1}[{0}.i, {0}.k] * {2}[{0}.k, {0}.j] }} }} }}\n",
      to, a, b, rows, columns, sum);
}
loop::Program one_product(std::int64_t rows, std::int64_t columns, std::int64_t sum) {
  return program_of(fmt::format("buffer a[{0}, {2}] float32 in\nbuffer w[{2}, {1}] float32 weight\n"
                                "buffer c[{0}, {1}] float32 out\n",
                                rows, columns, sum) +
                    product("c", "a", "w", rows, columns, sum));
}
loop::Program product_with_rest(std::int64_t rows, std::int64_t columns, std::int64_t sum) {
  return program_of(fmt::format(
      "buffer a[{0}, {2}] float32 in\nbuffer w[{2}, {1}] float32 weight\nbuffer b[{1}] float32 weight\n"
      "buffer c[{0}, {1}] float32 out\nbuffer acc[] float32 temporary\n"
      "for c.i {0} serial {{ for c.j {1} serial {{ store acc[] = 0\n"
      "for c.k {2} serial {{ store acc[] += a[c.i, c.k] * w[c.k, c.j] }}\nstore c[c.i, c.j] = acc[] + b[c.j] }} }}",
      rows, columns, sum));
}
loop::Program reduction(const char* kind, const char* first, std::int64_t rows, std::int64_t columns) {
  return program_of(
      fmt::format("buffer x[{0}, {1}] float32 in\nbuffer y[{0}] float32 out\n"
                  "for y.i {0} serial {{ store y[y.i] = {3}\n"
                  "for y.k {1} serial {{ store y[y.i] {2} x[y.i, y.k] }} }}",
                  rows, columns, kind, first));
}

// As many as TVM's tests of its own sketches expect of these programs.
TEST(Sketch, ThereAreAsManyAsTheRulesSay) {
  EXPECT_EQ(sketches_of(one_product(512, 512, 512), {}).size(), 3);
  EXPECT_EQ(sketches_of(one_product(8, 8, 512), {}).size(), 5) << "partial sums, too";
  const std::string two = product("t", "a", "b", 512, 512, 512) + product("c", "t", "d", 512, 512, 512);
  const loop::Program chain = program_of(
      "buffer a[512, 512] float32 in\nbuffer b[512, 512] float32 in\nbuffer d[512, 512] float32 in\n"
      "buffer t[512, 512] float32 temporary\nbuffer c[512, 512] float32 out\n" +
      two);
  EXPECT_EQ(sketches_of(chain, {}).size(), 9 + 1) << "and the first product where the second needs it";
  EXPECT_EQ(sketches_of(product_with_rest(512, 512, 512), {}).size(), 3) << "what follows a sum belongs to it";
  EXPECT_EQ(sketches_of(reduction("min=", "inf", 64, 512), {}).size(), 3);
  EXPECT_EQ(sketches_of(reduction("max=", "-inf", 64, 4), {}).size(), 1) << "sums so short are not taken apart";
}

TEST(Sketch, WhatIsPlainIsInlined) {
  const loop::Program program = program_of(
      "buffer x[8, 8] float32 in\nbuffer t[8, 8] float32 temporary\nbuffer y[8, 8] float32 out\n"
      "for t.i 8 serial { for t.j 8 serial { store t[t.i, t.j] = x[t.i, t.j] * 2 } }\n"
      "for y.i 8 serial { for y.j 8 serial { store y[y.i, y.j] = t[y.i, y.j] + 1 } }");
  const auto sketches = sketches_of(program, kSmall);
  ASSERT_EQ(sketches.size(), 1);
  EXPECT_EQ(to_string(sketches[0]), "t inline; y plain");
}

/// Rows of a product, each divided by its greatest element.
loop::Program scaled_product(std::int64_t rows, std::int64_t columns, std::int64_t sum) {
  return program_of(
      fmt::format("buffer a[{0}, {2}] float32 in\nbuffer w[{2}, {1}] float32 weight\n"
                  "buffer t[{0}, {1}] float32 temporary\nbuffer m[{0}] float32 temporary\n"
                  "buffer y[{0}, {1}] float32 out\n",
                  rows, columns, sum) +
      product("t", "a", "w", rows, columns, sum) +
      fmt::format("for m.i {0} serial {{ store m[m.i] = -inf\n"
                  "for m.k {1} serial {{ store m[m.i] max= t[m.i, m.k] }} }}\n"
                  "for y.i {0} serial {{ for y.j {1} serial {{ store y[y.i, y.j] = t[y.i, y.j] * m[y.i] }} }}",
                  rows, columns));
}

TEST(Sketch, StagesAreComputedWhereTheOnlyNestIsThatReadsThem) {
  const auto sketches = sketches_of(scaled_product(24, 6, 33), kSmall);
  ASSERT_FALSE(sketches.empty());
  const Sketch& last = sketches.back();
  EXPECT_EQ(to_string(last), "t at its reader; m at its reader; y around what it reads");
  const auto made = realised(last, scaled_product(24, 6, 33), kSmall, {0, 3});
  ASSERT_TRUE(made);
  EXPECT_THAT(to_string(made->steps), HasSubstr("compute-at t y.i/0 t_part"));
}

TEST(Sketch, WhatAnOutputKeepsIsNotMoved) {
  const loop::Program program = program_of(
      "buffer a[8, 8] float32 in\nbuffer b[8, 8] float32 in\nbuffer d[8, 8] float32 in\n"
      "buffer t[8, 8] float32 out\nbuffer c[8, 8] float32 out\n" +
      product("t", "a", "b", 8, 8, 8) + product("c", "t", "d", 8, 8, 8));
  for (const Sketch& sketch : sketches_of(program, kSmall)) EXPECT_THAT(to_string(sketch), Not(HasSubstr("reader")));
}

TEST(Sketch, StructuresAreWordsOfSAndR) {
  for (const char* good : {"SSRSRS", "SRS", "SSRS", "SSSRSRS"}) EXPECT_TRUE(check_structure(good)) << good;
  for (const char* bad : {"", "S", "SR", "RS", "SSRRS", "SSRSRSRS", "SXRS", "SSSSSSRS"})
    EXPECT_FALSE(check_structure(bad)) << bad;
}

/// Draws choices of every sketch; how many schedules came of them.
std::size_t expect_same(const loop::Program& plain, const SketchOptions& options, int draws, std::uint64_t seed) {
  std::set<std::string> made_texts;
  Random random(seed);
  for (const Sketch& sketch : sketches_of(plain, options)) {
    for (int draw = 0; draw < draws; ++draw) {
      Choices choices;
      for (const SketchKnob& knob : sketch.knobs) choices.push_back(random.between(0, choice_count(knob) - 1));
      const auto made = realised(sketch, plain, options, choices);
      if (!made) continue;
      const std::string steps = to_string(made->steps);
      if (!made_texts.insert(steps).second) continue;
      const auto again = schedule::apply(plain, made->steps);
      EXPECT_TRUE(again) << again.error().message << "\n" << steps;
      if (!again) return 0;
      EXPECT_TRUE(again->deviations.empty());
      EXPECT_EQ(to_string(again->program), to_string(made->program));
      test_support::expect_equal(made->program, plain, seed, to_string(sketch) + "\n" + steps);
      if (testing::Test::HasFailure()) return 0;
    }
  }
  return made_texts.size();
}

TEST(Sketch, NoChoiceChangesAValue) {
  std::size_t made = 0;
  for (const char* structure : {"SSRSRS", "SRS", "SSSRSRS"}) {
    SketchOptions options = kSmall;
    options.structure = structure;
    for (const auto& [rows, columns, sum] : {std::tuple{7, 13, 5}, {8, 16, 32}, {1, 9, 40}, {24, 6, 33}, {5, 1, 8}}) {
      made += expect_same(one_product(rows, columns, sum), options, 12, 1);
      made += expect_same(product_with_rest(rows, columns, sum), options, 12, 2);
    }
  }
  for (const auto& [rows, columns, sum] : {std::tuple{7, 13, 5}, {8, 16, 32}, {24, 6, 33}})
    made += expect_same(scaled_product(rows, columns, sum), kSmall, 8, 5);
  for (const std::int64_t inner : {3, 6, 8})
    made += expect_same(test_support::program_of(test_support::lanes_of_two(5, inner)), kSmall, 12, 6);
  made += expect_same(reduction("max=", "-inf", 3, 40), kSmall, 8, 3);
  made += expect_same(reduction("+=", "0", 2, 64), kSmall, 8, 4);
  EXPECT_GT(made, 250);
}

TEST(Sketch, NoChoiceChangesAValueOfRandomDefinitions) {
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < random_runs(150) && !HasFailure(); ++seed) {
    const auto plain = loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(plain) << plain.error().message;
    made += expect_same(*plain, kSmall, 3, seed);
  }
  EXPECT_GT(made, random_runs(150));
}

TEST(Sketch, OfLoopsOfOneIterationThereAreSchedules) {
  const loop::Program plain = one_product(1, 64, 48);
  for (const Sketch& sketch : sketches_of(plain, kSmall)) {
    const Choices first(sketch.knobs.size(), 0);
    EXPECT_TRUE(realised(sketch, plain, kSmall, first)) << to_string(sketch);
  }
}

TEST(Sketch, OnThreadsOutermostLoopsMayRunInParallel) {
  SketchOptions options = kSmall;
  options.threads = 2;
  const loop::Program plain = one_product(32, 32, 8);
  const Sketch sketch = sketches_of(plain, options).front();
  Choices last;
  for (const SketchKnob& knob : sketch.knobs) last.push_back(knob.kind == SketchKnobKind::kParallel ? 1 : 0);
  const auto made = realised(sketch, plain, options, last);
  ASSERT_TRUE(made);
  EXPECT_THAT(to_string(made->steps), HasSubstr("parallelise"));
  test_support::expect_equal(made->program, plain, 1, to_string(made->steps));
}

}  // namespace
