// The predictor process learns how far times are from what the machine's figures say, knob by knob.
#include <rewright/plugin/registry.h>
#include <rewright/tune/predictor.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "support/operators.h"
#include "tune/features.h"

namespace {

using namespace rewright;
using namespace rewright::tune;

PredictorSetting setting() {
  PredictorSetting setting{feature_columns(), {}, 1};
  setting.machine.caches = {{1, 32 << 10, 100}, {0, 0, 10}};
  setting.machine.peak_gflops = 100;
  return setting;
}

/// What takes `vectors` of work; two knobs.
Features program(double vectors, double a, double b) {
  const auto columns = feature_columns();
  std::vector<double> row(columns.size(), 0);
  row[static_cast<std::size_t>(std::ranges::find(columns, "vectors") - columns.begin())] = vectors;
  Features features;
  features.stages = {row};
  features.knobs = {a, b};
  return features;
}

/// The first knob matters, the second does not; a task may be `slower` as a whole.
Observation observed(const std::string& task, double vectors, double a, double b, double slower = 1) {
  return {program(vectors, a, b), slower * vectors * 1e-2 * (1 + 4 * (a - 0.3) * (a - 0.3)), task};
}

std::unique_ptr<FittedPredictor> fitted(const std::vector<Observation>& observations) {
  const auto predictor = rewright::testing::loaded().get<Predictor>("process");
  if (!predictor) return nullptr;
  auto made = (*predictor)->fit(observations, setting(), {});
  EXPECT_TRUE(made) << made.error().message;
  return made ? *std::move(made) : nullptr;
}

Estimate predicted(const FittedPredictor& process, const Features& features) {
  return process.predict({&features, 1})[0];
}

std::vector<Observation> some(const std::string& task, int count, double slower = 1) {
  std::vector<Observation> all;
  for (int i = 0; i < count; ++i)
    all.push_back(observed(task, 1000 * (1 + i % 5), (i * 7 % 20) / 19.0, (i * 11 % 20) / 19.0, slower));
  return all;
}

TEST(ProcessPredictor, KnowsWorkFromTheMachineAndKnobsFromObservations) {
  const auto process = fitted(some("one", 20));
  ASSERT_NE(process, nullptr);
  for (const double vectors : {500.0, 8000.0}) {  // Beyond what was observed.
    for (const double a : {0.0, 0.3, 0.6, 1.0}) {
      const Observation held = observed("one", vectors, a, 0.5);
      const Estimate found = predicted(*process, held.features);
      EXPECT_NEAR(std::log(found.us / held.us), 0, 0.15) << vectors << ' ' << a;
      EXPECT_GT(found.spread, 0);
    }
  }
}

TEST(ProcessPredictor, IsLessSureFarFromWhatItHasSeen) {
  std::vector<Observation> near;
  for (int i = 0; i < 12; ++i) near.push_back(observed("one", 1000, 0.02 * i, 0.5));
  const auto process = fitted(near);
  ASSERT_NE(process, nullptr);
  const Estimate seen = predicted(*process, program(1000, 0.1, 0.5));
  const Estimate far = predicted(*process, program(1000, 1, 0.5));
  EXPECT_LT(seen.spread / seen.us, far.spread / far.us);
}

// What other sizes took teaches which knobs are good; times are those of the last observation's task.
TEST(ProcessPredictor, LearnsFromOtherTasks) {
  std::vector<Observation> both = some("other", 20, 10);
  const std::vector<Observation> few = {observed("this", 1000, 0.3, 0.1), observed("this", 2000, 0.9, 0.2)};
  both.insert(both.end(), few.begin(), few.end());
  const auto process = fitted(both);
  ASSERT_NE(process, nullptr);
  for (const double a : {0.05, 0.3, 0.7}) {
    const Observation held = observed("this", 1500, a, 0.9);
    EXPECT_NEAR(std::log(predicted(*process, held.features).us / held.us), 0, 0.25) << a;
  }
}

}  // namespace
