// Predictor `process`: a Gaussian process over a point's knobs, or over the logarithms of the features where there are
// none. It knows how sure it is, for tuners that weigh what is unknown.
//
//   kernel   Matern 5/2, one length for all coordinates, plus noise
//   label    log(us / the best of its task), less its mean; what did not run is taken as twice the slowest of its task.
//            So kernels of other sizes teach what is fast, too; predicted are times of the last observation's task
//   lengths  those of a grid under which the observations are most likely
//
// Cost    n^3 for n observations; of more than kMost, the fastest and the latest are taken.
// Source  Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1.
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

namespace {
using namespace rewright;
using tune::Features;

constexpr std::size_t kMost = 400, kLeast = 4;
constexpr double kFailed = 0.7;
constexpr std::array<double, 5> kLengths = {0.5, 1, 2, 4, 8};
constexpr std::array<double, 3> kNoises = {1e-3, 1e-2, 1e-1};

/// Of the times of a task.
struct Bounds {
  double best = INFINITY, slowest = 0;
  void add(double us) {
    best = std::min(best, us);
    slowest = std::max(slowest, us);
  }
};

Eigen::VectorXd coordinates(const Features& features) {
  if (!features.knobs.empty())
    return Eigen::Map<const Eigen::VectorXd>(features.knobs.data(), static_cast<Eigen::Index>(features.knobs.size()));
  const std::size_t columns = features.stages.empty() ? 0 : features.stages.front().size();
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(columns));
  for (const auto& row : features.stages) {
    for (std::size_t c = 0; c < std::min(columns, row.size()); ++c) sums[static_cast<Eigen::Index>(c)] += row[c];
  }
  return sums.array().log1p() / 4;  // About as wide as knobs are.
}

double matern(double distance) {
  const double r = std::numbers::sqrt3 * distance * std::sqrt(5.0 / 3.0);
  return (1 + r + r * r / 3) * std::exp(-r);
}

class Fitted final : public tune::FittedPredictor {
 public:
  /// Rows of `points` are coordinates.
  Fitted(Eigen::MatrixXd points, const Eigen::VectorXd& labels, double best_us)
      : points_(std::move(points)), best_us_(best_us) {
    mean_ = labels.mean();
    const Eigen::VectorXd centred = labels.array() - mean_;
    variance_ =
        std::max(1e-6, centred.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(1, centred.size() - 1)));
    double most = -INFINITY;
    for (const double length : kLengths) {
      const Eigen::MatrixXd kernel = kernel_of(points_, points_, length);
      for (const double noise : kNoises) {
        Eigen::MatrixXd noisy = kernel;
        noisy.diagonal().array() += noise * variance_;
        const Eigen::LLT<Eigen::MatrixXd> factor(noisy);
        if (factor.info() != Eigen::Success) continue;
        const Eigen::VectorXd weights = factor.solve(centred);
        const double likelihood =
            -0.5 * centred.dot(weights) - factor.matrixL().toDenseMatrix().diagonal().array().log().sum();
        if (likelihood <= most) continue;
        most = likelihood;
        length_ = length;
        weights_ = weights;
        factor_ = factor;
      }
    }
  }
  [[nodiscard]] std::vector<Estimate> predict(std::span<const Features> programs) const override {
    std::vector<Estimate> all;
    for (const Features& program : programs) all.push_back(estimate(coordinates(program)));
    return all;
  }

 private:
  [[nodiscard]] Estimate estimate(const Eigen::VectorXd& point) const {
    double value = mean_, variance = variance_;
    if (point.size() == points_.cols() && weights_.size() > 0) {
      const Eigen::VectorXd near = kernel_of(points_, point.transpose(), length_).col(0);
      value += near.dot(weights_);
      variance = std::max(0.0, variance_ - near.dot(factor_.solve(near)));
    }
    const double us = best_us_ * std::exp(std::clamp(value, -20.0, 40.0));
    return {us, us * std::sqrt(variance)};
  }
  [[nodiscard]] Eigen::MatrixXd kernel_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double length) const {
    Eigen::MatrixXd kernel(a.rows(), b.rows());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (Eigen::Index j = 0; j < b.rows(); ++j)
        kernel(i, j) = variance_ * matern((a.row(i) - b.row(j)).norm() / length);
    }
    return kernel;
  }

  Eigen::MatrixXd points_;
  Eigen::VectorXd weights_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  double best_us_ = 1, mean_ = 0, variance_ = 1, length_ = 1;
};

class Process final : public Predictor {
 public:
  [[nodiscard]] std::string name() const override { return "process"; }
  [[nodiscard]] std::string summary() const override { return "Gaussian process over a point's knobs"; }
  [[nodiscard]] std::size_t least_observations() const override { return kLeast; }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation> observations,
                                                                   const tune::PredictorSetting&,
                                                                   const Options& options) const override {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "predictor process has no option '{}'", options.begin()->first);
    std::vector<const tune::Observation*> used;
    std::map<std::string, Bounds> tasks;
    const Eigen::Index size = observations.empty() ? 0 : coordinates(observations.back().features).size();
    for (const auto& each : observations) {
      if (coordinates(each.features).size() != size) continue;
      used.push_back(&each);
      if (std::isfinite(each.us) && each.us > 0) tasks[each.task].add(each.us);
    }
    std::erase_if(used, [&](const auto* each) { return !tasks.contains(each->task); });
    const auto ran =
        std::ranges::count_if(used, [](const auto* each) { return std::isfinite(each->us) && each->us > 0; });
    if (static_cast<std::size_t>(ran) < kLeast)
      return make_error(ErrorCode::kUnsupported, "predictor process learns from {} observations or more; there are {}",
                        kLeast, ran);
    if (used.size() > kMost) {  // The latest half, and of the others the fastest.
      std::ranges::stable_sort(used.begin(), used.end() - kMost / 2, {},
                               [&](const auto* each) { return each->us / tasks.at(each->task).best; });
      used.erase(used.begin() + kMost / 2, used.end() - kMost / 2);
    }
    Eigen::MatrixXd points(static_cast<Eigen::Index>(used.size()), size);
    Eigen::VectorXd labels(points.rows());
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      const tune::Observation& each = *used[static_cast<std::size_t>(i)];
      points.row(i) = coordinates(each.features).transpose();
      const Bounds& task = tasks.at(each.task);
      const bool ran_well = std::isfinite(each.us) && each.us > 0;
      labels[i] = std::log((ran_well ? each.us : task.slowest) / task.best) + (ran_well ? 0 : kFailed);
    }
    const double best_us = tasks.at(used.back()->task).best;
    return std::unique_ptr<tune::FittedPredictor>(std::make_unique<Fitted>(std::move(points), labels, best_us));
  }
};

}  // namespace

REWRIGHT_PLUGIN("predictor.process", "1.0.0", "A Gaussian process") {
  registry.add<Predictor>(std::make_unique<Process>());
}
