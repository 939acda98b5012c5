// Predictor `roofline`: what the machine's figures alone say. The fair baseline of every other, and what ranks before
// anything was measured.
//
//   statement  the greatest of: vectors by two a cycle (gathers by their lanes); multiply-adds by the latency that a
//   small
//              tile leaves open; bytes of each level by its bandwidth. Steps of loops come on top.
//   program    the sum of its statements, times the median of measured by predicted of the observations
//
// Source  Williams, Waterman & Patterson, Roofline, CACM 2009, over cache levels as Ilic, Pratas & Sousa, IEEE CAL
// 2014.
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace {
using namespace rewright;
using tune::Features;

constexpr double kLanes = 16, kTiles = 8;                ///< Lanes of the widest vectors; multiply-adds under way.
constexpr double kStep = 1.5, kCall = 20, kGather = 16;  ///< In vectors' time.
constexpr std::size_t kLevels = 4;

class Columns {
 public:
  explicit Columns(const std::vector<std::string>& names) : names_(names) {}
  [[nodiscard]] double of(const std::vector<double>& row, std::string_view name) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
    return at < row.size() ? row[at] : 0;
  }

 private:
  std::vector<std::string> names_;
};

class Fitted final : public tune::FittedPredictor {
 public:
  explicit Fitted(const tune::PredictorSetting& setting) : columns_(setting.columns), machine_(setting.machine) {}

  void fit(std::span<const tune::Observation> observations) {
    std::vector<double> ratios;
    for (const auto& each : observations) {
      if (std::isfinite(each.us) && each.us > 0) ratios.push_back(each.us / us_of(each.features));
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
      const double us = factor_ * us_of(program);
      all.push_back({us, us * spread_});
    }
    return all;
  }

 private:
  [[nodiscard]] double us_of(const Features& program) const {
    double us = 0;
    for (const auto& row : program.stages) us += us_of(row);
    return std::max(us, 1e-3);
  }
  [[nodiscard]] double us_of(const std::vector<double>& row) const {
    // A vector of multiply-adds, at the peak: 2 operations a lane.
    const double vector_us = machine_.peak_gflops > 0 ? 2 * kLanes / machine_.peak_gflops * 1e-3 : 1e-3;
    const double vectors = columns_.of(row, "vectors"), tile = columns_.of(row, "sums_in_tile");
    const double share = columns_.of(row, "multiply_adds") > 0 ? 0.5 : 1;
    const double operations =
        columns_.of(row, "runs") > 0 ? columns_.of(row, "operations") / columns_.of(row, "runs") : 0;
    const double waits = tile > 0 && tile < kTiles ? kTiles / tile : 1;
    const double compute = vectors * std::max(1.0, operations * share) * waits;
    // Two loads a cycle; what is in all lanes comes with the multiply-add.
    const double loads =
        columns_.of(row, "loads") - 0.5 * columns_.of(row, "broadcasts") + kGather * columns_.of(row, "gathers");
    double us = std::max(compute, loads * std::min(1.0, 2 / std::max(1.0, tile))) * vector_us;
    us += (kCall * columns_.of(row, "calls") / kLanes + kStep * columns_.of(row, "steps") / std::max(1.0, tile)) *
          vector_us;
    for (std::size_t level = 0; level < kLevels && level + 1 < machine_.caches.size(); ++level) {
      const double gb_s = machine_.caches[level + 1].read_gb_s;
      if (gb_s > 0) us = std::max(us, columns_.of(row, "traffic_" + std::to_string(level + 1)) / gb_s * 1e-3);
    }
    return us;
  }

  Columns columns_;
  tune::Machine machine_;
  double factor_ = 1, spread_ = 0.5;
};

class Roofline final : public Predictor {
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
  registry.add<Predictor>(std::make_unique<Roofline>());
}
