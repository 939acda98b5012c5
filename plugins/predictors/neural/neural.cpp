// Predictors `graph` and `sequence`: networks over the stages of a program (networks.h), trained by differentiation.
//
//   label    log us, of several tasks less the mean of its task; what did not run is taken as twice the slowest of its
//            task
//   loss     squared; rank: pairs of a task, by the hinge, or logistic
//   spread   of several members, each from other weights
//
// Options  loss (squared, rank, logistic), members (3), epochs (40), width (32), hops (2, of graph alone), rate (0.003)
// Source   Kaufman et al., A Learned Performance Model for the Tensor Processing Unit, 2020
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "training.h"

namespace {
using namespace rewright;
using neural::Kind;

constexpr std::size_t kLeast = 12;
constexpr double kFailed = 0.7;  ///< Above the slowest, in the logarithm.

class NeuralPredictor final : public Predictor {
 public:
  explicit NeuralPredictor(Kind kind) : kind_(kind) {}
  [[nodiscard]] std::string name() const override { return kind_ == Kind::kGraph ? "graph" : "sequence"; }
  [[nodiscard]] std::string summary() const override {
    return kind_ == Kind::kGraph ? "GraphSAGE over what reads what" : "LSTM over the stages in their order";
  }
  [[nodiscard]] std::size_t least_observations() const override { return kLeast; }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation> observations,
                                                                   const tune::PredictorSetting& setting,
                                                                   const Options& options) const override {
    neural::Training training;
    auto ensemble = std::make_unique<neural::Ensemble>();
    ensemble->shape = shape_of(setting);
    REWRIGHT_CHECK(read(options, training, ensemble->shape));
    REWRIGHT_TRY(const auto examples, examples_of(observations));
    neural::train(*ensemble, examples, training, setting.seed);
    return std::unique_ptr<tune::FittedPredictor>(std::move(ensemble));
  }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> load(
      const tune::Network& network, const tune::PredictorSetting& setting) const override {
    REWRIGHT_TRY(auto ensemble, neural::Ensemble::read(network, shape_of(setting)));
    return std::unique_ptr<tune::FittedPredictor>(std::move(ensemble));
  }

 private:
  [[nodiscard]] neural::Shape shape_of(const tune::PredictorSetting& setting) const {
    return {kind_, static_cast<int>(setting.columns.size()),
            static_cast<int>(std::max<std::size_t>(1, setting.kinds.size()))};
  }
  Status read(const Options& options, neural::Training& training, neural::Shape& shape) const {
    for (const auto& [name, value] : options) {
      const auto wrong = [&](const std::string& what) {
        return make_error(ErrorCode::kUsage, "predictor {}: {} is {}", this->name(), name, what);
      };
      if (name == "loss") {
        const auto* loss = std::get_if<std::string>(&value);
        using Loss = neural::Training::Loss;
        if (loss == nullptr || (*loss != "squared" && *loss != "rank" && *loss != "logistic"))
          return wrong("squared, rank or logistic");
        training.loss = *loss == "squared" ? Loss::kSquared : *loss == "rank" ? Loss::kHinge : Loss::kLogistic;
        continue;
      }
      if (name == "rate") {
        const auto* rate = std::get_if<double>(&value);
        if (rate == nullptr || !(*rate > 0 && *rate <= 1)) return wrong("above 0, up to 1");
        training.rate = *rate;
        continue;
      }
      struct Number {
        const char* name;
        int* place;
        int most;
      };
      const Number numbers[] = {{"members", &training.members, 100},
                                {"epochs", &training.epochs, 100'000},
                                {"width", &shape.width, 4096},
                                {"hops", &shape.hops, 16}};
      const auto number = std::ranges::find(numbers, name, &Number::name);
      if (number == std::end(numbers) || (name == "hops" && kind_ == Kind::kSequence))
        return make_error(ErrorCode::kUsage,
                          "predictor {} has no option '{}'; there are: loss, members, epochs, width, {}rate",
                          this->name(), name, kind_ == Kind::kGraph ? "hops, " : "");
      const auto* whole = std::get_if<std::int64_t>(&value);
      const int least = name == "hops" ? 0 : 1;
      if (whole == nullptr || *whole < least || *whole > number->most)
        return wrong(fmt::format("{} to {}", least, number->most));
      *number->place = static_cast<int>(*whole);
    }
    return {};
  }
  [[nodiscard]] Result<std::vector<neural::Example>> examples_of(
      std::span<const tune::Observation> observations) const {
    struct Task {
      int number = 0;
      double slowest = 0, sum = 0, count = 0;  // The sum is of logarithms.
    };
    std::map<std::string, Task> tasks;
    std::size_t ran = 0;
    for (const tune::Observation& each : observations) {
      Task& task = tasks.try_emplace(each.task, static_cast<int>(tasks.size())).first->second;
      if (!std::isfinite(each.us) || each.us <= 0) continue;
      task.slowest = std::max(task.slowest, each.us);
      task.sum += std::log(each.us);
      task.count += 1;
      ++ran;
    }
    if (ran < kLeast)
      return make_error(ErrorCode::kUnsupported, "predictor {} learns from {} observations or more; there are {}",
                        name(), kLeast, ran);
    std::vector<neural::Example> examples;
    for (const tune::Observation& each : observations) {
      const Task& task = tasks.at(each.task);
      const bool is_known = std::isfinite(each.us) && each.us > 0;
      if (each.features.stages.empty() || (!is_known && task.count == 0)) continue;
      const double label = is_known ? std::log(each.us) : std::log(task.slowest) + kFailed;
      // Of several tasks: how they differ is not to be learned.
      examples.push_back({&each.features, tasks.size() > 1 ? label - task.sum / task.count : label, task.number});
    }
    return examples;
  }

  Kind kind_;
};

}  // namespace

REWRIGHT_PLUGIN("predictor.neural", "1.0.0", "Networks over graphs and sequences") {
  registry.add<Predictor>(std::make_unique<NeuralPredictor>(Kind::kGraph));
  registry.add<Predictor>(std::make_unique<NeuralPredictor>(Kind::kSequence));
}
