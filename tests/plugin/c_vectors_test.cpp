// The dialects of target c with vectors compute what the interpreter computes, whatever is vectorised and unrolled;
// their functions keep the errors that c_vector_helpers.h states.
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

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
using testing::Not;

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

std::string source_of(const Program& program, const std::string& dialect) {
  const NamedProgram named{"kernel", program};
  TargetOptions options;
  options.dialect = dialect;
  auto source = c_target().source({&named, 1}, options);
  EXPECT_TRUE(source) << source.error().message;
  return source ? *source : "";
}

/// What the buffers hold after a run.
std::vector<std::vector<double>> computed(const Program& program, const std::string& dialect,
                                          std::vector<std::vector<double>> contents) {
  TargetOptions options;
  options.dialect = dialect;
  const auto code = compile_one(c_target(), program, options);
  EXPECT_TRUE(code) << code.error().message << to_string(program);
  if (!code) return contents;
  const auto run = run_compiled(**code, program, contents);
  EXPECT_TRUE(run) << run.error().message;
  return contents;
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

void collect(const Body& body, std::vector<LoopName>& names) {
  for (const Statement& statement : body) {
    if (statement.loop() != nullptr) names.push_back(*parse_loop_name(statement.loop()->axis.name));
    collect(body_of(statement), names);
  }
}

/// Loops split, distributed and reordered at random, then as many as possible vectorised and unrolled.
Program scheduled(Program program, std::uint64_t seed) {
  Random random(seed);
  const auto try_step = [&](const schedule::Transform& step) {
    auto outcome = schedule::apply(program, step);
    if (auto* made = std::get_if<Program>(&outcome)) program = std::move(*made);
  };
  for (int step = 0; step < 6; ++step) {
    std::vector<LoopName> names;
    collect(program.body, names);
    if (names.empty()) return program;
    const auto any = [&] { return names[random.below(names.size())]; };
    switch (random.below(3)) {
      case 0:
        try_step(schedule::Split{any(), random.between(1, 9), static_cast<schedule::Tail>(random.below(3))});
        break;
      case 1: try_step(schedule::Distribute{any()}); break;
      default: try_step(schedule::Reorder{{any(), any()}});
    }
  }
  std::vector<LoopName> names;
  collect(program.body, names);
  for (const LoopName& name : names) {
    if (random.one_in(3)) try_step(schedule::Mark{name, LoopKind::kUnroll});
    try_step(schedule::Mark{name, LoopKind::kVector});
  }
  return program;
}

const char* const kDialects[] = {"vectors", "vectors-portable"};

TEST(CVectors, ComputeWrappingIntegersToTheBit) {
  int with_vectors = 0;
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    const auto lowered = lower(inlined(RandomDefinition(seed, seed % 2 == 0 ? 4 : 19).make()));
    ASSERT_TRUE(lowered);
    const Program plain = over_wrapping_integers(*lowered);
    const Program program = scheduled(plain, seed);
    Contents<Wrapping> contents = random_contents<Wrapping>(plain.buffers, seed);
    auto given = numbers(contents);
    given.resize(program.buffers.size());
    ASSERT_TRUE(interpret(plain, contents));
    const std::string dialect = kDialects[seed % 4 == 3 ? 1 : 0];
    with_vectors += source_of(program, dialect).find("store_") != std::string::npos ? 1 : 0;
    const auto compiled = computed(program, dialect, given);
    for (std::size_t b = 0; b < plain.buffers.size(); ++b) {
      if (plain.buffers[b].role != BufferRole::kOutput) continue;
      EXPECT_EQ(numbers(contents)[b], compiled[b]) << "seed " << seed << "\n" << to_string(program);
    }
  }
  EXPECT_GT(with_vectors, 15);
}

