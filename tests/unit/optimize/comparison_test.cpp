// Two models measured in turn: what order that takes, when it ends, what it claims and how often that is wrong.
#include "optimize/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <random>

#include "support/operators.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using testing::loaded;
using testing::read_graph;

/// Time that passes only as a test says, so that a busy machine changes nothing.
class Clock {
 public:
  void advance(double seconds) { seconds_ = seconds_ + seconds; }
  [[nodiscard]] std::function<double()> reader() const {
    return [this] { return seconds_.load(); };
  }

 private:
  std::atomic<double> seconds_ = 0;
};

/// Writes down what is loaded ("AB", in whatever order), measured ("a") and given back ("-"), of models of one letter.
class Diary final : public Runtime {
 public:
  using Time = std::function<double(char model, int loaded)>;
  explicit Diary(Time time_us) : time_us_(std::move(time_us)) {}

  class Session final : public RuntimeSession {
   public:
    Session(char model, int loaded, const Diary& of) : model_(model), loaded_(loaded), of_(of) {}
    ~Session() override { of_.diary += '-'; }
    Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor>) override {
      return std::vector<RuntimeTensor>{};
    }
    Result<RunTimes> measure(std::span<const RuntimeTensor>, int, double) override {
      of_.diary += static_cast<char>(model_ - 'A' + 'a');
      const double us = of_.time_us_(model_, loaded_);
      return RunTimes{us, us, us, us};
    }

   private:
    char model_;
    int loaded_;
    const Diary& of_;
  };
  [[nodiscard]] std::string name() const override { return "diary"; }
  [[nodiscard]] std::string summary() const override { return "of a test"; }
  [[nodiscard]] Result<std::string> version() const override { return std::string("1"); }
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                                             const LoadOptions&) const override {
    const std::scoped_lock lock(loading_);
    if (on_load) on_load();
    diary += "AB"[loads % 2];
    return std::unique_ptr<RuntimeSession>(std::make_unique<Session>(static_cast<char>(model[0]), loads++ / 2, *this));
  }
  std::function<void()> on_load = {};
  mutable int loads = 0;
  mutable std::string diary;

 private:
  mutable std::mutex loading_;
  Time time_us_;
};

TimeComparison compared(const Runtime& runtime, const ComparisonOptions& options) {
  const auto times = compare_times(runtime, read_graph("x = input (2, 2)\na = relu(x)\noutput a\n"), "A", "B", options);
  if (!times) fail(times.error().message);
  return *times;
}

double twice_as_fast(char model, int) { return model == 'A' ? 6 : 3; }

TEST(TimesOfTwoModels, AreOfBothLoadedAnewInEachRound) {
  const Diary runtime(twice_as_fast);
  const TimeComparison times = compared(runtime, {.rounds = 3});
  EXPECT_EQ(runtime.diary, "ABabba--ABbaab--ABabba--");
  EXPECT_EQ(times.gain.median, 2);
  EXPECT_EQ(times.before.median_us, 6);
}

TEST(TimesOfTwoModels, NeedFewRoundsWhereAllAgree) {
  for (const auto& [confidence, rounds] : {std::pair(0.95, 7), std::pair(0.999, 13)}) {
    const TimeComparison faster = compared(Diary(twice_as_fast), {.confidence = confidence});
    EXPECT_TRUE(faster.faster());
    EXPECT_EQ(faster.rounds, rounds);
    const TimeComparison slower =
        compared(Diary([](char model, int) { return model == 'A' ? 3 : 6; }), {.confidence = confidence});
    EXPECT_TRUE(slower.slower());
    EXPECT_EQ(slower.rounds, rounds);
  }
  const TimeComparison same = compared(Diary([](char, int) { return 5; }), {});
  EXPECT_EQ(same.verdict, TimeVerdict::kNone);
  EXPECT_EQ(same.rounds, 7) << "that there is no gain is clear, too";
  EXPECT_EQ(compared(Diary(twice_as_fast), {.rounds = 20, .stop_when_clear = false}).rounds, 20);
}

TEST(TimesOfTwoModels, ClaimNothingOfFewRounds) {
  for (int rounds = 1; rounds < 7; ++rounds) {
    const TimeComparison times = compared(Diary(twice_as_fast), {.rounds = rounds});
    EXPECT_EQ(times.verdict, TimeVerdict::kNone) << rounds;
    EXPECT_EQ(times.gain.median, rounds == 1 ? 1 : 2) << "one measurement is no gain";
  }
}

/// Times around `before` and `after`, as those of a machine that does other things.
Diary::Time noisy(double before, double after, std::uint64_t seed) {
  return [random = std::mt19937_64(seed), before, after](char model, int) mutable {
    const double delay = std::exponential_distribution(20.0)(random);
    return (model == 'A' ? before : after) * (1 + delay);
  };
}

TEST(TimesOfTwoModels, AreSeldomWrongThoughTheyStopWhenTheyLike) {
  int wrong = 0;
  constexpr int kTrials = 400;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed)
    wrong += compared(Diary(noisy(1, 1, seed)), {.rounds = 60}).verdict == TimeVerdict::kNone ? 0 : 1;
  EXPECT_LE(wrong, kTrials * 5 / 100);
}

TEST(TimesOfTwoModels, FindASmallGain) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const TimeComparison times = compared(Diary(noisy(1.05, 1, seed)), {.rounds = 60});
    found += times.faster() ? 1 : 0;
    EXPECT_FALSE(times.slower());
  }
  EXPECT_GE(found, 45);
}

