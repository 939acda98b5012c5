// Zeros around what is stored, set by the loops that store it: the same tensor, whatever the schedule.
#include "compile/border_zeros.h"

#include <rewright/base/mixing.h>

#include <gmock/gmock.h>

#include "compile/storage.h"
#include "loop/interpreter.h"
#include "loop/validator.h"
#include "schedule/nest_scheduling.h"
#include "schedule/one_shot.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using ::testing::HasSubstr;

constexpr BufferId kResult{2};

/// Of groups of two channels; y may have any storage.
loop::Program convolution(std::int64_t batch, std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  auto program = loop::parse_program(
      fmt::format("buffer x[{0}, {1}, {2}, {3}] float32 in buffer w[{1}, 2, 2] float32 weight\n"
                  "buffer y[{0}, {1}, {4}, {5}] float32 out buffer sum[] float32 temporary\n"
                  "for y.n {0} serial {{ for y.o {1} serial {{ for y.i {4} serial {{ for y.j {5} serial {{\n"
                  "store sum[] = 0 for y.c 2 serial {{ for y.t 2 serial {{\n"
                  "store sum[] += x[y.n, floor(y.o / 2) * 2 + y.c, y.i, y.j + y.t] * w[y.o, y.c, y.t] }} }}\n"
                  "store y[y.n, y.o, y.i, y.j] = sum[] }} }} }} }}",
                  batch, channels, rows, columns + 1, rows, columns));
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

std::vector<Field> result_of(const loop::Program& program) {
  loop::Contents<Field> contents(program.buffers.size());
  for (std::size_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < *loop::element_count(program.buffers[b]); ++i)
      contents[b].push_back(Field::from_integer(i * 7 % 31 - 11));
  const Status status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message << "\n" << to_string(program);
  return contents[kResult.value];
}
std::string roots_of(const loop::Program& program) {
  std::string roots;
  for (const loop::Statement& statement : program.body)
    if (statement.loop() != nullptr) roots += statement.loop()->axis.name + " ";
  return roots;
}

TEST(BorderZeros, AreSetByTheLoopsThatStore) {
  Random random(3);
  for (int i = 0; i < 80 && !::testing::Test::HasFailure(); ++i) {
    const loop::Program plain =
        convolution(random.between(1, 2), 2 * random.between(1, 4), random.between(1, 9), random.between(1, 40));
    Storage storage{
        random.one_in(2) ? std::vector<std::size_t>{0, 1, 2, 3} : std::vector<std::size_t>{0, 2, 3, 1}, {}, {}};
    for (std::size_t d = 0; d < 4; ++d) {
      const bool has_none = d == 0 ? !random.one_in(9) : d == 1 ? !random.one_in(3) : false;
      storage.before.push_back(has_none ? 0 : random.between(0, 2));
      storage.after.push_back(has_none ? 0 : random.between(0, 2));
    }
    const loop::Program stored = with_storage(plain, kResult, storage, false);
    schedule::OneShot scheduled{{}, stored};
    if (random.one_in(2)) {  // Two nests store it.
      auto split = schedule::apply(stored, schedule::Split{*loop::parse_loop_name("y.o"), 4, schedule::Tail::kCut});
      if (std::holds_alternative<loop::Program>(split)) scheduled.program = std::get<loop::Program>(split);
    }
    if (random.one_in(2)) scheduled = schedule::one_shot(scheduled.program, {.lanes = 4, .registers = 16});
    const loop::Program made = with_zeros_inside(scheduled.program, kResult, storage);
    const Status valid = loop::validate(made, 1'000'000);
    ASSERT_TRUE(valid) << valid.error().message << to_string(made);
    EXPECT_EQ(result_of(made), result_of(stored)) << to_string(made);
  }
}

TEST(BorderZeros, AreInsideWhereAPartOfTheTensorIsStored) {
  const Storage first{{0, 1, 2, 3}, {0, 0, 1, 1}, {0, 0, 1, 1}}, last{{0, 2, 3, 1}, {0, 0, 1, 1}, {0, 0, 1, 1}};
  const loop::Program in_order = with_storage(convolution(1, 4, 3, 9), kResult, first, false);
  EXPECT_THAT(roots_of(in_order), HasSubstr("y_zeros3b"));
  const auto made = with_zeros_inside(in_order, kResult, first);
  EXPECT_EQ(roots_of(made), "y.n ");
  // Of every row its ends beside it, of every channel its rows.
  const std::string text = to_string(made);
  EXPECT_LT(text.find("for y.o 4"), text.find("y_zeros2a")) << text;
  EXPECT_LT(text.find("y_zeros2a"), text.find("for y.i 3"));
  EXPECT_LT(text.find("for y.i 3"), text.find("y_zeros3a"));
  // Channels last: rows are not disjoint while channels are outside.
  const loop::Program stored = with_storage(convolution(1, 4, 3, 9), kResult, last, false);
  const std::string outside = to_string(with_zeros_inside(stored, kResult, last));
  EXPECT_LT(outside.find("y_zeros2b"), outside.find("for y.o 4")) << outside;
}

TEST(BorderZeros, LeaveNotesAndLoopsOnThreads) {
  const Storage storage{{0, 1, 2, 3}, {0, 0, 1, 1}, {0, 0, 1, 1}};
  loop::Program stored = with_storage(convolution(1, 4, 3, 9), kResult, storage, false);
  const loop::Statement nest = stored.body.back();
  stored.body.back() = {*nest.loop(), "what it is"};
  auto outcome = schedule::apply(stored, schedule::Mark{*loop::parse_loop_name("y.o"), loop::LoopKind::kParallel});
  ASSERT_TRUE(std::holds_alternative<loop::Program>(outcome));
  const auto made = with_zeros_inside(std::get<loop::Program>(outcome), kResult, storage);
  EXPECT_EQ(roots_of(made), "y.n ");
  EXPECT_EQ(made.body[0].note(), "what it is");
  const std::string text = to_string(made);
  EXPECT_LT(text.find("for y.o 4 parallel"), text.find("y_zeros2a")) << text;
  EXPECT_TRUE(loop::validate(made, 100'000));
}

TEST(BorderZeros, StayWhereANestStoresAPartTwice) {
  // Sums in place: zeros are stored by a nest of their own.
  const Storage storage{{0, 1, 2, 3}, {0, 0, 1, 1}, {0, 0, 1, 1}};
  auto program = loop::parse_program(
      "buffer x[1, 4, 3, 9] float32 in buffer w[4] float32 weight buffer y[1, 4, 3, 9] float32 out\n"
      "for z.o 4 serial { for z.i 3 serial { for z.j 9 serial { store y[0, z.o, z.i, z.j] = 0 } } }\n"
      "for y.o 4 serial { for y.i 3 serial { for y.j 9 serial { store y[0, y.o, y.i, y.j] += x[0, y.o, y.i, y.j] * "
      "w[y.o] } } }");
  ASSERT_TRUE(program) << program.error().message;
  const loop::Program stored = with_storage(*program, kResult, storage, false);
  EXPECT_EQ(with_zeros_inside(stored, kResult, storage), stored);
}

}  // namespace