TEST(CVectors, ComputeFloat32WithinRounding) {
  for (std::uint64_t seed = 100; seed < 120 && !HasFailure(); ++seed) {
    const auto lowered = lower(inlined(RandomDefinition(seed, 19).make()));
    ASSERT_TRUE(lowered);
    const Program program = scheduled(*lowered, seed);
    auto given = numbers(random_contents<Real>(lowered->buffers, seed));
    for (auto& row : given)
      for (double& x : row) x = static_cast<float>(x);
    const auto plain = computed(*lowered, "c11", given);
    given.resize(program.buffers.size());
    const auto compiled = computed(program, kDialects[seed % 2], given);
    for (std::size_t b = 0; b < lowered->buffers.size(); ++b) {
      if (lowered->buffers[b].role != BufferRole::kOutput) continue;
      for (std::size_t i = 0; i < plain[b].size(); ++i) {
        const double a = plain[b][i], c = compiled[b][i];
        const bool same = std::isnan(a) ? std::isnan(c) : a == c;
        const bool near = std::abs(a - c) <= 1e-3 * std::max(1.0, std::abs(a)) || std::abs(a) > 1e4 || std::isnan(a);
        EXPECT_TRUE(same || near) << "seed " << seed << ", " << lowered->buffers[b].name << " at " << i << ": " << a
                                  << " and " << c << "\n"
                                  << to_string(program);
      }
    }
  }
}

