// Lowering computes what the definition says, over every algebra; inlining and composing change no value.
#include "loop/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/composition.h"
#include "support/definition_walk.h"
#include "support/operators.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::loop;
using test_support::DefinitionWalk;
using test_support::random_contents;
using test_support::RandomDefinition;
using ::testing::HasSubstr;

constexpr int kDefinitions = 400;

/// What the outputs hold, by name.
template <class Scalar>
std::map<std::string, std::vector<Scalar>> outputs(std::span<const Buffer> buffers, const Contents<Scalar>& contents) {
  std::map<std::string, std::vector<Scalar>> found;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].role == BufferRole::kOutput) found[buffers[b].name] = contents[b];
  }
  return found;
}

template <class Scalar>
std::map<std::string, std::vector<Scalar>> walked(const Definition& definition, std::uint64_t seed) {
  auto contents = random_contents<Scalar>(definition.buffers, seed);
  DefinitionWalk<Scalar>(definition, contents).run();
  return outputs<Scalar>(definition.buffers, contents);
}

template <class Scalar>
std::map<std::string, std::vector<Scalar>> interpreted(const Program& program, std::uint64_t seed) {
  auto contents = random_contents<Scalar>(program.buffers, seed);
  const auto status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message << "\n" << to_string(program);
  return outputs<Scalar>(program.buffers, contents);
}

template <class Scalar>
void expect_same(const Definition& definition, const Definition& lowered_one, std::uint64_t seed) {
  const auto program = lower(lowered_one);
  ASSERT_TRUE(program) << program.error().message << "\n" << to_string(lowered_one);
  EXPECT_EQ(interpreted<Scalar>(*program, seed), walked<Scalar>(definition, seed))
      << "seed " << seed << "\n"
      << to_string(definition) << to_string(*program);
}

TEST(Lower, ComputesTheDefinitionOverEveryAlgebra) {
  for (std::uint64_t seed = 0; seed < kDefinitions && !HasFailure(); ++seed) {
    const Definition definition = RandomDefinition(seed).make();
    expect_same<Field>(definition, definition, seed);
    expect_same<Wrapping>(definition, definition, seed);
    expect_same<Exact>(definition, definition, seed);
  }
}

TEST(Lower, ARecurrenceIsOneLoopAroundItsStages) {
  const auto* cumsum = rewright::testing::loaded().find<Operator>("cumsum");
  const auto definition =
      cumsum->definition(Params({std::int64_t{0}, std::int64_t{0}, std::int64_t{0}}), std::vector{Shape{5, 2}});
  ASSERT_TRUE(definition) << definition.error().message;
  EXPECT_THAT(to_string(*definition), HasSubstr("sums[m + 1, j] = sums[m, j] + x[m, j] for m < 5 in order"));
  const auto program = lower(*definition);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(to_string(*program), HasSubstr("for sums_part1.m 5 serial {\n"));
}

TEST(Lower, InliningChangesNoValue) {
  std::size_t stages = 0, left = 0;
  for (std::uint64_t seed = 0; seed < kDefinitions && !HasFailure(); ++seed) {
    const Definition definition = RandomDefinition(seed).make();
    const Definition fewer = inlined(definition);
    stages += definition.stages.size();
    left += fewer.stages.size();
    expect_same<Field>(definition, fewer, seed);
  }
  EXPECT_LT(left, stages * 19 / 20);
}

TEST(Lower, APrintedProgramIsReadBackAsItself) {
  for (std::uint64_t seed = 0; seed < kDefinitions && !HasFailure(); ++seed) {
    const auto program = lower(RandomDefinition(seed).make());
    ASSERT_TRUE(program);
    const std::string text = to_string(*program);
    const auto again = parse_program(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    EXPECT_TRUE(*again == *program) << text << to_string(*again);
  }
}

}  // namespace