TEST(TimesOfTwoModels, ShareLoadedModelsWhereLoadingWouldSpendTheBudget) {
  Clock clock;
  Diary runtime([&](char model, int loaded) {
    clock.advance(0.001);
    return noisy(1, 1, static_cast<std::uint64_t>(loaded) * 2 + (model == 'A' ? 0 : 1))(model, loaded);
  });
  runtime.on_load = [&] { clock.advance(0.005); };
  const TimeComparison times = compared(runtime, {.seconds = 0.1, .stop_when_clear = false, .clock_s = clock.reader()});
  EXPECT_LT(runtime.loads / 2, times.rounds);
  EXPECT_GE(runtime.loads / 2, 2) << "one pair of loaded models proves nothing";
}

TEST(TimesOfTwoModels, EndWithTheBudgetAndAreMeasuredOnceEachWhereTheyAreSlow) {
  Clock clock;
  const Diary runtime([&](char, int) {
    clock.advance(0.01);
    return 10000;
  });
  const TimeComparison times = compared(runtime, {.seconds = 0.01, .clock_s = clock.reader()});
  EXPECT_EQ(times.rounds, 3);
  EXPECT_EQ(runtime.diary, "ABab--ABba--ABab--");
}

TEST(TimesOfTwoModels, ClaimNothingThatOnePairOfLoadedModelsContradicts) {
  Clock clock;
  Diary runtime([&](char model, int loaded) {
    clock.advance(0.001);
    return loaded == 1 ? 5 - 0.1 * (model - 'A' == 0 ? 1 : 0) : twice_as_fast(model, loaded);
  });
  runtime.on_load = [&] { clock.advance(0.0025); };
  const TimeComparison times =
      compared(runtime, {.rounds = 40, .seconds = 0.08, .stop_when_clear = false, .clock_s = clock.reader()});
  ASSERT_GT(times.rounds, runtime.loads / 2) << "some are shared";
  EXPECT_EQ(times.verdict, TimeVerdict::kNone);
}

TEST(TimesOfTwoModels, AreStoppedByTheCallerAfterTheFirstRound) {
  double last_share = 0;
  const auto stop = [&](int done, double share) { return last_share = share, done < 4; };
  EXPECT_EQ(compared(Diary(twice_as_fast), {.rounds = 16, .keep_going = stop}).rounds, 4);
  EXPECT_EQ(last_share, 0.25);
}

// Ranks: the smallest h with 2^n B(h + 1/2, n - h + 1/2) / B(1/2, 1/2) < 20, computed in exact fractions.
TEST(SpreadOfMedian, LeavesOutWhatTheBetAllows) {
  struct Case {
    int count;
    double low, high;  // Of the numbers from 1 to `count`.
  };
  for (const Case& asked :
       {Case{1, 1, 1}, Case{6, 1, 6}, Case{7, 1, 7}, Case{21, 4, 18}, Case{100, 34, 67}, Case{1000, 443, 558}}) {
    std::vector<double> ratios;
    for (int i = asked.count; i > 0; --i) ratios.push_back(i);
    const RatioSpread spread = spread_of_median(ratios);
    EXPECT_EQ(spread.low, asked.low) << asked.count;
    EXPECT_EQ(spread.high, asked.high) << asked.count;
    EXPECT_EQ(spread.median, (asked.count + 1) / 2.0) << asked.count;
  }
}

class ComparedInRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = loaded().find<Runtime>("onnxruntime");
    ASSERT_NE(runtime_, nullptr);
    const auto version = runtime_->version();
    ASSERT_TRUE(version) << version.error().message;
  }
  static std::string model_of(const Graph& graph) {
    const auto bytes = *to_model(graph);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  const Runtime* runtime_ = nullptr;
};

TEST_F(ComparedInRuntime, TimesAreOfTheClock) {
  const Graph graph = read_graph("x = input (64, 64)\ny = input (64, 64)\na = matmul(x, y)\noutput a\n");
  const std::string model = model_of(graph);
  const auto times = compare_times(*runtime_, graph, model, model, {.rounds = 5});
  ASSERT_TRUE(times) << times.error().message;
  for (const TimeSpread& time : {times->before, times->after}) {
    EXPECT_GT(time.low_us, 0);
    EXPECT_LE(time.low_us, time.median_us);
    EXPECT_LE(time.median_us, time.high_us);
  }
  EXPECT_LE(times->gain.low, times->gain.median);
  EXPECT_LE(times->gain.median, times->gain.high);
}

TEST_F(ComparedInRuntime, NodesAreCountedAsItsOptimisationsLeaveThem) {
  const auto count = [&](const char* text) {
    const auto nodes = optimised_node_count(*runtime_, model_of(read_graph(text)), "");
    if (!nodes) fail(nodes.error().message);
    return *nodes;
  };
  EXPECT_EQ(count("x = input (4, 4)\na = relu(x)\nb = sigmoid(a)\noutput b\n"), 2);
  EXPECT_EQ(count("x = input (4, 4)\na = transpose(x)\nb = transpose(a)\nc = relu(b)\noutput c\n"), 1);
  const auto none = optimised_node_count(*runtime_, "no model", "");
  EXPECT_FALSE(none);
}

}  // namespace
}  // namespace rewright