Program program_of(const std::string& text) {
  auto program = parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

TEST(CVectors, KeepARegisterTileInVariables) {
  Program program = program_of(
      "buffer x[12, 7] float32 in buffer w[7, 40] float32 weight buffer acc[] float32 temporary\n"
      "buffer y[12, 40] float32 out\n"
      "for y.i 12 serial { for y.j 40 serial { store acc[] = 0 for y.k 7 serial {\n"
      "store acc[] += x[y.i, y.k] * w[y.k, y.j] } store y[y.i, y.j] = max(acc[], 0) } }");
  const auto steps = schedule::parse_schedule(
      "split y.j 16 tail=cut; split y.i 6; distribute y.i/1; reorder y.j/0 y.i/1; distribute y.j/1; distribute y.i/1;"
      "reorder y.k y.i/1 y.j/1; unroll y.i/1; vectorise y.j/1; unroll y.i/1/4; vectorise y.j/1/3; unroll y.i/1/5;"
      "vectorise y.j/1/4");
  ASSERT_TRUE(steps) << steps.error().message;
  const auto made = schedule::apply(program, *steps);
  ASSERT_TRUE(made) << made.error().message;
  const std::string source = source_of(made->program, "vectors-avx2");
  EXPECT_THAT(source, HasSubstr("r_88 = fma_v8f32(splat_v8f32(x[at1 + 35]), v1, r_88);"));
}

TEST(CVectors, ReadAgainWhatWasWrittenBetween) {
  for (const std::string kind : {"serial", "parallel"}) {
    const Program program = program_of(fmt::format(
        "buffer x[4, 3, 16] float32 in buffer y[4, 3, 16] float32 out buffer z[4, 3, 16] float32 out\n"
        "buffer u[4, 3, 16] float32 out\n"
        "for y.n 4 serial {{ for y.i 3 {0} {{ for y.a 16 vector {{ store y[y.n, y.i, y.a] = x[y.n, y.i, y.a] + 1 }}\n"
        "for z.b 16 vector {{ store z[y.n, y.i, z.b] = y[y.n, y.i, z.b] * x[y.n, y.i, z.b] }}\n"
        "for y.c 16 vector {{ store y[y.n, y.i, y.c] = y[y.n, y.i, y.c] * 2 + x[y.n, y.i, y.c] }} }}\n"
        "for u.d 16 vector {{ store u[y.n, 0, u.d] = y[y.n, 0, u.d] + y[y.n, 2, u.d] }}\n"
        "for u.i 2 {0} {{ for y.e 16 vector {{ store y[y.n, u.i, y.e] = y[y.n, u.i, y.e] + 5 }} }}\n"
        "for u.f 16 vector {{ store u[y.n, 1, u.f] = y[y.n, 0, u.f] + y[y.n, 2, u.f] }}\n"
        "for u.g 16 vector {{ store u[y.n, 2, u.g] = y[y.n, 0, u.g] }} }}",
        kind));
    EXPECT_THAT(source_of(program, "vectors-avx2"), HasSubstr("const v8f32 v"));
    std::vector<std::vector<double>> given(4);
    for (int i = 0; i < 192; ++i) given[0].push_back(i % 7);
    const auto found = computed(program, "vectors", given);
    for (std::size_t i = 0; i < 192; ++i) {
      const double x = static_cast<double>(i % 7), first = 3 * x + 2;
      const std::size_t row = i / 16 % 3, at = i % 16, n = i / 48;
      const auto at_first = [&](std::size_t r) { return 3 * static_cast<double>((n * 48 + r * 16 + at) % 7) + 2; };
      EXPECT_EQ(found[1][i], first + (row < 2 ? 5 : 0)) << kind << i;
      EXPECT_EQ(found[2][i], (x + 1) * x) << kind << i;
      const double sums[] = {at_first(0) + at_first(2), at_first(0) + 5 + at_first(2), at_first(0) + 5};
      EXPECT_EQ(found[3][i], sums[row]) << kind << i;
    }
  }
}

/// 0.2f * (-0.5f / 0.2f) + 0.5f is 0, as that of plain C is, where the product is rounded, and -7e-9 where it is not.
TEST(CVectors, RoundProductsThatAreNoPartsOfSums) {
  const Program program = program_of(
      "buffer x[33] float32 in buffer y[33] float32 out buffer z[33] float32 out\n"
      "for y.i 33 vector { store y[y.i] = 0.2 * max(x[y.i], -2.5) + 0.5 }\n"
      "for z.i 33 vector { store z[z.i] = 0.5 store z[z.i] += 0.2 * max(x[z.i], -2.5) }");
  std::vector<std::vector<double>> given(3);
  for (int i = 0; i < 33; ++i) given[0].push_back(-i - 3);
  const auto found = computed(program, "vectors", given);
  for (const double y : found[1]) EXPECT_EQ(y, 0);
  EXPECT_THAT(source_of(program, "vectors-avx2"), HasSubstr("fma_v8f32(v"));
}

/// y[i, j] = sum(k, x[i, k] w[j / 64, k, j mod 64]), w in panels.
Program by_panels(int panels, int rows, int sum) {
  return program_of(fmt::format(
      "buffer x[{1}, {2}] float32 in buffer w[{0}, {2}, 64] float32 weight buffer y[{1}, {0}, 64] float32 out\n"
      "for y.p {0} serial {{ for y.i {1} serial {{ for y.a 64 vector {{ store y[y.i, y.p, y.a] = 0 }}\n"
      "for y.k {2} serial {{ for y.v 64 vector {{\n"
      "store y[y.i, y.p, y.v] += x[y.i, y.k] * w[y.p, y.k, y.v] }} }} }} }}",
      panels, rows, sum));
}

TEST(CVectors, FetchTheNextPanelOfManyWeights) {
  const std::string fetch = "__builtin_prefetch(";
  EXPECT_THAT(source_of(by_panels(4, 8, 1024), "vectors"),
              HasSubstr(fetch + "&w[i * 8192 + p * 65536 + k * 8 + 65536]);"));
  EXPECT_THAT(source_of(by_panels(4, 7, 1024), "vectors"),
              HasSubstr(fetch + "&w[i % 4 * 16384 + p * 65536 + k * 16 + 65536]);"));
  EXPECT_THAT(source_of(by_panels(4, 100, 1024), "vectors"), HasSubstr("i % 16 * 4096 + p * 65536 + k * 4 +"));
  EXPECT_THAT(source_of(by_panels(4, 1, 1024), "vectors"), Not(HasSubstr(fetch))) << "each panel is used once";
  EXPECT_THAT(source_of(by_panels(4, 8, 64), "vectors"), Not(HasSubstr(fetch))) << "all stay in the cache";
  EXPECT_THAT(source_of(by_panels(4, 8, 1024), "c11"), Not(HasSubstr(fetch)));
  std::vector<std::vector<double>> given(3);
  for (int i = 0; i < 8 * 1024; ++i) given[0].push_back(i % 5);
  for (int i = 0; i < 4 * 1024 * 64; ++i) given[1].push_back(i % 3);
  EXPECT_EQ(computed(by_panels(4, 8, 1024), "vectors", given)[2], computed(by_panels(4, 8, 1024), "c11", given)[2]);
}

/// Rows that three loops read, one after the other.
Program by_rows(int rows, int row, int lanes) {
  return program_of(fmt::format(
      "buffer x[{0}, {1}] float32 in buffer y[{0}, {1}] float32 out buffer s[{2}] float32 temporary\n"
      "for y.i {0} serial {{ for y.a {2} vector {{ store s[y.a] = 0 }}\n"
      "for y.j {3} serial {{ for y.b {2} vector {{ store s[y.b] += x[y.i, y.j * {2} + y.b] }} }}\n"
      "for y.k {3} serial {{ for y.c {2} vector {{ store y[y.i, y.k * {2} + y.c] = s[y.c] * x[y.i, y.k * {2} + y.c] }} "
      "}}\n"
      "for y.l {3} serial {{ for y.d {2} vector {{ store y[y.i, y.l * {2} + y.d] += x[y.i, y.l * {2} + y.d] }} }} }}",
      rows, row, lanes, row / lanes));
}

TEST(CVectors, FetchTheNextRowWhileOneIsReadAgain) {
  const std::string fetch = "__builtin_prefetch(";
  const std::string source = source_of(by_rows(256, 512, 32), "vectors");
  EXPECT_THAT(source, HasSubstr(fetch + "&x[at0 + 512]);"));
  EXPECT_THAT(source, HasSubstr(fetch + "&x[at0 + 528]);"));
  EXPECT_THAT(source, Not(HasSubstr("x[i * 512 + j * 32 + 512"))) << "the first reader waits for what it reads itself";
  EXPECT_THAT(source, Not(HasSubstr(fetch + "&x[at1"))) << "fetched already";
  EXPECT_THAT(source_of(by_rows(64, 512, 32), "vectors"), Not(HasSubstr(fetch))) << "all stay in the cache";
  EXPECT_THAT(source_of(by_rows(64, 16384, 32), "vectors"), Not(HasSubstr(fetch))) << "rows too long for a cache";
  EXPECT_THAT(source_of(by_rows(256, 512, 32), "c11"), Not(HasSubstr(fetch)));
  std::vector<std::vector<double>> given(3);
  for (int i = 0; i < 256 * 512; ++i) given[0].push_back(i % 7);
  EXPECT_EQ(computed(by_rows(256, 512, 32), "vectors", given)[1], computed(by_rows(256, 512, 32), "c11", given)[1]);
}

/// Greatest error in units in the last place, over floats of every exponent.
double greatest_error(const std::string& function, double (*exact)(double), double low, double high) {
  constexpr int kCount = 1 << 16;
  const Program program = program_of(
      "buffer x[65536] float32 in buffer y[65536] float32 out\n"
      "for y.i 65536 vector { store y[y.i] = " +
      function + "(x[y.i]) }");
  double worst = 0;
  for (const char* dialect : kDialects) {
    std::vector<std::vector<double>> given(2);
    Random random(7);
    for (int i = 0; i < kCount; ++i) {
      const float any = std::bit_cast<float>(static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32)));
      const double even = low + (high - low) * i / kCount;
      given[0].push_back(i % 4 == 0 && any >= low && any <= high ? any : static_cast<float>(even));
    }
    const auto found = computed(program, dialect, given);
    for (int i = 0; i < kCount; ++i) {
      const double right = exact(found[0][static_cast<std::size_t>(i)]);
      const double was = found[1][static_cast<std::size_t>(i)];
      const float near = static_cast<float>(std::abs(right));
      const double unit =
          std::max<double>(std::nextafter(near, std::numeric_limits<float>::infinity()) - near, 0x1p-149);
      worst = std::max(worst, std::abs(was - right) / unit);
    }
  }
  return worst;
}

