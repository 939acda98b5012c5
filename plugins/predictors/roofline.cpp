// Predictor `roofline`: what a program must compute and move, and nothing else.
//
//   schedules  what the machine's figures say (tune/roofline.h), times the median of measured by predicted
//   kernels    u = a * operations + b * bytes + c * stages + d; a, b, c, d >= 0 have the least sum of
//              (u - us)^2 / (u us), which weighs what is said too low as what is said too high; times the median of us
//              / u
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/roofline.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace {
using namespace rewright;
using tune::Features;

constexpr double kLeastUs = 1e-3;

bool ran(const tune::Observation& observation) { return std::isfinite(observation.us) && observation.us > 0; }

/// Measured by predicted: the median, and how far half of them are off, in the logarithm, as a standard deviation.
struct Scale {
  double factor = 1, spread = 0.5;
};
Scale scale_of(std::vector<double> ratios) {
  if (ratios.empty()) return {};
  const auto middle = ratios.begin() + std::ssize(ratios) / 2;
  std::ranges::nth_element(ratios, middle);
  Scale scale{*middle};
  for (double& ratio : ratios) ratio = std::abs(std::log(ratio / scale.factor));
  std::ranges::nth_element(ratios, middle);
  scale.spread = 1.5 * *middle;
  return scale;
}

class OfSchedules final : public tune::FittedPredictor {
 public:
  explicit OfSchedules(const tune::PredictorSetting& setting) : roofline_(setting.columns, setting.machine) {}

  void fit(std::span<const tune::Observation> observations) {
    std::vector<double> ratios;
    for (const auto& each : observations) {
      if (ran(each)) ratios.push_back(each.us / roofline_.us_of(each.features));
    }
    scale_ = scale_of(std::move(ratios));
  }
  [[nodiscard]] std::vector<Estimate> predict(std::span<const Features> programs) const override {
    std::vector<Estimate> all;
    for (const Features& program : programs) {
      const double us = scale_.factor * roofline_.us_of(program);
      all.push_back({us, us * scale_.spread});
    }
    return all;
  }

 private:
  tune::Roofline roofline_;
  Scale scale_;
};

/// Names of the columns of kernels that it sums over the stages.
constexpr std::array<const char*, 2> kSummed = {"operations", "bytes"};
constexpr std::size_t kTerms = kSummed.size() + 2;
/// Of reweighing, and of one coordinate after the other: four unknowns, of which none is below 0.
constexpr int kRounds = 30, kSweeps = 2000;
using Terms = std::array<double, kTerms>;

class OfKernels final : public tune::FittedPredictor {
 public:
  /// Nothing where a column is not there.
  static std::optional<OfKernels> make(const tune::PredictorSetting& setting) {
    OfKernels made;
    for (std::size_t k = 0; k < kSummed.size(); ++k) {
      const auto found = std::ranges::find(setting.columns, kSummed[k]);
      if (found == setting.columns.end()) return std::nullopt;
      made.places_[k] = static_cast<std::size_t>(found - setting.columns.begin());
    }
    return made;
  }
  void fit(std::span<const tune::Observation> observations) {
    for (int round = 0; round < kRounds; ++round) weigh(observations);
    std::vector<double> ratios;
    for (const auto& each : observations) {
      if (ran(each)) ratios.push_back(each.us / us_of(each.features));
    }
    const Scale scale = scale_of(std::move(ratios));
    for (double& cost : costs_) cost *= scale.factor;
    spread_ = scale.spread;
  }
  [[nodiscard]] std::vector<Estimate> predict(std::span<const Features> programs) const override {
    std::vector<Estimate> all;
    for (const Features& program : programs) {
      const double us = us_of(program);
      all.push_back({us, us * spread_});
    }
    return all;
  }
  [[nodiscard]] Result<tune::Network> network() const override {
    using Whole = std::vector<std::int64_t>;
    const auto whole = [](const auto& places) { return Whole(places.begin(), places.end()); };
    tune::Network network;
    network.constants = {{"columns", {{kSummed.size()}, whole(places_)}},
                         {"costs", {{kTerms - 1}, std::vector<double>(costs_.begin(), costs_.end() - 1)}},
                         {"start", {{1}, std::vector<double>{costs_.back()}}},
                         {"spread", {{1}, std::vector<double>{spread_}}},
                         {"least", {{1}, std::vector<double>{kLeastUs}}},
                         {"rows", {{1}, Whole{0}}}};
    network.nodes = {{"Gather", {"stages", "columns"}, {"used"}, {{"axis", std::int64_t{1}}}},
                     {"ReduceSum", {"used", "rows"}, {"sums"}, {{"keepdims", std::int64_t{0}}}},
                     {"Shape", {"stages"}, {"count"}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}}},
                     {"Cast", {"count"}, {"stage_count"}, {{"to", std::int64_t{11}}}},
                     {"Concat", {"sums", "stage_count"}, {"terms"}, {{"axis", std::int64_t{0}}}},
                     {"Mul", {"terms", "costs"}, {"parts"}},
                     {"ReduceSum", {"parts", "rows"}, {"all"}, {{"keepdims", std::int64_t{1}}}},
                     {"Add", {"all", "start"}, {"sum"}},
                     {"Max", {"sum", "least"}, {"us"}}};
    network.output = "us";
    return network;
  }
  Status read(const tune::Network& network) {
    const auto numbers = [&](const char* name, std::size_t count) -> const std::vector<double>* {
      const auto found = network.constants.find(name);
      if (found == network.constants.end()) return nullptr;
      const auto* values = std::get_if<std::vector<double>>(&found->second.values);
      return values != nullptr && values->size() == count ? values : nullptr;
    };
    const auto *costs = numbers("costs", kTerms - 1), *start = numbers("start", 1), *spread = numbers("spread", 1);
    if (costs == nullptr || start == nullptr || spread == nullptr)
      return make_error(ErrorCode::kParse, "predictor roofline: costs, start or spread is not there");
    std::ranges::copy(*costs, costs_.begin());
    costs_.back() = start->front();
    spread_ = spread->front();
    return {};
  }

 private:
  [[nodiscard]] Terms terms_of(const Features& program) const {
    Terms terms{};
    for (const auto& row : program.stages) {
      for (std::size_t k = 0; k < kSummed.size(); ++k) terms[k] += places_[k] < row.size() ? row[places_[k]] : 0;
    }
    terms[kTerms - 2] = static_cast<double>(program.stages.size());
    terms[kTerms - 1] = 1;
    return terms;
  }
  /// One step: the costs with the least squares, each weighed by what was said of it before.
  void weigh(std::span<const tune::Observation> observations) {
    std::array<Terms, kTerms> products{};
    Terms sums{};
    for (const auto& each : observations) {
      if (!ran(each)) continue;
      const double weight = 1 / (each.us * (is_fitted_ ? us_of(each.features) : each.us));
      const Terms terms = terms_of(each.features);
      for (std::size_t i = 0; i < kTerms; ++i) {
        sums[i] += weight * terms[i] * each.us;
        for (std::size_t j = 0; j < kTerms; ++j) products[i][j] += weight * terms[i] * terms[j];
      }
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t i = 0; i < kTerms; ++i) {
        double rest = sums[i];
        for (std::size_t j = 0; j < kTerms; ++j) rest -= j == i ? 0 : products[i][j] * costs_[j];
        costs_[i] = products[i][i] > 0 ? std::max(0.0, rest / products[i][i]) : 0;
      }
    }
    is_fitted_ = true;
  }
  [[nodiscard]] double us_of(const Features& program) const {
    const Terms terms = terms_of(program);
    double us = 0;
    for (std::size_t i = 0; i < kTerms; ++i) us += costs_[i] * terms[i];
    return std::max(us, kLeastUs);
  }

  std::array<std::size_t, kSummed.size()> places_{};
  Terms costs_{};
  double spread_ = 0.5;
  bool is_fitted_ = false;
};

