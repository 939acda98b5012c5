// Schedules that are read off a program change no value, and the loops that they are for come out as vectors.
#include "schedule/one_shot.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "loop/interpreter.h"
#include "loop/lower.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "support/definition_walk.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using loop::Program;

template <class Scalar>
std::vector<std::vector<Scalar>> outputs(const Program& program, const std::vector<std::vector<Scalar>>& given) {
  auto contents = given;
  contents.resize(program.buffers.size());
  const auto status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message << "\n" << to_string(program);
  std::vector<std::vector<Scalar>> found;
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == BufferRole::kOutput) found.push_back(contents[b]);
  return found;
}

/// Over the prime field: with its own steps applied again, too.
void expect_same_values(const Program& program, const OneShot& scheduled, std::uint64_t seed) {
  const auto valid = loop::validate(scheduled.program);
  EXPECT_TRUE(valid) << valid.error().message << "\n" << to_string(scheduled.program);
  const auto contents = test_support::random_contents<Field>(program.buffers, seed);
  EXPECT_EQ(outputs(scheduled.program, contents), outputs(program, contents))
      << seed << "\n" << to_string(scheduled.steps) << to_string(scheduled.program);
  const auto again = schedule::apply(program, scheduled.steps);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->program, scheduled.program);
}

TEST(OneShot, ChangesNoValueOfRandomPrograms) {
  std::size_t steps = 0;
  for (std::uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    auto program = loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(program) << program.error().message;
    const OneShot scheduled = one_shot(*program, {.lanes = 2, .registers = 8});
    steps += scheduled.steps.size();
    expect_same_values(*program, scheduled, seed);
  }
  EXPECT_GT(steps, 400U);
}

Program product(int m, int k, int n, const char* w, const char* at) {
  auto program = loop::parse_program(fmt::format(
      "buffer x[{0}, {1}] float32 in\nbuffer w[{3}] float32 weight\nbuffer y[{0}, {2}] float32 out\n"
      "buffer acc[] float32 temporary\nfor y.i {0} serial {{\n  for y.j {2} serial {{\n    store acc[] = 0\n"
      "    for y.k {1} serial {{\n      store acc[] += x[y.i, y.k] * w[{4}]\n    }}\n"
      "    store y[y.i, y.j] = max(acc[], 0)\n  }}\n}}\n",
      m, k, n, w, at));
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

TEST(OneShot, ProductsOfAnySizeGetTilesAndPanels) {
  for (const int m : {1, 2, 7, 13, 16})
    for (const int n : {2, 5, 8, 24, 29}) {
      const int k = 5;
      for (const bool is_turned : {false, true}) {
        const Program program = product(m, k, n, (is_turned ? fmt::format("{}, {}", n, k) : fmt::format("{}, {}", k, n)).c_str(),
                                        is_turned ? "y.j, y.k" : "y.k, y.j");
        const OneShot scheduled = one_shot(program, {.lanes = 4, .registers = 16});
        expect_same_values(program, scheduled, static_cast<std::uint64_t>(m * 100 + n));
        const std::string text = to_string(scheduled.steps);
        EXPECT_NE(text.find("vectorise"), std::string::npos) << m << " " << n << "\n" << text;
        EXPECT_NE(text.find("pack w"), std::string::npos) << m << " " << n << "\n" << text;
      }
    }
}

TEST(OneShot, RowsGetPartialResults) {
  for (const int n : {8, 24, 29, 64}) {
    const auto program = loop::parse_program(fmt::format(
        "buffer x[3, {0}] float32 in\nbuffer y[3] float32 out\nfor y.i 3 serial {{\n  store y[y.i] = 0\n"
        "  for y.k {0} serial {{\n    store y[y.i] += x[y.i, y.k]\n  }}\n}}\n",
        n));
    ASSERT_TRUE(program) << program.error().message;
    const OneShot scheduled = one_shot(*program, {.lanes = 4, .registers = 16});
    expect_same_values(*program, scheduled, static_cast<std::uint64_t>(n));
    EXPECT_NE(to_string(scheduled.steps).find("rfactor"), std::string::npos) << n;
  }
}

}  // namespace