TEST(CVectors, FunctionsKeepTheirErrors) {
  EXPECT_LT(greatest_error(
                "exp", [](double x) { return std::exp(x); }, -103.9, 88.7),
            2);
  EXPECT_LT(greatest_error(
                "log", [](double x) { return std::log(x); }, 1e-44, 1e38),
            2);
  EXPECT_LT(greatest_error(
                "log", [](double x) { return std::log(x); }, 0.5, 2),
            2);
  EXPECT_LT(greatest_error(
                "tanh", [](double x) { return std::tanh(x); }, -10, 10),
            6);
  EXPECT_LT(greatest_error(
                "erf", [](double x) { return std::erf(x); }, -5, 5),
            7);
  EXPECT_LT(greatest_error(
                "sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80),
            4);
  EXPECT_LT(greatest_error(
                "sqrt", [](double x) { return std::sqrt(x); }, 0, 1e30),
            1);
}

TEST(CVectors, FunctionsAtTheEndsOfTheType) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto at = [&](const std::string& function, std::vector<double> x) {
    const std::string n = std::to_string(x.size());
    const Program program = program_of("buffer x[" + n + "] float32 in buffer y[" + n + "] float32 out for y.i " + n +
                                       " vector { store y[y.i] = " + function + "(x[y.i]) }");
    return computed(program, "vectors", {std::move(x), {}})[1];
  };
  EXPECT_THAT(at("exp", {-inf, -200, 200, inf, 0}), testing::ElementsAre(0, 0, inf, inf, 1));
  EXPECT_THAT(at("log", {0, inf, 1}), testing::ElementsAre(-inf, inf, 0));
  EXPECT_THAT(at("tanh", {-inf, inf, 0}), testing::ElementsAre(-1, 1, 0));
  EXPECT_THAT(at("erf", {-inf, inf, 0}), testing::ElementsAre(-1, 1, 0));
  EXPECT_THAT(at("sigmoid", {-inf, inf, 0}), testing::ElementsAre(0, 1, 0.5));
  for (const char* function : {"exp", "log", "tanh", "erf", "sigmoid", "sqrt"})
    EXPECT_TRUE(std::isnan(at(function, {nan})[0])) << function;
  EXPECT_TRUE(std::isnan(at("log", {-1})[0]));
}