class RooflinePredictor final : public Predictor {
 public:
  [[nodiscard]] std::string name() const override { return "roofline"; }
  [[nodiscard]] std::string summary() const override {
    return "Peak, latency and bandwidths of the machine; learns a factor";
  }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation> observations,
                                                                   const tune::PredictorSetting& setting,
                                                                   const Options& options) const override {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "predictor roofline has no option '{}'", options.begin()->first);
    if (auto made = OfKernels::make(setting); made && !is_of_schedules(setting)) {
      made->fit(observations);
      return std::unique_ptr<tune::FittedPredictor>(std::make_unique<OfKernels>(*std::move(made)));
    }
    auto fitted = std::make_unique<OfSchedules>(setting);
    fitted->fit(observations);
    return std::unique_ptr<tune::FittedPredictor>(std::move(fitted));
  }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> load(
      const tune::Network& network, const tune::PredictorSetting& setting) const override {
    auto made = OfKernels::make(setting);
    if (!made || is_of_schedules(setting))
      return make_error(ErrorCode::kUnsupported, "predictor roofline keeps what it learned of kernels alone");
    REWRIGHT_CHECK(made->read(network));
    return std::unique_ptr<tune::FittedPredictor>(std::make_unique<OfKernels>(*std::move(made)));
  }

 private:
  static bool is_of_schedules(const tune::PredictorSetting& setting) {
    return std::ranges::find(setting.columns, "vectors") != setting.columns.end();
  }
};

}  // namespace

REWRIGHT_PLUGIN("predictor.roofline", "1.1.0", "The machine's figures") {
  registry.add<Predictor>(std::make_unique<RooflinePredictor>());
}
