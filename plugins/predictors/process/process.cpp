// Predictor `process`: a Gaussian process over a point's knobs, or over the logarithms of the features where there are
// none. It knows how sure it is, for tuners that weigh what is unknown.
//
//   kernel   Matern 5/2 plus noise; a length for each coordinate where there are no more than kMostOwn of them, or one
//   label    log(us / the best of its task), less a share of the same of the roofline's figures; what did not run is
//            taken as twice the slowest of its task. So kernels of other sizes teach what is fast, too; predicted are
//            times of the last observation's task
//   fitted   the share and the lengths under which the observations are most likely: of a grid, then each length by
//            itself
//
// Cost    n^3 for n observations; of more than kMost, the fastest and the latest are taken.
// Source  Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1, and 2.7 for the mean that
//         is not 0.
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/roofline.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace {
using namespace rewright;
using tune::Features;

constexpr std::size_t kMost = 400, kLeast = 4;
constexpr double kFailed = 0.7;
constexpr std::array<double, 5> kLengths = {0.25, 0.5, 1, 2, 4};
constexpr std::array<double, 3> kNoises = {1e-3, 1e-2, 1e-1};
constexpr std::array<double, 3> kShares = {0, 0.5, 1};  ///< Of what the roofline says.
constexpr std::array<double, 2> kFactors = {0.5, 2};    ///< By which a length is tried.
constexpr Eigen::Index kMostOwn = 12, kMostPointsOwn = 200;
constexpr double kMostLength = 64;

/// Of the times of a task.
struct Bounds {
  double best = INFINITY, slowest = 0;
  double roofline = 1;  ///< Of the best.
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
  const double r = std::sqrt(5.0) * distance;
  return (1 + r + r * r / 3) * std::exp(-r);
}

/// What is learned from: a row of `points` for each observation.
struct Examples {
  Eigen::MatrixXd points;
  Eigen::VectorXd labels, roofline;  ///< Logarithms, relative to the best of their tasks.
};

class Fitted final : public tune::FittedPredictor {
 public:
  Fitted(Examples examples, const Bounds& task, tune::Roofline roofline)
      : points_(std::move(examples.points)), task_(task), roofline_(std::move(roofline)) {
    const bool has_own = points_.cols() <= kMostOwn && points_.rows() <= kMostPointsOwn;
    for (const double share : kShares) {
      const Eigen::VectorXd labels = examples.labels - share * examples.roofline;
      for (const double length : kLengths) {
        for (const double noise : kNoises)
          take(labels, {share, noise, Eigen::VectorXd::Constant(points_.cols(), length)});
      }
    }
    if (!has_own || !known_) return;
    const Eigen::VectorXd labels = examples.labels - made_.share * examples.roofline;
    bool is_better = true;
    for (int sweep = 0; sweep < 3 && is_better; ++sweep) {
      is_better = false;
      for (Eigen::Index c = 0; c < points_.cols(); ++c) {
        for (const double factor : kFactors) {
          Chosen next = made_;
          next.lengths[c] *= factor;
          while (next.lengths[c] <= kMostLength && take(labels, next)) {
            is_better = true;
            next.lengths[c] *= factor;
          }
        }
      }
    }
  }
  [[nodiscard]] std::vector<Estimate> predict(std::span<const Features> programs) const override {
    std::vector<Estimate> all;
    for (const Features& program : programs) all.push_back(estimate(program));
    return all;
  }

 private:
  struct Chosen {
    double share = 0, noise = 0;
    Eigen::VectorXd lengths;
  };
  /// If the observations are likelier so.
  bool take(const Eigen::VectorXd& labels, const Chosen& chosen) {
    const double mean = labels.mean();
    const Eigen::VectorXd centred = labels.array() - mean;
    const double variance =
        std::max(1e-6, centred.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(1, centred.size() - 1)));
    Eigen::MatrixXd noisy = kernel_of(points_, chosen.lengths, variance);
    noisy.diagonal().array() += chosen.noise * variance;
    const Eigen::LLT<Eigen::MatrixXd> factor(noisy);
    if (factor.info() != Eigen::Success) return false;
    const Eigen::VectorXd weights = factor.solve(centred);
    const double likelihood = -0.5 * centred.dot(weights) - factor.matrixLLT().diagonal().array().log().sum();
    if (known_ && likelihood <= likelihood_ + 1e-6) return false;
    known_ = true;
    likelihood_ = likelihood;
    made_ = chosen;
    mean_ = mean;
    variance_ = variance;
    weights_ = weights;
    factor_ = factor;
    return true;
  }
  [[nodiscard]] Estimate estimate(const Features& program) const {
    const Eigen::VectorXd point = coordinates(program);
    double value = mean_, variance = variance_;
    if (point.size() == points_.cols() && known_) {
      const Eigen::VectorXd near = kernel_of(point.transpose(), made_.lengths, variance_).col(0);
      value += near.dot(weights_);
      variance = std::max(0.0, variance_ - near.dot(factor_.solve(near)));
    }
    if (made_.share > 0) value += made_.share * std::log(roofline_.us_of(program) / task_.roofline);
    const double us = task_.best * std::exp(std::clamp(value, -20.0, 40.0));
    return {us, us * std::sqrt(variance)};
  }
  /// Of the points that were observed with others.
  [[nodiscard]] Eigen::MatrixXd kernel_of(const Eigen::MatrixXd& others, const Eigen::VectorXd& lengths,
                                          double variance) const {
    const Eigen::MatrixXd a = points_ * lengths.cwiseInverse().asDiagonal();
    const Eigen::MatrixXd b = others * lengths.cwiseInverse().asDiagonal();
    Eigen::MatrixXd kernel(a.rows(), b.rows());
    for (Eigen::Index j = 0; j < b.rows(); ++j)
      kernel.col(j) =
          (a.rowwise() - b.row(j)).rowwise().norm().unaryExpr([&](double d) { return variance * matern(d); });
    return kernel;
  }

  Eigen::MatrixXd points_;
  Bounds task_;
  tune::Roofline roofline_;
  bool known_ = false;
  double likelihood_ = 0, mean_ = 0, variance_ = 1;
  Chosen made_;
  Eigen::VectorXd weights_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

class Process final : public Predictor {
 public:
  [[nodiscard]] std::string name() const override { return "process"; }
  [[nodiscard]] std::string summary() const override { return "Gaussian process over a point's knobs"; }
  [[nodiscard]] std::size_t least_observations() const override { return kLeast; }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation> observations,
                                                                   const tune::PredictorSetting& setting,
                                                                   const Options& options) const override {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "predictor process has no option '{}'", options.begin()->first);
    std::vector<const tune::Observation*> used;
    std::map<std::string, Bounds> tasks;
    const tune::Roofline roofline(setting.columns, setting.machine);
    const Eigen::Index size = observations.empty() ? 0 : coordinates(observations.back().features).size();
    for (const auto& each : observations) {
      if (coordinates(each.features).size() != size) continue;
      used.push_back(&each);
      if (!has_run(each)) continue;
      Bounds& task = tasks[each.task];
      task.slowest = std::max(task.slowest, each.us);
      if (each.us < task.best) task.best = each.us, task.roofline = roofline.us_of(each.features);
    }
    std::erase_if(used, [&](const auto* each) { return !tasks.contains(each->task); });
    const auto ran = std::ranges::count_if(used, [](const auto* each) { return has_run(*each); });
    if (static_cast<std::size_t>(ran) < kLeast)
      return make_error(ErrorCode::kUnsupported, "predictor process learns from {} observations or more; there are {}",
                        kLeast, ran);
    if (used.size() > kMost) {  // The latest half, and of the others the fastest.
      std::ranges::stable_sort(used.begin(), used.end() - kMost / 2, {},
                               [&](const auto* each) { return each->us / tasks.at(each->task).best; });
      used.erase(used.begin() + kMost / 2, used.end() - kMost / 2);
    }
    Examples examples{Eigen::MatrixXd(static_cast<Eigen::Index>(used.size()), size),
                      Eigen::VectorXd(static_cast<Eigen::Index>(used.size())),
                      Eigen::VectorXd(static_cast<Eigen::Index>(used.size()))};
    for (Eigen::Index i = 0; i < examples.points.rows(); ++i) {
      const tune::Observation& each = *used[static_cast<std::size_t>(i)];
      examples.points.row(i) = coordinates(each.features).transpose();
      const Bounds& task = tasks.at(each.task);
      examples.labels[i] = has_run(each) ? std::log(each.us / task.best) : std::log(task.slowest / task.best) + kFailed;
      examples.roofline[i] = std::log(roofline.us_of(each.features) / task.roofline);
    }
    return std::unique_ptr<tune::FittedPredictor>(
        std::make_unique<Fitted>(std::move(examples), tasks.at(used.back()->task), roofline));
  }

 private:
  static bool has_run(const tune::Observation& each) { return std::isfinite(each.us) && each.us > 0; }
};

}  // namespace

REWRIGHT_PLUGIN("predictor.process", "1.0.0", "A Gaussian process") {
  registry.add<Predictor>(std::make_unique<Process>());
}
