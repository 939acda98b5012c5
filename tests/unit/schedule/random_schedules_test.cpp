// Random sequences of transforms over random definitions change no value, and give programs that the validator takes.
#include <gtest/gtest.h>

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

/// Transforms of loops and buffers that a program has.
class RandomTransforms {
 public:
  explicit RandomTransforms(std::uint64_t seed) : random_(seed) {}

  Transform next(const Program& program) {
    std::vector<LoopName> names;
    collect(program.body, names);
    const auto any = [&] { return names[random_.below(names.size())]; };
    switch (random_.below(8)) {
      case 0: return Reorder{{any(), any()}};
      case 1: return Distribute{any()};
      case 2: return Mark{any(), static_cast<loop::LoopKind>(random_.below(4))};
      case 3: return Fuse{any(), any()};
      case 4: {
        const std::string buffer = program.buffers[random_.below(program.buffers.size())].name;
        return Cache{buffer, any(), "copy" + std::to_string(copies_++)};
      }
      case 5: {
        std::vector<std::string> temporaries = {"none"};
        for (const Buffer& buffer : program.buffers)
          if (buffer.role == BufferRole::kTemporary) temporaries.push_back(buffer.name);
        return ComputeAt{random_.pick(temporaries), any(), "made" + std::to_string(copies_++)};
      }
      default: return Split{any(), random_.between(1, 4), static_cast<Tail>(random_.below(3))};
    }
  }

 private:
  static void collect(const loop::Body& body, std::vector<LoopName>& names) {
    for (const loop::Statement& statement : body) {
      if (statement.loop() != nullptr) names.push_back(*loop::parse_loop_name(statement.loop()->axis.name));
      collect(body_of(statement), names);
    }
  }
  Random random_;
  int copies_ = 0;
};

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
  std::size_t applied = 0, refused = 0, computed = 0;
  for (std::uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    auto lowered = loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(lowered) << lowered.error().message;
    Program program = *std::move(lowered);
    const auto field = outputs<Field>(program, seed);
    const auto integers = outputs<loop::Wrapping>(program, seed);
    RandomTransforms transforms(seed);
    Schedule schedule;
    for (int step = 0; step < 12 && !program.body.empty(); ++step) {
      if (to_string(program).find("for ") == std::string::npos) break;
      const Transform transform = transforms.next(program);
      Outcome outcome = schedule::apply(program, transform);
      if (std::holds_alternative<Conflict>(outcome)) {
        ++refused;
        continue;
      }
      ++applied;
      computed += std::holds_alternative<ComputeAt>(transform) ? 1 : 0;
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
  EXPECT_GT(applied, refused / 4) << "few transforms were applied";
  EXPECT_GT(applied, 2000U);
  EXPECT_GT(computed, 3U);
}

}  // namespace
