// Random schedules, compiled: over the integers modulo 2^32 they give the bits of the program that was not scheduled.
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "loop/compiled_run.h"
#include "loop/lower.h"
#include "schedule/apply.h"
#include "support/random_transforms.h"

namespace {

using namespace rewright;
using loop::Program;

using Numbers = std::vector<std::vector<double>>;

/// REWRIGHT_RANDOM_RUNS, or as many as a test may take time for.
std::uint64_t compiled_runs() {
  const char* wanted = std::getenv("REWRIGHT_RANDOM_RUNS");
  return wanted == nullptr ? 40 : std::strtoull(wanted, nullptr, 10);
}

const Target* target_c() {
  static Registry registry = [] {
    Registry all;
    EXPECT_TRUE(all.load_default());
    return all;
  }();
  return registry.find<Target>("c");
}

/// Up to 12 transforms that apply, of those that are drawn.
Program scheduled_at_random(Program program, std::uint64_t seed, schedule::Schedule& steps) {
  test_support::RandomTransforms transforms(seed);
  for (int draw = 0; draw < 24 && steps.size() < 12 && to_string(program).find("for ") != std::string::npos; ++draw) {
    const schedule::Transform transform = transforms.next(program);
    auto outcome = schedule::apply(program, transform);
    if (!std::holds_alternative<Program>(outcome)) continue;
    program = std::get<Program>(std::move(outcome));
    steps.push_back({transform});
  }
  return program;
}

/// Of a program's outputs, in order.
Numbers outputs(const Program& program, const Numbers& contents) {
  Numbers found;
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == BufferRole::kOutput) found.push_back(contents[b]);
  return found;
}

Numbers numbers_of_integers(const loop::Contents<loop::Wrapping>& contents) {
  Numbers numbers;
  for (const auto& elements : contents) {
    auto& row = numbers.emplace_back();
    for (const loop::Wrapping element : elements) row.push_back(element.value);
  }
  return numbers;
}

TEST(CompiledSchedules, GiveTheBitsOfTheProgram) {
  const Target* target = target_c();
  ASSERT_NE(target, nullptr);
  if (const auto version = target->version(); !version) GTEST_SKIP() << version.error().message;
  const std::uint64_t runs = compiled_runs();
  std::size_t steps_applied = 0;
  for (std::uint64_t run = 0; run < runs && !HasFailure(); ++run) {
    const std::uint64_t seed = 1'000'000 + run;
    const auto lowered = loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(lowered) << lowered.error().message;
    const Program plain = loop::over_wrapping_integers(*lowered);
    auto contents = test_support::random_contents<loop::Wrapping>(plain.buffers, seed);
    const auto interpreted = interpret(plain, contents);
    ASSERT_TRUE(interpreted) << interpreted.error().message;

    schedule::Schedule steps;
    const Program program = loop::over_wrapping_integers(scheduled_at_random(*lowered, seed, steps));
    steps_applied += steps.size();
    const auto code = compile_one(*target, program, {.dialect = run % 2 == 0 ? "" : "vectors"});
    ASSERT_TRUE(code) << seed << ": " << code.error().message << "\n" << to_string(program);
    Numbers compiled = numbers_of_integers(test_support::random_contents<loop::Wrapping>(program.buffers, seed));
    const auto status = run_compiled(**code, program, compiled);
    ASSERT_TRUE(status) << seed << ": " << status.error().message;
    EXPECT_EQ(outputs(program, compiled), outputs(plain, numbers_of_integers(contents)))
        << seed << "\n"
        << to_string(steps) << to_string(program);
  }
  EXPECT_GT(steps_applied, 2 * runs);
}

}  // namespace
