// A tuning measures what tuners propose, remembers it in records, and goes on from them.
#include "tune/task_tuning.h"

#include <rewright/base/command.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "schedule/apply.h"
#include "schedule/schedule_json.h"
#include "support/equal_programs.h"
#include "tune/network_tuning.h"

namespace {

using namespace rewright;
using namespace rewright::tune;

constexpr const char* kProduct =
    "buffer a[20, 24] float32 in\nbuffer w[24, 37] float32 weight\nbuffer c[20, 37] float32 out\n"
    "for c.i 20 serial { for c.j 37 serial { store c[c.i, c.j] = 0\n"
    "for c.k 24 serial { store c[c.i, c.j] += a[c.i, c.k] * w[c.k, c.j] } } }";

class Tuning : public testing::Test {
 protected:
  Tuning() : cache_(*TemporaryFolder::make()) {
    ::setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1);
    EXPECT_TRUE(registry_.load_default());
    auto file = Measurer::plugin_of(registry_, "c");
    EXPECT_TRUE(file) << file.error().message;
    setting_.plugin = *file;
    setting_.tuner = registry_.find<Tuner>("evolution");
    setting_.tuner_options = {{"population", std::int64_t{16}}, {"generations", std::int64_t{1}}};
    setting_.prior = setting_.predictor = registry_.find<Predictor>("roofline");
    setting_.measure.dialect = "vectors";
    setting_.measure.batches = 3;
    setting_.measure.batch_us = 20;
    setting_.machine.fingerprint = "0123456789abcdef";
    setting_.batch = 4;
  }
  ~Tuning() override { ::unsetenv("XDG_CACHE_HOME"); }

  std::unique_ptr<TaskTuning> start(const std::vector<ScheduleRecord>& known = {}) {
    auto tuning = TaskTuning::start(program_task("product", test_support::program_of(kProduct)), setting_, known);
    EXPECT_TRUE(tuning) << tuning.error().message;
    return *std::move(tuning);
  }

  TemporaryFolder cache_;
  Registry registry_;
  TuningSetting setting_;
};

TEST_F(Tuning, GoesOnFromItsRecords) {
  const std::string folder = cache_.path() + "/store";
  auto opened = ScheduleRecords::open(folder);
  ASSERT_TRUE(opened) << opened.error().message;
  setting_.records = &*opened;
  const auto first = start();
  ASSERT_TRUE(first->measure_baselines());
  for (int round = 0; round < 2; ++round) {
    const Status status = first->round(8);
    ASSERT_TRUE(status) << status.error().message;
  }
  ASSERT_TRUE(first->time_again());
  EXPECT_LE(first->best_us(), first->one_shot_us()) << "what is returned is no slower than what was there";
  first->close();  // One measurer at a time.
  EXPECT_EQ(first->trials(), 8);
  EXPECT_LE(first->best_us(), first->unscheduled_us());
  EXPECT_EQ(first->outcomes().at("ok"), 10) << "two that need no search among them";

  const auto known = ScheduleRecords::read(folder);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->size(), 10);
  const auto second = start(*known);
  EXPECT_EQ(second->trials(), 8);
  EXPECT_EQ(second->replayed(), 8);
  EXPECT_GE(second->best_us(), first->best_us()) << "its records are those of the search";
  ASSERT_TRUE(second->measure_baselines());
  ASSERT_TRUE(second->round(4));
  EXPECT_EQ(ScheduleRecords::read(folder)->size(), 14) << "nothing is measured twice";

  // The record replays without the search.
  const loop::Program plain = test_support::program_of(kProduct);
  const auto steps = schedule::parse_schedule(first->best().schedule);
  ASSERT_TRUE(steps) << steps.error().message;
  const auto made = schedule::apply(plain, *steps);
  ASSERT_TRUE(made) << made.error().message;
  test_support::expect_equal(made->program, plain, 1, first->best().schedule);
}

TEST_F(Tuning, RecordsOfOtherSizesTeachThePredictorAlone) {
  const std::string folder = cache_.path() + "/store";
  auto opened = ScheduleRecords::open(folder);
  ASSERT_TRUE(opened) << opened.error().message;
  setting_.records = &*opened;
  ASSERT_TRUE(start()->run(8));
  setting_.records = nullptr;
  const auto known = ScheduleRecords::read(folder);
  const auto programs = ScheduleRecords::programs(folder);
  ASSERT_TRUE(known && programs);
  std::string larger = kProduct;
  for (std::size_t at = larger.find("20"); at != std::string::npos; at = larger.find("20", at))
    larger.replace(at, 2, "40");
  const auto of_larger = [&] {
    auto tuning = TaskTuning::start(program_task("larger", test_support::program_of(larger)), setting_, *known);
    EXPECT_TRUE(tuning) << tuning.error().message;
    return *std::move(tuning);
  };
  EXPECT_EQ(of_larger()->of_other_sizes(), 0U);
  setting_.programs = &*programs;
  const auto taught = of_larger();
  EXPECT_EQ(taught->of_other_sizes(), 8U);
  EXPECT_EQ(taught->trials(), 0) << "they are no trials of its own";
  EXPECT_FALSE(std::isfinite(taught->best_us()));
  EXPECT_EQ(start(*known)->of_other_sizes(), 0U) << "its own are replayed";
}

TEST_F(Tuning, RecordsOfAnotherMachineDoNotCount) {
  ScheduleRecord foreign;
  const TuningTask task = program_task("product", test_support::program_of(kProduct));
  foreign.structure = task.structure;
  foreign.sizes = task.sizes;
  foreign.target = "c";
  foreign.dialect = "vectors";
  foreign.machine = "another";
  foreign.policy = "hot";
  foreign.batches_us = {0.001};
  foreign.outcome = "ok";
  foreign.origin = "search";
  EXPECT_EQ(start({foreign})->trials(), 0);
  foreign.machine = setting_.machine.fingerprint;
  EXPECT_EQ(start({foreign})->trials(), 1);
}