TEST(CVectors, MaskTailsAndConditionsOnTheLane) {
  for (const char* dialect : kDialects) {
    const Program guarded = program_of(
        "buffer x[21] float32 in buffer y[21] float32 out\n"
        "for y.i 2 serial { for y.j 16 vector { if y.i * 16 + y.j < 21 {\n"
        "store y[y.i * 16 + y.j] = select(index(y.j) < 3, x[y.i * 16 + y.j] + 1, x[20 - (y.i * 16 + y.j)]) } } }");
    std::vector<std::vector<double>> given(2);
    for (int i = 0; i < 21; ++i) given[0].push_back(i);
    const auto found = computed(guarded, dialect, given);
    for (int i = 0; i < 21; ++i)
      EXPECT_EQ(found[1][static_cast<std::size_t>(i)], i % 16 < 3 ? i + 1 : 20 - i) << dialect << " " << i;
  }
}

// Lanes two apart are what two vectors hold: not an element beyond the last is touched.
TEST(CVectors, LanesTwoApartAreReadUpToTheLast) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const mapped = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const pages = static_cast<std::byte*>(mapped);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  for (const int count : {1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 40}) {
    const int size = 2 * count - 1;
    const auto program = parse_program(fmt::format(
        "buffer x[{}] float32 in\nbuffer y[{}] float32 out\nfor y.i {} vector {{ store y[y.i] = x[2 * y.i] + 1 }}",
        size, count, count));
    ASSERT_TRUE(program) << program.error().message;
    if (count > 1) {
      EXPECT_THAT(source_of(*program, "vectors-avx512"), HasSubstr("load_even_v16f32(&x["));
    }
    for (const char* dialect : kDialects) {
      TargetOptions options;
      options.dialect = dialect;
      const auto code = compile_one(c_target(), *program, options);
      ASSERT_TRUE(code) << code.error().message;
      std::vector<float> x(static_cast<std::size_t>(size)), y(static_cast<std::size_t>(count));
      for (int i = 0; i < size; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i % 2 == 0 ? i : -1000);
      std::byte* const last = pages + page - x.size() * sizeof(float);
      std::memcpy(last, x.data(), x.size() * sizeof(float));
      std::byte* const buffers[] = {last, std::as_writable_bytes(std::span(y)).data()};
      ASSERT_TRUE((*code)->run(buffers));
      for (int i = 0; i < count; ++i)
        EXPECT_EQ(y[static_cast<std::size_t>(i)], static_cast<float>(2 * i + 1)) << dialect << " " << count;
    }
  }
  munmap(mapped, 2 * page);
}

