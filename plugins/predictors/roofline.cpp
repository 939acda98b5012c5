// Predictor `roofline`: what the machine's figures alone say (tune/roofline.h), times the median of measured by
// predicted of the observations.
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/roofline.h>

#include <algorithm>
#include <cmath>

namespace {
using namespace rewright;
using tune::Features;

class Fitted final : public tune::FittedPredictor {
 public:
  explicit Fitted(const tune::PredictorSetting& setting) : roofline_(setting.columns, setting.machine) {}

  void fit(std::span<const tune::Observation> observations) {
    std::vector<double> ratios;
    for (const auto& each : observations) {
      if (std::isfinite(each.us) && each.us > 0) ratios.push_back(each.us / roofline_.us_of(each.features));
    }
    if (ratios.empty()) return;
    const auto middle = ratios.begin() + std::ssize(ratios) / 2;
    std::ranges::nth_element(ratios, middle);
    factor_ = *middle;
    std::vector<double> off;
    for (const double ratio : ratios) off.push_back(std::abs(std::log(ratio / factor_)));
    const auto half = off.begin() + std::ssize(off) / 2;
    std::ranges::nth_element(off, half);
    spread_ = 1.5 * *half;
  }
  [[nodiscard]] std::vector<Estimate> predict(std::span<const Features> programs) const override {
    std::vector<Estimate> all;
    for (const Features& program : programs) {
      const double us = factor_ * roofline_.us_of(program);
      all.push_back({us, us * spread_});
    }
    return all;
  }

 private:
  tune::Roofline roofline_;
  double factor_ = 1, spread_ = 0.5;
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
    auto fitted = std::make_unique<Fitted>(setting);
    fitted->fit(observations);
    return std::unique_ptr<tune::FittedPredictor>(std::move(fitted));
  }
};

}  // namespace

REWRIGHT_PLUGIN("predictor.roofline", "1.0.0", "The machine's figures") {
  registry.add<Predictor>(std::make_unique<RooflinePredictor>());
}