TEST_F(Tuning, AGivenSpaceIsWalkedWhole) {
  setting_.tuner = registry_.find<Tuner>("random");
  setting_.tuner_options = {};
  setting_.given = {*schedule::read_space("knob t in {2, 4, 5}\nsplit c.i $t")};
  setting_.only_given = true;
  const auto tuning = start();
  while (!tuning->is_exhausted()) ASSERT_TRUE(tuning->round(8));
  EXPECT_EQ(tuning->trials(), 3);
}

TEST_F(Tuning, WhatIsGivenInASpaceStays) {
  setting_.given = {
      *schedule::read_space("knob f in {2, 4, 5}; knob g in {1, 2, 3}; with g=2; split c.i $f; split c.k $g")};
  setting_.only_given = true;
  const auto tuning = start();
  EXPECT_EQ(tuning->space().size(), 3U);
  ASSERT_TRUE(tuning->run(100));
  EXPECT_EQ(tuning->trials(), 3) << "f alone is free";
  const auto first = tuning->space().schedule_of({0, {0}});
  ASSERT_TRUE(first);
  EXPECT_EQ(to_string(first->steps), "split c.i 2\nsplit c.k 2\n");
}

TEST_F(Tuning, LooksAroundTheBestOnceNothingIsLeft) {
  setting_.given = {*schedule::read_space("from mine; split c.i 5; vectorise c.i/1")};
  setting_.only_given = setting_.around = true;
  setting_.tuner = registry_.find<Tuner>("random");
  setting_.tuner_options = {};
  const auto tuning = start();
  EXPECT_EQ(tuning->space().size(), 1U);
  EXPECT_EQ(tuning->best_schedule(), "");
  ASSERT_TRUE(tuning->run(4));
  EXPECT_GT(tuning->space().sketch_count(), 1U);
  EXPECT_EQ(tuning->trials(), 4) << "the schedule, then some near it";
}

TEST_F(Tuning, ANetworkSharesItsTrials) {
  TuningTask often = program_task("often", test_support::program_of(kProduct));
  often.count = 5;
  TuningTask plain = program_task("copy", test_support::program_of("buffer x[8] float32 in\nbuffer y[8] float32 out\n"
                                                                   "for y.i 8 serial { store y[y.i] = x[y.i] }"));
  auto network = NetworkTuning::start({plain, often}, sum_objective({1, 5}), setting_, {}, {});
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_TRUE((*network)->measure_baselines());
  for (int round = 0; round < 2; ++round) {
    const auto is_open = (*network)->round(8);
    ASSERT_TRUE(is_open) << is_open.error().message;
    EXPECT_TRUE(*is_open);
  }
  EXPECT_EQ((*network)->tasks()[0]->trials(), 0) << "a copy has nothing to tune";
  EXPECT_EQ((*network)->tasks()[1]->trials(), 8);
  EXPECT_LE((*network)->best_us(), (*network)->one_shot_us());
}

TEST_F(Tuning, WhatIsSmallEnoughIsNotTuned) {
  const TuningTask small = program_task("small", test_support::program_of(kProduct));
  TuningTask large = small;
  large.name = "large";
  auto network =
      NetworkTuning::start({small, large}, target_objective({{1, 0}, {0, 1}}, {1e9, 1e-3}), setting_, {}, {});
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_TRUE((*network)->measure_baselines());
  for (int round = 0; round < 3; ++round) ASSERT_TRUE((*network)->round(4));
  EXPECT_EQ((*network)->tasks()[0]->trials(), 0);
  EXPECT_EQ((*network)->tasks()[1]->trials(), 12) << "its target is out of reach";
}

TEST_F(Tuning, SaysHowManyPairsWereInTheOrderThatWasPredicted) {
  const auto tuning = start();
  ASSERT_TRUE(tuning->run(16));
  EXPECT_GT(tuning->ordered().pairs, 0);
  EXPECT_LE(tuning->ordered().pairs, 4 * 6) << "of each round of four";
  EXPECT_LE(tuning->ordered().right, tuning->ordered().pairs);
  setting_.prior = setting_.predictor = nullptr;
  tuning->close();
  const auto blind = start();
  ASSERT_TRUE(blind->run(8));
  EXPECT_EQ(blind->ordered().pairs, 0);
}

class OneTile final : public Generator {
 public:
  [[nodiscard]] std::string name() const override { return "one-tile"; }
  [[nodiscard]] std::string summary() const override { return "A tile of rows"; }
  [[nodiscard]] std::vector<std::string> schedules(const loop::Program& /*program*/,
                                                   const Machine& /*machine*/) const override {
    return {text};
  }
  std::string text = "knob t in {2, 4, 5}\nsplit c.i $t";
};

TEST_F(Tuning, WhatAGeneratorWritesIsSearchedFirst) {
  OneTile generator;
  setting_.generators = {&generator};
  EXPECT_EQ(start()->space().knobs(0).size(), 1);
  EXPECT_GT(start()->space().sketch_count(), 1);
  setting_.only_given = true;
  const auto tuning = start();
  ASSERT_TRUE(tuning->run(100));
  EXPECT_EQ(tuning->trials(), 3);
  EXPECT_TRUE(tuning->is_exhausted());

  generator.text = "split it well";
  const auto refused = TaskTuning::start(program_task("product", test_support::program_of(kProduct)), setting_, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("generator one-tile wrote no schedule"));
}

}  // namespace