// Groups of lanes read one place each: as many as a vector has are one number, fewer are moved within a vector.
TEST(CVectors, LanesOfAGroupReadOneNumber) {
  for (const int group : {4, 16, 32}) {
    const auto program = parse_program(
        fmt::format("buffer x[128] float32 in\nbuffer y[64] float32 out\nfor y.k 4 serial {{ for y.i 64 vector {{\n"
                    "store y[y.i] += x[floor(y.i / {0})*{0} + y.k] }} }}",
                    group));
    ASSERT_TRUE(program) << program.error().message;
    const std::string source = source_of(*program, "vectors-avx512");
    EXPECT_EQ(source.find("shuffled(load") != std::string::npos, group == 4) << source;
    EXPECT_EQ(source.find("splat_v16f32(x[") != std::string::npos, group != 4) << source;
  }
}

TEST(CVectors, AreCalledAsNothingElse) {
  const Program program = program_of(
      "buffer n0[21] float32 in buffer v8f32[21] float32 in buffer acc[8] float32 temporary\n"
      "buffer acc_0[21] float32 out buffer load_v8f32[] float32 out\n"
      "store load_v8f32[] = 3\n"
      "for y.n1 3 serial { for y.j 8 vector { store acc[y.j] = index(y.n1) }\n"
      "for y.n2 8 vector { if y.n1 * 8 + y.n2 < 21 {\n"
      "store acc_0[y.n1 * 8 + y.n2] = n0[y.n1 * 8 + y.n2] + v8f32[y.n1 * 8 + y.n2] + acc[y.n2] } } }");
  std::vector<std::vector<double>> given(5);
  for (int i = 0; i < 21; ++i) given[0].push_back(i), given[1].push_back(100);
  const auto found = computed(program, "vectors", given);
  for (int i = 0; i < 21; ++i) EXPECT_EQ(found[3][static_cast<std::size_t>(i)], i + 100 + i / 8) << i;
  EXPECT_EQ(found[4][0], 3);
}

