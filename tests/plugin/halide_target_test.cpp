// What the target halide compiles computes what the interpreter computes: int32 to the bit, floating-point numbers
// within rounding; so do programs whose schedules are its own directives. What it lacks is named.
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>
#include <rewright/schedule/transform.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "loop/compiled_run.h"
#include "loop/composition.h"
#include "loop/lower.h"
#include "schedule/apply.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::loop;
using test_support::random_contents;
using test_support::RandomDefinition;
using testing::HasSubstr;
using Numbers = std::vector<std::vector<double>>;

const Target& target_named(const char* name) {
  static Registry registry = [] {
    Registry all;
    EXPECT_TRUE(all.load_default());
    return all;
  }();
  const Target* target = registry.find<Target>(name);
  if (target == nullptr) fail(fmt::format("there is no target {}", name));
  return *target;
}
const Target& halide() { return target_named("halide"); }

template <class Scalar>
Numbers numbers(const Contents<Scalar>& contents) {
  Numbers all;
  for (const auto& elements : contents) {
    auto& row = all.emplace_back();
    for (const Scalar& element : elements) row.push_back(static_cast<double>(element.value));
  }
  return all;
}

bool is_near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

/// `code` on random inputs against the interpreter. `tolerance` is relative to the larger number, or to 1.
template <class Scalar>
void expect_interpreted(const CompiledProgram& code, const Program& program, std::uint64_t seed, double tolerance) {
  Contents<Scalar> contents = random_contents<Scalar>(program.buffers, seed);
  Numbers compiled = numbers(contents);
  const auto status = interpret(program, contents);
  ASSERT_TRUE(status) << status.error().message;
  const Numbers interpreted = numbers(contents);
  const auto run = run_compiled(code, program, compiled);
  ASSERT_TRUE(run) << run.error().message << "\n" << to_string(program);
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].role != BufferRole::kOutput) continue;
    for (std::size_t i = 0; i < interpreted[b].size(); ++i) {
      ASSERT_TRUE(is_near(interpreted[b][i], compiled[b][i], tolerance))
          << "seed " << seed << ": " << program.buffers[b].name << " at " << i << ": " << interpreted[b][i] << " and "
          << compiled[b][i] << "\n"
          << to_string(program);
    }
  }
}

template <class Scalar>
void expect_compiles(const Program& program, std::uint64_t seed, double tolerance, const TargetOptions& options = {}) {
  const auto code = compile_one(halide(), program, options);
  ASSERT_TRUE(code) << code.error().message << "\n" << to_string(program);
  expect_interpreted<Scalar>(**code, program, seed, tolerance);
}

Program as_float64(Program program) {
  for (Buffer& buffer : program.buffers) buffer.element = ElementType::kFloat64;
  return program;
}

Program program_of(std::string_view text) {
  const auto program = parse_program(text);
  if (!program) fail(program.error().message);
  return *program;
}

schedule::Schedule schedule_of(std::string_view text) {
  const auto steps = schedule::parse_schedule(text);
  if (!steps) fail(steps.error().message);
  return *steps;
}

TEST(HalideTarget, ComputesWrappingIntegersToTheBit) {
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    const auto lowered = lower(inlined(RandomDefinition(seed).make()));
    ASSERT_TRUE(lowered);
    expect_compiles<Wrapping>(over_wrapping_integers(*lowered), seed, 0);
  }
}

TEST(HalideTarget, ComputesFloat64WithinRounding) {
  for (std::uint64_t seed = 0; seed < 25 && !HasFailure(); ++seed) {
    const auto lowered = lower(RandomDefinition(seed).make());
    ASSERT_TRUE(lowered);
    expect_compiles<Real>(as_float64(*lowered), seed, 1e-9);
  }
}

