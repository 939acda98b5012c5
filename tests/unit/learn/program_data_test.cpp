#include "learn/program_data.h"

#include <rewright/optimize/cost_key.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "learn/sampling.h"
#include "support/operators.h"

namespace rewright::learn {
namespace {

using rewright::testing::loaded;
using ::testing::HasSubstr;

/// Kernels of which a schedule with more steps takes longer.
ProgramData made(std::size_t kernels) {
  ProgramData data{"c, hot caches, test", {"vectors", "steps", "operations"}, {}};
  for (std::size_t k = 0; k < kernels; ++k) {
    for (std::size_t i = 1; i <= 16; ++i) {
      const double work = 1000.0 * static_cast<double>(k + 1);
      tune::Observation each;
      each.features.stages = {{work, static_cast<double>(i * 100), 2 * work}, {1, 1, 1}};
      each.us = work / 100 + static_cast<double>(i);
      each.task = "kernel " + std::to_string(k);
      data.programs.push_back(std::move(each));
    }
  }
  return data;
}

std::string file_with(const std::string& text) {
  std::string path = ::testing::TempDir() + "/some.programs";
  std::ofstream(path) << text;
  return path;
}

TEST(MeasuredPrograms, AreReadAsTheyWereWritten) {
  const std::string path = ::testing::TempDir() + "/made.programs";
  const ProgramData data = made(3);
  ASSERT_TRUE(write_programs(path, data));
  EXPECT_TRUE(holds_programs(path));
  const auto again = read_programs(path);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->programs.size(), data.programs.size());
  EXPECT_EQ(again->programs.back().features.stages, data.programs.back().features.stages);
  EXPECT_EQ(again->programs.back().task, "kernel 2");
}

TEST(MeasuredPrograms, SayWhatIsWrongAndWhere) {
  const auto refusal = [](const std::string& text) {
    const auto data = read_programs(file_with(text));
    return data ? std::string() : data.error().message;
  };
  const std::string head = R"({"rewright_programs":1,"unit":"us","device":"d","columns":["a","b"]})"
                           "\n";
  EXPECT_THAT(refusal(""), HasSubstr("has no measured programs"));
  EXPECT_THAT(refusal(R"({"rewright_programs":9,"unit":"us","columns":[]})"), HasSubstr("version 9"));
  EXPECT_THAT(refusal(R"({"rewright_programs":1,"unit":"ns","columns":[]})"), HasSubstr("times in \"ns\""));
  EXPECT_THAT(refusal(head + R"({"task":"t","us":0,"stages":[]})"), HasSubstr("some.programs:2: a time of 0 us"));
  EXPECT_THAT(refusal(head + R"({"task":"t","us":1,"stages":[[1]]})"), HasSubstr("a stage of 1 numbers; there are 2"));
  EXPECT_THAT(refusal(head + R"({"task":"t","stages":[]})"), HasSubstr("not a measured program"));
}

TEST(MeasuredPrograms, AnOrderIsLearnedFromOtherKernels) {
  const ProgramData data = made(12);
  for (const char* predictor : {"trees", "graph"}) {
    if (loaded().find<Predictor>(predictor) == nullptr) continue;
    for (const char* loss : {"squared", "rank"}) {
      Recipe recipe{.predictor = predictor};
      recipe.options["loss"] = std::string(loss);
      const auto found = evaluate_order(data, recipe, loaded());
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(found->kernels, 12U);
      EXPECT_GT(found->tau, 0.9) << predictor << " " << loss;
      EXPECT_LT(found->best_of_5, found->random_of_5 + 1e-9) << predictor << " " << loss;
    }
  }
}

TEST(MeasuredPrograms, FiveThatAreDrawnGiveWhatTheyGiveOnAverage) {
  // Six schedules, 1 to 6: any five but those without the first have it: (5 * 1 + 1 * 2) / 6.
  ProgramData data{"d", {"vectors"}, {}};
  for (int k = 0; k < 8; ++k) {
    for (int i = 1; i <= 6; ++i) {
      tune::Observation each;
      each.features.stages = {{static_cast<double>(i)}};
      each.us = i;
      each.task = "kernel " + std::to_string(k);
      data.programs.push_back(std::move(each));
    }
  }
  const auto found = evaluate_order(data, {.predictor = "roofline"}, loaded());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NEAR(found->random_of_5, 7.0 / 6 - 1, 1e-9);
}

/// Each kernel takes what its key says, and the reference another time when it is told to drift.
class CountingCost final : public CostModel {
 public:
  int asked = 0, drifts = 0;
  [[nodiscard]] std::string name() const override { return "counting"; }
  [[nodiscard]] std::string summary() const override { return "Counts"; }
  [[nodiscard]] std::string device() const override { return "test"; }
  [[nodiscard]] bool measured() const override { return true; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    ++asked;
    const std::string key = to_key(application);
    if (key == "|matmul|data(256, 512)weight(512, 256)") return drifts-- > 0 ? 100.0 + 50 * (drifts % 2) : 100.0;
    return static_cast<double>(key.size());
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<CountingCost>(); }
};

std::string model_of_the_tests() {
  return std::string(REWRIGHT_SOURCE_DIR) + "/tests/models/faults/A01_matmul_add_clip.onnx";
}

TEST(Sampling, MeasuresKernelsOfModelsAndTheirRelativesTwice) {
  SamplingOptions options;
  options.models = {model_of_the_tests()};
  options.file = ::testing::TempDir() + "/sampled.kernels";
  std::remove(options.file.c_str());
  options.seconds = 1;
  CountingCost cost;
  const auto report = sample(cost, options, loaded());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->new_kernels, 10U);
  const auto data = read_data({options.file}, "", loaded());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->device, "counting|test");
  EXPECT_EQ(data->samples.size(), report->new_kernels);
  const auto own = kernels_of_model(options.models[0], cost, loaded());
  ASSERT_TRUE(own) << own.error().message;
  std::set<std::string> keys;
  for (const Sample& each : data->samples) {
    keys.insert(each.kernel);
    EXPECT_EQ(each.programs, std::set<std::string>{"A01_matmul_add_clip"});
  }
  for (const std::string& key : *own) EXPECT_TRUE(keys.contains(key)) << key;
  // Again: what is there stays, and is not new.
  const auto more = sample(cost, options, loaded());
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_GE(read_data({options.file}, "", loaded())->samples.size(), data->samples.size());
}

TEST(Sampling, ABlockBesideADriftingReferenceIsDoneAgain) {
  SamplingOptions options;
  options.models = {model_of_the_tests()};
  options.file = ::testing::TempDir() + "/drifting.kernels";
  std::remove(options.file.c_str());
  options.seconds = 0.3;
  CountingCost cost;
  cost.drifts = 2;
  const auto report = sample(cost, options, loaded());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->discarded, 1U);
}

TEST(Sampling, AKernelWithOtherSizesIsStillAKernel) {
  const std::string key = "|conv2d|data(1, 64, 28, 28)weight(128, 64, 3, 3)+0|relu|data(1, 128, 28, 28)";
  std::size_t others = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto other = resized(key, seed, loaded());
    if (!other) continue;
    ++others;
    EXPECT_NE(*other, key);
    EXPECT_TRUE(from_key(*other, loaded())) << *other;
    EXPECT_EQ(resized(key, seed, loaded()), other);
  }
  EXPECT_GT(others, 10U);
}

}  // namespace
}  // namespace rewright::learn
