// Random sequences of transforms over random definitions change no value, and give programs that the validator takes.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "loop/interpreter.h"
#include "loop/lower.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "support/definition_walk.h"
#include "support/random_transforms.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using loop::Program;

/// REWRIGHT_RANDOM_RUNS, or as many as a test may take time for.
std::uint64_t random_runs(std::uint64_t daily) {
  const char* wanted = std::getenv("REWRIGHT_RANDOM_RUNS");
  return wanted == nullptr ? daily : std::strtoull(wanted, nullptr, 10);
}

template <class Scalar>
std::vector<std::vector<Scalar>> outputs(const Program& program, std::uint64_t seed) {
  auto contents = test_support::random_contents<Scalar>(program.buffers, seed);
  const auto status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message << "\n" << to_string(program);
  std::vector<std::vector<Scalar>> found;
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == BufferRole::kOutput) found.push_back(contents[b]);
  return found;
}

/// A product whose sums go on for a whole tile, as register tiles have it.
std::string tile(std::uint64_t seed) {
  Random random(seed);
  const auto rows = random.between(1, 5), columns = random.between(1, 9), steps = random.between(1, 4);
  return fmt::format(
      "buffer a[{0}, {2}] float32 in\nbuffer b[{2}, {1}] float32 in\nbuffer c[{0}, {1}] float32 out\n"
      "for c.i {0} serial {{ for c.j {1} serial {{ store c[c.i, c.j] = 0 }} }}\n"
      "for c.k {2} serial {{ for c.r {0} serial {{ for c.l {1} serial {{ store c[c.r, c.l] += a[c.r, c.k] * b[c.k, "
      "c.l] "
      "}} }} }}",
      rows, columns, steps);
}

TEST(RandomSchedules, ChangeNoValue) {
  std::size_t refused = 0;
  std::array<std::size_t, std::variant_size_v<Transform>> applied{};
  const std::uint64_t runs = random_runs(1000);
  for (std::uint64_t seed = 0; seed < runs && !HasFailure(); ++seed) {
    auto made =
        seed % 16 == 0 ? loop::parse_program(tile(seed)) : loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(made) << made.error().message;
    Program program = *std::move(made);
    const auto field = outputs<Field>(program, seed);
    const auto integers = outputs<loop::Wrapping>(program, seed);
    test_support::RandomTransforms transforms(seed);
    Schedule schedule;
    for (int step = 0; step < 24 && schedule.size() < 12 && to_string(program).find("for ") != std::string::npos;
         ++step) {
      const Transform transform = transforms.next(program);
      Outcome outcome = schedule::apply(program, transform);
      if (std::holds_alternative<Conflict>(outcome)) {
        ++refused;
        continue;
      }
      ++applied[transform.index()];
      program = std::get<Program>(std::move(outcome));
      schedule.push_back({transform});
    }
    const auto valid = loop::validate(program);
    EXPECT_TRUE(valid) << seed << ": " << valid.error().message << "\n" << to_string(schedule) << to_string(program);
    EXPECT_EQ(outputs<Field>(program, seed), field) << seed << "\n" << to_string(schedule) << to_string(program);
    EXPECT_EQ(outputs<loop::Wrapping>(program, seed), integers) << seed << "\n" << to_string(schedule);
    const auto again = parse_schedule(to_string(schedule));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, schedule);
    const auto program_again = loop::parse_program(to_string(program));
    EXPECT_TRUE(program_again) << program_again.error().message;
  }
  for (std::size_t kind = 0; kind < applied.size(); ++kind) {
    RecordProperty("applied_" + std::to_string(kind), std::to_string(applied[kind]));
    EXPECT_GE(applied[kind], runs / 400) << "transform " << kind << " was hardly tried; " << refused << " were refused";
  }
}

}  // namespace