TEST(CVectors, RunParallelLoopsOnThreads) {
  const Program program = program_of(
      "buffer n[3] int64 in buffer x[3, 500] float32 in buffer t[500] float32 temporary buffer y[3, 500] float32 out\n"
      "for y.b 3 serial { for y.i 500 parallel { if y.b < 2 {\n"
      "store t[y.i] = x[y.b, y.i] * 2 store y[y.b, y.i] = t[y.i] + x[data(n[y.b], 0, 3), y.i] } }\n"
      "for y.k 500 parallel { if 2 <= y.b { store y[y.b, y.k] = 7 } } }");
  EXPECT_THAT(source_of(program, "vectors"), HasSubstr("run_parallel(500, kernel_1_run, &loop_shared);"));
  TargetOptions options;
  options.dialect = "vectors";
  for (const int threads : {1, 2}) {
    options.threads = threads;
    const auto code = compile_one(c_target(), program, options);
    ASSERT_TRUE(code) << code.error().message;
    std::vector<std::vector<double>> contents(4);
    contents[0] = {1, 2, 0};
    for (int i = 0; i < 1500; ++i) contents[1].push_back(i);
    ASSERT_TRUE(run_compiled(**code, program, contents));
    for (int i = 0; i < 1500; ++i) {
      const int expected = i >= 1000 ? 7 : i * 2 + (i / 500 + 1) * 500 + i % 500;
      ASSERT_EQ(contents[3][static_cast<std::size_t>(i)], expected) << i;
    }
    contents[0] = {1, 5, 0};
    EXPECT_FALSE(run_compiled(**code, program, contents));
  }
}

/// y[b, j] = 2 x[b, n - 1 - j] + j, by way of a temporary that each b has for itself.
Program reversed(int size) {
  return program_of(
      fmt::format("buffer x[8, {0}] float32 in buffer t[{0}] float32 temporary buffer y[8, {0}] float32 out\n"
                  "for y.b 8 parallel {{ for t.i {0} parallel {{ store t[t.i] = x[y.b, t.i] * 2 }}\n"
                  "for y.j {0} parallel {{ store y[y.b, y.j] = t[{1} - y.j] + index(y.j) }} }}",
                  size, size - 1));
}

TEST(CVectors, ParallelIterationsDoNotShareLargeTemporaries) {
  TargetOptions options;
  options.dialect = "vectors";
  options.threads = 2;
  for (const int size : {100, 4096, 4097, 20000}) {
    const Program program = reversed(size);
    const bool is_small = size * 4 <= 16 << 10;  // Otherwise one place is there for all.
    const std::string source = source_of(program, "vectors");
    EXPECT_EQ(source.find("run_parallel(8,") != std::string::npos, is_small) << size;
    EXPECT_EQ(source.find(fmt::format("run_parallel({},", size)) == std::string::npos, is_small) << size;
    const auto code = compile_one(c_target(), program, options);
    ASSERT_TRUE(code) << code.error().message;
    for (int run = 0; run < 10; ++run) {
      std::vector<std::vector<double>> contents(3);
      for (int i = 0; i < 8 * size; ++i) contents[0].push_back(i % 1009 + run);
      ASSERT_TRUE(run_compiled(**code, program, contents));
      for (int i = 0; i < 8 * size; ++i) {
        const int b = i / size, j = i % size;
        ASSERT_EQ(contents[2][static_cast<std::size_t>(i)], 2 * ((b * size + size - 1 - j) % 1009 + run) + j)
            << size << ", " << b << ", " << j;
      }
    }
  }
}

TEST(CVectors, KnowTheirDialects) {
  const NamedProgram named{"kernel", program_of("buffer y[] float32 out store y[] = 1")};
  TargetOptions options;
  options.dialect = "vectors-mmx";
  const auto source = c_target().source({&named, 1}, options);
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, HasSubstr("there is no dialect 'vectors-mmx'; there are c11, vectors"));
  EXPECT_THAT(source_of(program_of("buffer y[4] float32 out for y.i 4 vector { store y[y.i] = 1 }"), "c11"),
              Not(HasSubstr("v8")));
}

}  // namespace
