// What the target c compiles computes what the interpreter computes: int32 to the bit, floating-point numbers within
// rounding. A compiler that is missing, fails or hangs is named in one sentence.
#include <rewright/base/command.h>
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "loop/compiled_run.h"
#include "loop/composition.h"
#include "loop/lower.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::loop;
using test_support::random_contents;
using test_support::RandomDefinition;
using testing::HasSubstr;

const Target& c_target() {
  static Registry registry = [] {
    Registry all;
    EXPECT_TRUE(all.load_default());
    return all;
  }();
  const Target* target = registry.find<Target>("c");
  if (target == nullptr) fail("there is no target c");
  return *target;
}

template <class Scalar>
std::vector<std::vector<double>> numbers(const Contents<Scalar>& contents) {
  std::vector<std::vector<double>> all;
  for (const auto& elements : contents) {
    auto& row = all.emplace_back();
    for (const Scalar& element : elements) row.push_back(static_cast<double>(element.value));
  }
  return all;
}

/// Interpreted and compiled, by buffer.
template <class Scalar>
std::pair<std::vector<std::vector<double>>, std::vector<std::vector<double>>> both_runs(const Program& program,
                                                                                        std::uint64_t seed) {
  Contents<Scalar> contents = random_contents<Scalar>(program.buffers, seed);
  std::vector<std::vector<double>> compiled = numbers(contents);
  const auto status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message;
  const auto code = compile_one(c_target(), program);
  EXPECT_TRUE(code) << code.error().message << to_string(program);
  if (code) {
    const auto run = run_compiled(**code, program, compiled);
    EXPECT_TRUE(run) << run.error().message;
  }
  return {numbers(contents), compiled};
}

bool is_near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

Program as_float64(Program program) {
  for (Buffer& buffer : program.buffers) buffer.element = ElementType::kFloat64;
  return program;
}

TEST(CTarget, ComputesWrappingIntegersToTheBit) {
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    const auto lowered = lower(inlined(RandomDefinition(seed).make()));
    ASSERT_TRUE(lowered);
    const Program program = over_wrapping_integers(*lowered);
    const auto [interpreted, compiled] = both_runs<Wrapping>(program, seed);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].role != BufferRole::kOutput) continue;
      EXPECT_EQ(interpreted[b], compiled[b]) << "seed " << seed << "\n" << to_string(program);
    }
  }
}

TEST(CTarget, ComputesFloat64WithinRounding) {
  for (std::uint64_t seed = 0; seed < 25 && !HasFailure(); ++seed) {
    const auto lowered = lower(RandomDefinition(seed).make());
    ASSERT_TRUE(lowered);
    const Program program = as_float64(*lowered);
    const auto [interpreted, compiled] = both_runs<Real>(program, seed);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].role != BufferRole::kOutput) continue;
      for (std::size_t i = 0; i < interpreted[b].size(); ++i) {
        EXPECT_TRUE(is_near(interpreted[b][i], compiled[b][i], 1e-9))
            << "seed " << seed << ": " << program.buffers[b].name << " at " << i << ": " << interpreted[b][i] << " and "
            << compiled[b][i] << "\n"
            << to_string(program);
      }
    }
  }
}

Result<Program> program_of(std::string_view text) { return parse_program(text); }

/// Runs a program of the text form on given numbers; gives the named buffer.
std::vector<double> computed(std::string_view text, std::vector<std::vector<double>> contents) {
  const auto program = program_of(text);
  EXPECT_TRUE(program) << program.error().message;
  const auto code = compile_one(c_target(), *program);
  EXPECT_TRUE(code) << code.error().message;
  const auto status = run_compiled(**code, *program, contents);
  EXPECT_TRUE(status) << status.error().message;
  return contents.back();
}

TEST(CTarget, ComputesFloat32WithinRounding) {
  const std::string text =
      "buffer x[2, 3] float32 in buffer w[3, 2] float32 weight buffer acc[] float32 temporary\n"
      "buffer y[2, 2] float32 out\n"
      "for y.i 2 parallel { for y.j 2 vector { store acc[] = 0 for y.k 3 unroll {\n"
      "store acc[] += x[y.i, y.k] * w[y.k, y.j] } store y[y.i, y.j] = max(acc[], 0) + (1/3) } }";
  const auto y = computed(text, {{1, 2, 3, -4, 5, 6}, {1, 0.5, -1, 2, 3, 1}, {}, {}});
  const std::vector<double> expected = {8.0 + 1.0 / 3, 7.5 + 1.0 / 3, 9.0 + 1.0 / 3, 14 + 1.0 / 3};
  ASSERT_EQ(y.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 1e-5) << i;
}

