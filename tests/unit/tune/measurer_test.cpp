#include "tune/measurer.h"

#include <rewright/base/command.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tune/kernel_program.h"
#include "tune/measured_buffers.h"
#include "tune/this_machine.h"

namespace {

using namespace rewright;
using namespace rewright::tune;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;

loop::Program program_of(std::string_view text) {
  auto program = loop::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

/// y[i] = FACTOR * x[i], but the first SKIPPED.
loop::Program scaled(int factor, int skipped = 0) {
  return program_of(
      fmt::format("buffer x[64] float32 in buffer y[64] float32 out for y.i {} serial {{ "
                  "store y[y.i + {}] = x[y.i + {}] * {} }}",
                  64 - skipped, skipped, skipped, factor));
}

/// Iterations that take seconds, each.
loop::Program endless() {
  return program_of(
      "buffer x[64] float32 in buffer y[64] float32 out for y.a 1000000 serial { for y.b 1000000 serial {"
      "for y.i 64 serial { store y[y.i] = x[y.i] * 2 + y[y.i] } } }");
}

loop::Program outside() {
  return program_of("buffer x[64] float32 in buffer y[64] float32 out for y.i 4096 serial { store y[y.i] = x[0] * 2 }");
}

class Measuring : public testing::Test {
 protected:
  Measuring() : cache_(*TemporaryFolder::make()) {
    ::setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1);
    Registry registry;
    EXPECT_TRUE(registry.load_default());
    auto file = Measurer::plugin_of(registry, "c");
    EXPECT_TRUE(file) << file.error().message;
    setting_.plugin = *file;
    setting_.plain = scaled(2);
    setting_.task.batches = 3;
    setting_.task.batch_us = 20;
    setting_.task.run_seconds = 3;
    setting_.task.processor = -1;
  }
  ~Measuring() override { ::unsetenv("XDG_CACHE_HOME"); }

  std::vector<std::string> outcomes(const std::vector<loop::Program>& programs) {
    const auto measurer = Measurer::start(setting_);
    EXPECT_TRUE(measurer) << measurer.error().message;
    has_started_ = true;
    std::vector<std::string> all;
    const Status status = (*measurer)->measure(programs, [&](std::size_t i, const Measurement& measurement) -> Status {
      EXPECT_EQ(i, all.size());
      all.push_back(measurement.outcome);
      texts_.push_back(measurement.text);
      batches_.push_back(measurement.batches_us.size());
      return {};
    });
    if (!status) texts_.push_back(status.error().message);
    return all;
  }

  TemporaryFolder cache_;
  Measurer::Setting setting_;
  std::vector<std::string> texts_;
  std::vector<std::size_t> batches_;
  bool has_started_ = false;
};

TEST_F(Measuring, TimesWhatIsRight) {
  EXPECT_THAT(outcomes({scaled(2), scaled(2)}), ElementsAre("ok", "ok"));
  EXPECT_THAT(batches_, ElementsAre(3U, 3U));
}

TEST_F(Measuring, FindsBuffersByName) {
  setting_.plain = program_of(
      "buffer x[64] float32 in buffer t[64] float32 temporary buffer z[64] float32 in buffer y[64] float32 out "
      "for t.i 64 serial { store t[t.i] = x[t.i] * 2 } for y.i 64 serial { store y[y.i] = t[y.i] + z[y.i] }");
  const loop::Program inlined = program_of(
      "buffer x[64] float32 in buffer z[64] float32 in buffer y[64] float32 out "
      "for y.i 64 serial { store y[y.i] = x[y.i] * 2 + z[y.i] }");
  EXPECT_THAT(outcomes({inlined}), ElementsAre("ok"));
}

TEST_F(Measuring, ComparesNumbers) {
  // Where roots of what is below 0 are no numbers, inputs are not below 0, so that these two are the same.
  const auto root = [](const char* of) {
    return program_of(fmt::format(
        "buffer x[64] float32 in buffer y[64] float32 out for y.i 64 serial {{ store y[y.i] = sqrt({}) }}", of));
  };
  setting_.plain = root("x[y.i]");
  EXPECT_THAT(outcomes({root("max(x[y.i], 0)")}), ElementsAre("ok"));
}

TEST_F(Measuring, SaysWhichElementIsWrong) {
  EXPECT_THAT(outcomes({scaled(3), scaled(2, 1)}), ElementsAre("wrong", "wrong"));
  EXPECT_THAT(texts_[0], HasSubstr("element 0 of y is "));
  EXPECT_THAT(texts_[1], HasSubstr("nan, not"));
}

TEST_F(Measuring, GoesOnAfterACrashAndAHang) {
  EXPECT_THAT(outcomes({outside(), scaled(2), endless(), scaled(2)}), ElementsAre("crashed", "ok", "timeout", "ok"));
  EXPECT_THAT(texts_[0], HasSubstr("Segmentation fault"));
  EXPECT_THAT(texts_[2], HasSubstr("no answer within 3 s"));
}

TEST_F(Measuring, KeepsTheOrderOverModules) {
  std::vector<loop::Program> programs(11, scaled(2));
  programs[1] = scaled(3);
  programs[4] = outside();
  programs[9] = endless();
  EXPECT_THAT(outcomes(programs),
              ElementsAre("ok", "wrong", "ok", "ok", "crashed", "ok", "ok", "ok", "ok", "timeout", "ok"));
}

TEST_F(Measuring, RefusesWhatTheTargetCannotWriteAndTimesTheRest) {
  loop::Program unknown = scaled(2);
  setting_.task.dialect = "no such dialect";
  EXPECT_THAT(outcomes({unknown}), ElementsAre("refused"));
  EXPECT_THAT(texts_[0], HasSubstr("no such dialect"));
}

TEST_F(Measuring, RefusesCodeThatIsTooLong) {
  setting_.task.source_bytes = 100;
  EXPECT_THAT(outcomes({scaled(2)}), ElementsAre("over-budget"));
}

TEST_F(Measuring, LeavesASlowCandidateEarly) {
  setting_.task.batches = 9;
  const loop::Program slow = program_of(
      "buffer x[64] float32 in buffer y[64] float32 out for y.a 1000 serial { for y.i 64 serial {"
      "store y[y.i] = exp(x[y.i]) } } for y.j 64 serial { store y[y.j] = x[y.j] * 2 }");
  EXPECT_THAT(outcomes({scaled(2), slow}), ElementsAre("ok", "ok"));
  EXPECT_THAT(batches_, ElementsAre(AllOf(Ge(5U), Le(9U)), 3U));
  EXPECT_THAT(texts_[1], HasSubstr("left early"));
}

TEST_F(Measuring, RefusesFiguresAboveThePeakAndStopsAtTheThirdInARow) {
  setting_.plain = program_of(
      "buffer x[64] float32 in buffer y[64] float32 out for y.a 100000 serial { for y.i 64 serial {"
      "store y[y.i] = x[y.i] + 1 } } for y.j 64 serial { store y[y.j] = x[y.j] * 2 }");
  setting_.peak_gflops = 100;
  EXPECT_THAT(outcomes({scaled(2), scaled(2), scaled(2), scaled(2)}), ElementsAre("refused", "refused"));
  for (const std::string& text : texts_) EXPECT_THAT(text, HasSubstr("a fault of measuring"));
  EXPECT_EQ(texts_.size(), 3U);
}

TEST_F(Measuring, MeasuresAPeakThatIsTooLowAgain) {
  setting_.peak_gflops = 1e-6;
  EXPECT_THAT(outcomes({scaled(2)}), ElementsAre("ok"));
}

TEST_F(Measuring, EndsWhereItIsStopped) {
  int asked = 0;
  setting_.stop = [&] { return has_started_ && ++asked > 8; };  // A start asks while it waits.
  EXPECT_THAT(outcomes({endless()}), IsEmpty());
  EXPECT_THAT(texts_[0], HasSubstr("measuring was stopped"));
}

TEST_F(Measuring, WaitsForAnotherMeasurer) {
  const auto first = Measurer::start(setting_);
  ASSERT_TRUE(first) << first.error().message;
  int asked = 0;
  setting_.stop = [&] { return ++asked > 2; };
  const auto second = Measurer::start(setting_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBudget);
}

TEST(MeasuredBuffers, HoldTheSameForOneSeed) {
  const MeasureTask task;
  const auto a = MeasuredBuffers::make(scaled(2), task, true), b = MeasuredBuffers::make(scaled(2), task, false);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(std::memcmp(a->places()[0], b->places()[0], a->bytes(0)), 0);
  EXPECT_EQ(difference(scaled(2), *a, scaled(2), *b, 0), "");
}

TEST(Machine, HasAFingerprintAndCaches) {
  const Machine machine = described_machine();
  EXPECT_EQ(machine.fingerprint.size(), 16U);
  EXPECT_EQ(machine.fingerprint, described_machine().fingerprint);
  ASSERT_GE(machine.caches.size(), 2U);
  EXPECT_EQ(machine.caches.back().level, 0);
  EXPECT_GT(machine.caches.back().bytes, machine.last_cache_bytes());
}

}  // namespace
