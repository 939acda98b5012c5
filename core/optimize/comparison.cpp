#include "optimize/comparison.h"

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "onnx/proto.h"
#include "optimize/reference.h"

namespace rewright {
namespace {

constexpr double kBatchUs = 500;
constexpr double kShortUs = 10000;  // Several batches of what takes less; the least of them counts.
constexpr int kBatches = 3;
constexpr int kFewestRounds = 3, kFewestOfLong = 2;
constexpr double kLong = 8;           // From so many times the budget on, fewer rounds are made.
constexpr double kWantedRounds = 16;  // What the budget should suffice for.
constexpr double kSame = 0.02;        // An interval within 1 +- kSame is clear, too: there is no gain.

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::span<const std::byte> bytes_of(const std::string& model) { return std::as_bytes(std::span(model)); }

TimeSpread spread_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.25), at(0.75)};
}

/// How many of the smallest of `count` values cannot be above the median, by the bet against it: 0 of a few.
std::size_t count_excluded(std::size_t count, double confidence) {
  const auto tosses = static_cast<double>(count);
  double winnings = 1;  // Where `heads` of the coins show heads.
  for (double i = 0; i < tosses; ++i) winnings *= 2 * (i + 0.5) / (i + 1);
  std::size_t heads = 0;
  for (; winnings * (1 - confidence) >= 1 && heads < count / 2; ++heads)
    winnings *= (static_cast<double>(heads) + 0.5) / (tosses - static_cast<double>(heads) - 0.5);
  return heads;
}

TimeVerdict verdict_of(const RatioSpread& gain) {
  return gain.low > 1 ? TimeVerdict::kFaster : gain.high < 1 ? TimeVerdict::kSlower : TimeVerdict::kNone;
}

/// Both models, and what the rounds found so far.
class Rounds {
 public:
  Rounds(const Runtime& runtime, const std::string& before, const std::string& after,
         const std::vector<RuntimeTensor>& inputs, bool is_lean, const ComparisonOptions& options)
      : runtime_(runtime), models_{&before, &after}, inputs_(inputs), is_lean_(is_lean), options_(options) {}

  [[nodiscard]] bool goes_on() const {
    if (count() == 0) return true;
    if (count() >= options_.rounds) return false;
    const double share = std::max(static_cast<double>(count()) / options_.rounds, spent_s() / options_.seconds);
    if (options_.keep_going && !options_.keep_going(count(), std::min(share, 1.0))) return false;
    const int fewest = spent_s() >= kLong * options_.seconds ? kFewestOfLong : kFewestRounds;
    if (count() >= fewest && spent_s() >= options_.seconds) return false;
    return !options_.stop_when_clear || !is_clear();
  }

  Status run() {
    const int first = count() % 2;
    if (must_load()) REWRIGHT_CHECK(load(first));
    const double start_s = now_s();
    std::array<double, 2> least_us{};
    for (const int which : {first, 1 - first}) REWRIGHT_CHECK(measure(which, least_us));
    if (!once_each())
      for (const int which : {1 - first, first}) REWRIGHT_CHECK(measure(which, least_us));
    run_s_ = now_s() - start_s;
    for (const std::size_t which : {0u, 1u}) times_[which].push_back(least_us[which]);
    ratios_.back().push_back(least_us[0] / least_us[1]);
    return {};
  }

  [[nodiscard]] TimeComparison result() const {
    TimeComparison result{spread_of(times_[0]), spread_of(times_[1]), {}, count(), TimeVerdict::kNone};
    if (count() > 1) result.gain = spread_of_median(all_ratios(), options_.confidence);
    result.verdict = verdict(result.gain);
    return result;
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(times_[0].size()); }
  [[nodiscard]] double now_s() const { return options_.clock_s ? options_.clock_s() : monotonic_s(); }
  [[nodiscard]] double spent_s() const { return now_s() - start_s_; }
  [[nodiscard]] std::vector<double> all_ratios() const {
    std::vector<double> all;
    for (const auto& ratios : ratios_) all.insert(all.end(), ratios.begin(), ratios.end());
    return all;
  }

  /// In each round if the budget suffices; otherwise so seldom that a third of it goes into loading.
  [[nodiscard]] bool must_load() const {
    if (count() == 0 || (load_s_ + run_s_) * kWantedRounds <= options_.seconds) return true;
    return static_cast<double>(ratios_.back().size()) * run_s_ >= 2 * load_s_;
  }
  [[nodiscard]] bool once_each() const { return 4e-6 * slowest_us_ * kWantedRounds > options_.seconds; }

