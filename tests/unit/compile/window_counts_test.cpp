// Counts of windows apart, and conditions moved: the same values, in the form that schedules take.
#include "compile/window_counts.h"

#include <gmock/gmock.h>

#include "compile/sum_conditions.h"
#include "loop/interpreter.h"
#include "loop/validator.h"
#include "schedule/nest.h"
#include "schedule/one_shot.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using ::testing::HasSubstr;
using ::testing::Not;

loop::Program program_of(std::string_view text) {
  auto program = loop::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

/// The output y, by the prime field.
std::vector<Field> computed(const loop::Program& program) {
  auto contents = test_support::random_contents<Field>(program.buffers, 7);
  const auto status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message << "\n" << to_string(program);
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].name == "y") return contents[b];
  return {};
}

struct Window {
  int size, kernel, stride, before, dilation;
};

/// An average over the places of a window that lie inside; `counter`: what is added, and under what else.
std::string average(const Window& w, const std::string& more = "", const std::string& counted = "1") {
  const int out = (w.size + 2 * w.before - w.dilation * (w.kernel - 1) - 1) / w.stride + 1;
  const auto inside = [&](const std::string& i, const std::string& s) {
    const std::string at = fmt::format("{} * {} + {} * {} - {}", i, w.stride, s, w.dilation, w.before);
    return fmt::format("0 <= {0} and {0} < {1}", at, w.size);
  };
  return fmt::format(
      "buffer x[3, {0}, {0}] float32 in buffer y[3, {1}, {1}] float32 out\n"
      "buffer sum[] float32 temporary buffer n[] float32 temporary\n"
      "for y.c 3 serial {{ for y.i {1} serial {{ for y.j {1} serial {{\n"
      "store sum[] = 0 for y.s {2} serial {{ if {3} {{ for y.t {2} serial {{ if {4} {{\n"
      "store sum[] += x[y.c, y.i * {5} + y.s * {6} - {7}, y.j * {5} + y.t * {6} - {7}] }} }} }} }}\n"
      "store n[] = 0 for y.k {2} serial {{ if {8} {{ for y.l {2} serial {{ if {9}{10} {{ store n[] += {11} }} }} }} "
      "}}\n"
      "store y[y.c, y.i, y.j] = sum[] / n[] }} }} }}",
      w.size, out, w.kernel, inside("y.i", "y.s"), inside("y.j", "y.t"), w.stride, w.dilation, w.before,
      inside("y.i", "y.k"), inside("y.j", "y.l"), more, counted);
}

TEST(WindowCounts, AreOfPlacesNotOfChannels) {
  for (const Window& w : {Window{7, 3, 1, 1, 1}, Window{6, 2, 2, 0, 1}, Window{9, 3, 2, 1, 1}, Window{5, 5, 1, 2, 1},
                          Window{9, 3, 1, 2, 2}, Window{8, 2, 3, 1, 4}}) {
    const loop::Program plain = program_of(average(w)), apart = with_window_counts(plain);
    EXPECT_TRUE(loop::validate(apart)) << loop::validate(apart).error().message << to_string(apart);
    EXPECT_EQ(computed(apart), computed(plain)) << to_string(apart);
    const auto nest = schedule::nest_at(*apart.body.back().loop());
    ASSERT_TRUE(nest) << to_string(apart);
    EXPECT_NE(nest->result, nullptr);
    EXPECT_EQ(apart.body.size(), 4U) << "along i, along j, of both, and the averages";
  }
}

TEST(WindowCounts, ThatAreNoProductsStay) {
  const Window w{7, 3, 1, 1, 1};
  for (const auto& [more, counted] : std::vector<std::pair<std::string, std::string>>{
           {" and y.k <= y.l", "1"}, {"", "2"}, {"", "x[0, 0, 0]"}, {" and y.c < 2", "1"}}) {
    const loop::Program plain = program_of(average(w, more, counted));
    EXPECT_EQ(to_string(with_window_counts(plain)), to_string(plain)) << more << counted;
  }
  const loop::Program used_again = program_of(average(w) + " store n[] = 1");
  EXPECT_EQ(to_string(with_window_counts(used_again)), to_string(used_again));
}

TEST(Conditions, GoInsideAndOutAgain) {
  const loop::Program plain = program_of(
      "buffer x[9, 9, 4] float32 in buffer y[9, 9, 4] float32 out\n"
      "for y.i 9 serial { for y.j 9 serial { for y.c 4 serial { store y[y.i, y.j, y.c] = -1\n"
      "for y.s 3 serial { if 1 <= y.i + y.s and y.i + y.s < 10 { for y.t 3 serial { if 1 <= y.j + y.t and y.j + y.t < "
      "10 "
      "{ store y[y.i, y.j, y.c] max= x[y.i + y.s - 1, y.j + y.t - 1, y.c] } } } } } } }");
  const loop::Program inside = with_conditions_inside(plain);
  EXPECT_THAT(to_string(inside), HasSubstr("for y.t 3 serial {\n          if "));
  EXPECT_THAT(to_string(inside), Not(HasSubstr("for y.s 3 serial {\n          if ")));
  EXPECT_EQ(to_string(with_conditions_outside(inside)), to_string(plain));
  for (const schedule::VectorUnit& unit : {schedule::VectorUnit{4, 16}, schedule::VectorUnit{2, 8}}) {
    const auto scheduled = schedule::one_shot(inside, unit);
    EXPECT_THAT(to_string(scheduled.steps), HasSubstr("vectorise y.c"));
    const loop::Program outside = with_conditions_outside(scheduled.program);
    EXPECT_TRUE(loop::validate(outside));
    EXPECT_EQ(computed(outside), computed(plain)) << to_string(outside);
  }
}

TEST(Conditions, ThatAreNotOfOneSumStay) {
  for (const char* text :
       {"buffer x[9] float32 in buffer y[9] float32 out\n"
        "for y.i 9 serial { if y.i < 4 { for y.k 1 serial { store y[y.i] = x[y.i] } } if 4 <= y.i { store y[y.i] = 2 } "
        "}",
        "buffer n[9] int64 in buffer x[9] float32 in buffer y[9] float32 out\n"
        "for y.i 9 serial { store y[y.i] = 0 for y.s 2 serial { if y.i + y.s < 9 { for y.k data(n[y.i + y.s], 0, 9) "
        "serial { store y[y.i] += x[y.k] } } } }"}) {
    const loop::Program plain = program_of(text);
    EXPECT_EQ(to_string(with_conditions_inside(plain)), to_string(plain));
  }
}

}  // namespace