constexpr const char* kProduct = R"(buffer x[12, 10] float32 in
buffer w[10, 32] float32 weight
buffer y[12, 32] float32 out
for y.i 12 serial { for y.j 32 serial {
  store y[y.i, y.j] = 0
  for y.k 10 serial { store y[y.i, y.j] += x[y.i, y.k] * w[y.k, y.j] }
} }
)";
constexpr const char* kLayer = R"(buffer x[12, 10] float32 in
buffer w[10, 32] float32 weight
buffer acc[] float32 temporary
buffer y[12, 32] float32 out
for y.i 12 serial { for y.j 32 serial {
  store acc[] = 0
  for y.k 10 serial { store acc[] += x[y.i, y.k] * w[y.k, y.j] }
  store y[y.i, y.j] = max(acc[] + 1, 0)
} }
)";
constexpr const char* kConvolution = R"(buffer x[3, 9, 18] float32 in
buffer w[4, 3, 3, 3] float32 weight
buffer y[4, 9, 16] float32 out
for y.o 4 serial { for y.h 9 serial { for y.w 16 serial {
  store y[y.o, y.h, y.w] = 0
  for y.c 3 serial { for y.r 3 serial { if 0 <= y.h + y.r - 1 and y.h + y.r - 1 < 9 { for y.s 3 serial {
    store y[y.o, y.h, y.w] += x[y.c, y.h + y.r - 1, y.w + y.s] * w[y.o, y.c, y.r, y.s]
  } } } }
} } }
)";
constexpr const char* kSoftmax = R"(buffer x[6, 24] float32 in
buffer top[6] float32 temporary
buffer e[6, 24] float32 temporary
buffer sum[6] float32 temporary
buffer y[6, 24] float32 out
for top.i 6 serial {
  store top[top.i] = -inf
  for top.k 24 serial { store top[top.i] max= x[top.i, top.k] }
}
for e.i 6 serial { for e.j 24 serial { store e[e.i, e.j] = exp(x[e.i, e.j] - top[e.i]) } }
for sum.i 6 serial {
  store sum[sum.i] = 0
  for sum.k 24 serial { store sum[sum.i] += e[sum.i, sum.k] }
}
for y.i 6 serial { for y.j 24 serial { store y[y.i, y.j] = e[y.i, y.j] / sum[y.i] } }
)";

struct Scheduled {
  const char* program;
  const char* schedule;
};
const Scheduled kScheduled[] = {
    {kProduct, ""},
    {kProduct, "split y.j 8; distribute y.j/1; distribute y.j/0; reorder y.k y.j/1; vectorise y.j/1; parallelise y.i"},
    {kProduct, "split y.i 5 tail=mask; split y.j 12 tail=cut; unroll y.i/1"},
    {kProduct, "fuse y.i y.j; split y.i&y.j 16; unroll y.i/1&y.j/1"},
    {kProduct, "split y.k 5; unroll y.k/1"},
    {kProduct,
     "split y.i 4; split y.j 16; reorder y.i/0 y.j/0 y.i/1 y.j/1; cache-write y y.j/0 t; distribute y.j/1;"
     "distribute y.i/1; reorder y.k y.i/1 y.j/1; vectorise y.j/1; unroll y.i/1; vectorise t.d1"},
    {kProduct, "split y.j 8; reorder y.j/0 y.i y.j/1; cache w y.j/0 panel; vectorise panel.d1; unroll y.k"},
    {kLayer, ""},
    {kLayer, "split y.j 8; unroll y.j/1"},
    {kLayer,
     "split y.i 4; split y.j 16; reorder y.i/0 y.j/0 y.i/1 y.j/1; distribute y.j/1; distribute y.i/1;"
     "reorder y.k y.i/1 y.j/1; unroll y.i/1; vectorise y.j/1; unroll y.i/1/3; vectorise y.j/1/3; unroll y.i/1/4;"
     "vectorise y.j/1/4"},
    {kConvolution, ""},
    {kConvolution, "split y.w 8; distribute y.w/1; reorder y.c y.w/1; unroll y.s; vectorise y.w/1/3"},
    {kSoftmax, ""},
    {kSoftmax, "inline e; vectorise e.j or skip; split y.j 8; vectorise y.j/1"},
    {kSoftmax,
     "split y.j 8 tail=overlap; vectorise y.j/1; split e.j 5 tail=overlap; unroll "
     "e.j/1"},
    {kSoftmax, "compute-at sum y.i s; split y.j 8; vectorise y.j/1; split e.j 8; vectorise e.j/1"},
};

TEST(HalideDirectives, ChangeNoValue) {
  std::uint64_t seed = 0;
  for (const Scheduled& given : kScheduled) {
    SCOPED_TRACE(std::string(given.schedule) + "\n" + given.program);
    const Program plain = program_of(given.program);
    for (const Program& program : {plain, over_wrapping_integers(plain)}) {
      const auto code = halide().compile_scheduled(program, schedule_of(given.schedule), {.threads = 2});
      ASSERT_TRUE(code) << code.error().message;
      if (program.buffers[0].element == ElementType::kInt32)
        expect_interpreted<Wrapping>(**code, program, ++seed, 0);
      else
        expect_interpreted<Real>(**code, program, ++seed, 1e-5);
    }
  }
}