TEST(CTarget, ComputesTypesConversionsAndData) {
  EXPECT_EQ(computed("buffer n[3] int64 in buffer x[4] float32 in buffer y[3] float32 out\n"
                     "for y.i 3 serial { store y[y.i] = x[data(n[y.i], -4, 4) mod 4] }",
                     {{-1, 0, 2}, {10, 11, 12, 13}, {}}),
            (std::vector<double>{13, 10, 12}));
  EXPECT_EQ(computed("buffer x[4] float32 in buffer y[4] int32 out\n"
                     "for y.i 4 serial { store y[y.i] = cast(int32, x[y.i]) / 2 - cast(int32, x[y.i]) mod 3 }",
                     {{-7, 7, 2.9, -2.9}, {}}),
            (std::vector<double>{-5, 2, -1, -2}));
  EXPECT_EQ(computed("buffer x[3] float64 in buffer b[3] bool in buffer y[3] bool out\n"
                     "for y.i 3 serial { store y[y.i] = not b[y.i] and x[y.i] <= 1 or cast(bool, index(y.i)) }",
                     {{1, 2, 0}, {0, 0, 1}, {}}),
            (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(computed("buffer x[2] int64 in buffer y[2] int64 out\n"
                     "for y.i 2 serial { store y[y.i] = x[y.i] * x[y.i] + 9223372036854775807 }",
                     {{1, 3}, {}}),
            (std::vector<double>{static_cast<double>(INT64_MIN), static_cast<double>(INT64_MIN + 8)}));
}

TEST(CTarget, SaysWhereDataIsOutOfRange) {
  const auto program = program_of(
      "buffer n[1] int64 in buffer x[4] float32 in buffer y[1] float32 out store y[0] = x[data(n[0], 0, 4)]");
  ASSERT_TRUE(program);
  const auto code = compile_one(c_target(), *program);
  ASSERT_TRUE(code) << code.error().message;
  std::vector<std::vector<double>> contents = {{4}, {1, 2, 3, 4}, {}};
  const auto status = run_compiled(**code, *program, contents);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("outside of its declared range"));
}

TEST(CTarget, RunsEachOfSeveralProgramsOfOneObject) {
  std::vector<NamedProgram> programs;
  for (const char* const name : {"first", "second"}) {
    const auto program = program_of("buffer y[] float32 out store y[] = " + std::to_string(programs.size() + 1));
    ASSERT_TRUE(program);
    programs.push_back({name, *program});
  }
  auto all = c_target().compile(programs, {});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  std::vector<std::vector<double>> contents(1);
  all->erase(all->begin());  // The object stays loaded for the other.
  ASSERT_TRUE(run_compiled(*all->front(), programs[1].program, contents));
  EXPECT_EQ(contents[0], std::vector<double>{2});
}

TEST(CTarget, WritesTheDefinitionAboveItsLoops) {
  const auto program = program_of(
      "buffer for_[4] float32 in buffer y[4] float32 out\n"
      "# y[i] = max(x[i], 0)\nfor y.i 4 serial { store y[y.i] = max(for_[y.i], 0) }");
  ASSERT_TRUE(program) << program.error().message;
  const NamedProgram named{"relu", *program};
  const auto source = c_target().source({&named, 1}, {});
  ASSERT_TRUE(source);
  EXPECT_THAT(*source, HasSubstr("static int relu(const float *restrict for_, float *restrict y) {\n"
                                 "  /* y[i] = max(x[i], 0) */\n"
                                 "  for (int64_t i = 0; i < 4; ++i) {\n"
                                 "    y[i] = max_f32(for_[i], 0.0f);\n"
                                 "  }\n  return 0;\n}\n"));
  const NamedProgram wrong{"for", *program};
  EXPECT_FALSE(c_target().source({&wrong, 1}, {}));
}

/// REWRIGHT_CC as long as it lives.
class Compiler {
 public:
  explicit Compiler(const std::string& program) { ::setenv("REWRIGHT_CC", program.c_str(), 1); }
  ~Compiler() { ::unsetenv("REWRIGHT_CC"); }
};

TEST(CTarget, NamesACompilerThatIsMissingFailsOrHangs) {
  const auto program = program_of("buffer y[] float32 out store y[] = 1");
  ASSERT_TRUE(program);
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto script = [&](const std::string& name, const std::string& body) {
    const std::string file = folder->path() + "/" + name;
    std::ofstream(file) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  };
  const auto said_by = [&](const std::string& compiler) {
    const Compiler named(compiler);
    const auto code = compile_one(c_target(), *program, {.seconds = 1});
    return code ? "it compiled" : code.error().message;
  };
  EXPECT_THAT(said_by("/nowhere/cc"), HasSubstr("no C compiler: the program '/nowhere/cc' cannot be run"));
  EXPECT_THAT(said_by(script("fails", "echo note; echo 'k.c:1: error: no good' >&2; exit 3")),
              HasSubstr("failed (exit code 3): k.c:1: error: no good"));
  EXPECT_THAT(said_by(script("hangs", "sleep 600")), HasSubstr("took more than 1 s"));
}

}  // namespace