  Status load(int first) {
    const double start_s = now_s();
    sessions_ = {};
    std::array<Status, 2> loaded;
    const auto load_one = [&](int which) {
      const auto at = static_cast<std::size_t>(which);
      auto session = runtime_.load(bytes_of(*models_[at]), {options_.directory, true, is_lean_});
      if (session)
        sessions_[at] = *std::move(session);
      else
        loaded[at] = session.error();
    };
    if (is_lean_) {  // So that one is read at a time.
      load_one(first);
      load_one(1 - first);
    } else {
      tbb::parallel_invoke([&] { load_one(first); }, [&] { load_one(1 - first); });
    }
    for (Status& each : loaded) REWRIGHT_CHECK(std::move(each));
    load_s_ = now_s() - start_s;
    ratios_.emplace_back();
    return {};
  }

  Status measure(int which, std::array<double, 2>& least_us) {
    const auto at = static_cast<std::size_t>(which);
    const int batches = slowest_us_ < kShortUs ? kBatches : 1;
    REWRIGHT_TRY(const RunTimes times, sessions_[at]->measure(inputs_, batches, kBatchUs));
    least_us[at] = least_us[at] == 0 ? times.least_us : std::min(least_us[at], times.least_us);
    slowest_us_ = std::max(slowest_us_, times.least_us);
    return {};
  }

  /// Of one pair of loaded models nothing more is asked; of several, that none contradicts.
  [[nodiscard]] TimeVerdict verdict(const RatioSpread& gain) const {
    if (count_excluded(static_cast<std::size_t>(count()), options_.confidence) == 0) return TimeVerdict::kNone;
    const TimeVerdict verdict = verdict_of(gain);
    const bool agreed = std::ranges::all_of(ratios_, [&](const std::vector<double>& ratios) {
      return ratios.size() < 2 || (spread_of_median(ratios).median > 1) == (verdict == TimeVerdict::kFaster);
    });
    return agreed ? verdict : TimeVerdict::kNone;
  }

  [[nodiscard]] bool is_clear() const {
    if (count_excluded(static_cast<std::size_t>(count()), options_.confidence) == 0) return false;
    const RatioSpread gain = spread_of_median(all_ratios(), options_.confidence);
    return verdict(gain) != TimeVerdict::kNone || (gain.low > 1 - kSame && gain.high < 1 + kSame);
  }

  const Runtime& runtime_;
  std::array<const std::string*, 2> models_;
  const std::vector<RuntimeTensor>& inputs_;
  const bool is_lean_;
  const ComparisonOptions& options_;
  std::array<std::unique_ptr<RuntimeSession>, 2> sessions_;
  std::array<std::vector<double>, 2> times_;
  std::vector<std::vector<double>> ratios_;  // Of each pair of loaded models.
  double start_s_ = now_s(), load_s_ = 0, run_s_ = 0, slowest_us_ = 0;
};

int count_nodes(const model::GraphProto& graph) {
  int count = graph.node_size();
  for (const model::NodeProto& node : graph.node()) {
    for (const model::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) count += count_nodes(attribute.g());
      for (const model::GraphProto& inner : attribute.graphs()) count += count_nodes(inner);
    }
  }
  return count;
}

}  // namespace

RatioSpread spread_of_median(std::vector<double> ratios, double confidence) {
  std::sort(ratios.begin(), ratios.end());
  const std::size_t count = ratios.size(), excluded = count_excluded(count, confidence);
  const std::size_t lowest = excluded == 0 ? 0 : excluded - 1;
  return {(ratios[(count - 1) / 2] + ratios[count / 2]) / 2, ratios[lowest], ratios[count - 1 - lowest]};
}

Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph, const std::string& before,
                                     const std::string& after, const ComparisonOptions& options) {
  REWRIGHT_TRY(const auto inputs, random_inputs(graph, 1, options.inputs));
  Rounds rounds(runtime, before, after, inputs, holds_much(graph), options);
  while (rounds.goes_on()) REWRIGHT_CHECK(rounds.run());
  return rounds.result();
}

Result<int> optimised_node_count(const Runtime& runtime, const std::string& model, const std::string& directory) {
  REWRIGHT_TRY(const std::string optimised, runtime.optimised(bytes_of(model), {directory}));
  REWRIGHT_TRY(const model::ModelProto proto, model::parse_model(bytes_of(optimised), "the optimised model"));
  return count_nodes(proto.graph());
}

}  // namespace rewright