/// The same schedules, applied by this library, and compiled as loops.
TEST(HalideTarget, ComputesWhatSchedulesMake) {
  std::uint64_t seed = 0;
  for (const Scheduled& given : kScheduled) {
    SCOPED_TRACE(std::string(given.schedule) + "\n" + given.program);
    const auto made = schedule::apply(program_of(given.program), schedule_of(given.schedule));
    ASSERT_TRUE(made) << made.error().message;
    for (const char* dialect : {"strict", "fast"})
      expect_compiles<Real>(made->program, ++seed, 1e-5, {.dialect = dialect, .threads = 2});
  }
}

TEST(HalideDirectives, ComputeRandomDefinitionsOrNameTheStoreThatIsNone) {
  int compiled = 0;
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    const auto lowered = lower(RandomDefinition(seed).make());
    ASSERT_TRUE(lowered);
    const Program program = over_wrapping_integers(*lowered);
    const auto code = halide().compile_scheduled(program, {}, {});
    if (code) {
      ++compiled;
      expect_interpreted<Wrapping>(**code, program, seed, 0);
    } else {
      EXPECT_EQ(code.error().code, ErrorCode::kUnsupported);
      EXPECT_THAT(code.error().message,
                  testing::AnyOf(HasSubstr("is no definition of Halide's"), HasSubstr("no fixed extent")));
    }
  }
  EXPECT_GE(compiled, 15);
}

TEST(HalideDirectives, NameWhatIsLacking) {
  const auto said = [](const char* steps) {
    const auto code = halide().compile_scheduled(program_of(kProduct), schedule_of(steps), {});
    return code ? std::string("it compiled") : code.error().message;
  };
  EXPECT_EQ(said("pack w panels 1/8 0 1%8"),
            "target halide: pack w panels 1/8 0 1%8: Halide leaves the layout of a buffer to its caller");
  EXPECT_THAT(said("rfactor y.k t"), HasSubstr("rfactor y.k t: the functions that Halide's rfactor makes"));
  EXPECT_EQ(said("split y.j 8 tail=cut; unroll y.j/2"),
            "target halide: unroll y.j/2: there is no loop y.j/2; there are y.i, y.j/0, y.j/1, y.k");
  EXPECT_EQ(said("pack w panels 1/8 0 1%8 or skip; split y.j 8"), "it compiled");
  EXPECT_EQ(said("vectorise y.k").substr(0, 15), "target halide: ");
}

TEST(HalideTarget, LetsItsOwnSchedulersSchedule) {
  for (const char* scheduler : {"adams2019", "mullapudi2016", "li2018"}) {
    for (const char* text : {kProduct, kLayer})
      expect_compiles<Real>(as_float64(program_of(text)), 5, 1e-9, {.dialect = scheduler});
  }
}

TEST(HalideTarget, WritesItsIntermediateForm) {
  const NamedProgram named{"product", program_of(kProduct)};
  const auto source = halide().source({&named, 1}, {});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_THAT(*source, HasSubstr("func product ("));
  EXPECT_FALSE(compile_one(halide(), named.program, {.dialect = "c11"}));
}

TEST(HalideTarget, SaysWhereDataIsOutOfRange) {
  const Program program = program_of(
      "buffer n[3] int64 in buffer x[4] float32 in buffer y[3] float32 out\n"
      "for y.i 3 serial { store y[y.i] = select(n[y.i] < 9, x[data(n[y.i], 0, 4)], 7) }");
  const auto code = compile_one(halide(), program, {});
  ASSERT_TRUE(code) << code.error().message;
  Numbers inside = {{3, 12, 0}, {1, 2, 3, 4}, {}}, outside = {{3, 4, 0}, {1, 2, 3, 4}, {}};
  ASSERT_TRUE(run_compiled(**code, program, inside));
  EXPECT_EQ(inside.back(), (std::vector<double>{4, 7, 1}));
  const auto status = run_compiled(**code, program, outside);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("outside of its declared range"));
}

TEST(Targets, WithoutTransformsOfTheirOwnSaySo) {
  const auto code = target_named("c").compile_scheduled(program_of(kProduct), {}, {});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().message,
            "target c has no transforms of its own; apply the schedule first, and compile what it makes");
}

}  // namespace
