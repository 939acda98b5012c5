#include <rewright/learn/kernel_features.h>
#include <rewright/learn/learned_model.h>
#include <rewright/onnx/runtime.h>
#include <rewright/optimize/cost_key.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/files.h"
#include "learn/accuracy.h"
#include "learn/network_file.h"
#include "support/operators.h"

namespace rewright::learn {
namespace {

using rewright::testing::loaded;
using ::testing::HasSubstr;

const DataSet& shipped() {
  static const DataSet data =
      *read_data({std::string(REWRIGHT_SOURCE_DIR) + "/experiments/learn/onnxruntime.kernels"}, "", loaded());
  return data;
}

/// Every tenth kernel.
LearnedModel small_model(const Recipe& recipe = {.options = {{"rounds", std::int64_t{20}}}}) {
  std::vector<std::size_t> samples;
  for (std::size_t s = 0; s < shipped().samples.size(); s += 10) samples.push_back(s);
  auto model = fit(shipped(), samples, recipe, loaded());
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

std::string file_of(const LearnedModel& model, const std::string& name) {
  const auto bytes = model.to_file();
  EXPECT_TRUE(bytes) << bytes.error().message;
  std::string path = ::testing::TempDir() + "/" + name;
  EXPECT_TRUE(write_file(path, *bytes));
  return path;
}

std::vector<std::string> predictors() {
  std::vector<std::string> names = {"roofline"};
  for (const char* name : {"trees", "graph", "sequence"}) {
    if (loaded().find<Predictor>(name) != nullptr) names.emplace_back(name);
  }
  return names;
}

TEST(LearnedModels, AreTheSameWhenTheyAreReadAgain) {
  for (const std::string& predictor : predictors()) {
    const LearnedModel model = small_model({.predictor = predictor});
    const auto again = LearnedModel::read(file_of(model, "same.onnx"), loaded());
    ASSERT_TRUE(again) << predictor << ": " << again.error().message;
    for (std::size_t s = 0; s < shipped().samples.size(); s += 31)
      EXPECT_EQ(model.estimate(shipped().samples[s].features), again->estimate(shipped().samples[s].features))
          << predictor;
  }
}

TEST(LearnedModels, AreTheSameWhenTheyAreFittedAgain) {
  for (const std::string& predictor : predictors())
    EXPECT_EQ(*small_model({.predictor = predictor}).to_file(), *small_model({.predictor = predictor}).to_file())
        << predictor;
}

template <class Value>
RuntimeTensor tensor(const std::string& name, ElementType type, const Shape& shape, const std::vector<Value>& values) {
  RuntimeTensor made{name, {shape, type}, std::vector<std::byte>(values.size() * sizeof(Value))};
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

/// What the network of a program's features takes.
std::vector<RuntimeTensor> inputs_of(const tune::Features& features) {
  std::vector<double> stages;
  for (const auto& row : features.stages) stages.insert(stages.end(), row.begin(), row.end());
  const auto count = static_cast<std::int64_t>(features.stages.size());
  std::vector<float> reads(static_cast<std::size_t>(count * count));
  for (const auto& [reader, read] : features.reads) reads[static_cast<std::size_t>(reader * count + read)] = 1;
  return {tensor("stages", ElementType::kFloat64, {count, static_cast<std::int64_t>(kernel_columns().size())}, stages),
          tensor("kinds", ElementType::kInt64, {count}, features.kinds),
          tensor("reads", ElementType::kFloat32, {count, count}, reads)};
}

TEST(LearnedModels, AreWhatARuntimeComputesOfTheirFile) {
  const Runtime& runtime = **loaded().get<Runtime>("onnxruntime");
  for (const std::string& predictor : predictors()) {
    LearnedModel model = small_model({.predictor = predictor});
    model.ratio_variance = 0;  // The members alone: how they are weighed is no part of the network.
    const auto bytes = model.to_file();
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto session = runtime.load(std::as_bytes(std::span(*bytes)), {});
    ASSERT_TRUE(session) << predictor << ": " << session.error().message;
    std::size_t compared = 0;
    for (std::size_t s = 0; s < shipped().samples.size(); s += 37) {
      const tune::Features& features = shipped().samples[s].features;
      if (!model.outside(features).empty()) continue;
      std::vector<RuntimeTensor> inputs = inputs_of(features);
      const auto found = (*session)->run(inputs);
      ASSERT_TRUE(found) << found.error().message;
      std::vector<double> members(found->front().bytes.size() / sizeof(double));
      std::memcpy(members.data(), found->front().bytes.data(), found->front().bytes.size());
      double logarithm = 0;
      for (const double member : members) logarithm += std::log(member) / static_cast<double>(members.size());
      const double ours = std::log(model.estimate(features).us);
      EXPECT_NEAR(logarithm, ours, 1e-3) << predictor << " " << shipped().samples[s].kernel;
      ++compared;
    }
    EXPECT_GT(compared, 50U) << predictor;
  }
}

TEST(LearnedModels, ThatWereChangedAreRefused) {
  const std::string path = file_of(small_model(), "changed.onnx");
  const std::string bytes = *read_file(path);
  const auto refusal = [&](const std::string& changed) {
    EXPECT_TRUE(write_file(path, changed));
    const auto model = LearnedModel::read(path, loaded());
    return model ? std::string() : model.error().message;
  };
  EXPECT_THAT(refusal("no model"), HasSubstr("not an ONNX model"));
  EXPECT_THAT(refusal(""), HasSubstr("no learned cost"));
  auto file = *network_of(bytes, "it", "rewright_learned_model");
  NetworkFile other = file;
  other.facts.erase("rewright_learned_model");
  EXPECT_THAT(refusal(*to_model(other)), HasSubstr("no learned cost"));
  other = file;
  std::string& facts = other.facts["rewright_learned_model"];
  facts.replace(facts.find("operations"), 10, "operationz");
  EXPECT_THAT(refusal(*to_model(other)), HasSubstr("other columns than this program has (operations, operationz)"));
  other = file;
  other.network.nodes.front().type = "ReduceMax";
  EXPECT_THAT(refusal(*to_model(other)), HasSubstr("writes another network"));
  EXPECT_EQ(refusal(bytes), "");
}

TEST(LearnedModels, ThatAreDamagedNeverCrash) {
  const std::string bytes =
      *small_model({.options = {{"rounds", std::int64_t{2}}, {"models", std::int64_t{2}}}}).to_file();
  const std::string path = ::testing::TempDir() + "/damaged.onnx";
  std::mt19937_64 random(7);
  for (int i = 0; i < 400; ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (i % 4 == 0) damaged.resize(random() % damaged.size());
    ASSERT_TRUE(write_file(path, damaged));
    const auto model = LearnedModel::read(path, loaded());
    if (!model) continue;
    const Estimate estimate = model->estimate(shipped().samples.front().features);
    EXPECT_GT(estimate.us, 0);
  }
}

TEST(LearnedModels, KnowWhatTheyWereNotTrainedOn) {
  const LearnedModel model = small_model();
  const auto features = [&](const char* key) {
    const auto owned = from_key(key, loaded());
    EXPECT_TRUE(owned) << owned.error().message;
    return features_of(owned->kernel(), model.setting.kinds);
  };
  EXPECT_THAT(model.outside(features("|relu|data(1, 64, 56, 56)")), ::testing::IsEmpty());
  EXPECT_THAT(model.outside(features("|relu|data(64, 4096, 56, 56)")), ::testing::Contains("bytes"));
  const auto unknown = features("|abs|data(1, 64, 56, 56)");
  EXPECT_THAT(model.outside(unknown), ::testing::Contains("kind"));
  EXPECT_EQ(model.estimate(unknown), model.base->predict({&unknown, 1}).front());
}

TEST(LearnedModels, AreAsGoodOnTheFrozenDataAsTheyWere) {
  if (loaded().find<Predictor>("trees") == nullptr) GTEST_SKIP() << "built without XGBoost";
  auto folds = *split(shipped(), "program");
  std::erase_if(folds, [](const Fold& fold) {
    return fold.name != "squeezenet" && fold.name != "llama" && fold.name != "resnext50";
  });
  const auto reports = evaluate(shipped(), folds, {}, loaded());
  ASSERT_TRUE(reports) << reports.error().message;
  ASSERT_EQ(reports->size(), 3);
  for (const FoldReport& report : *reports) {
    EXPECT_LE(report.model.error, 0.18) << report.name;
    EXPECT_GE(report.model.tau, 0.85) << report.name;
    EXPECT_LE(report.model.error, 1.1 * report.base.error) << report.name;
    EXPECT_LE(report.base.error, 0.3) << report.name;
  }
}

}  // namespace
}  // namespace rewright::learn
