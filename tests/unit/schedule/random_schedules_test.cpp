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

TEST(RandomSchedules, ChangeNoValue) {
  std::size_t refused = 0;
  std::array<std::size_t, std::variant_size_v<Transform>> applied{};
  const std::uint64_t runs = random_runs(1000);
  for (std::uint64_t seed = 0; seed < runs && !HasFailure(); ++seed) {
    auto lowered = loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(lowered) << lowered.error().message;
    Program program = *std::move(lowered);
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
