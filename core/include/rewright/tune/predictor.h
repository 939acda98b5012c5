// Predictors: plugins that learn from measured programs what other programs cost.
//
// A tuner measures what a predictor thinks fast; what was measured teaches the predictor. It sees a program as numbers
// (Features), all in one order of columns whose names it is told, so that it may look for those that it knows.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/options.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/estimate.h>
#include <rewright/tune/machine.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rewright {

namespace tune {

/// A program as numbers.
struct Features {
  std::vector<std::vector<double>> stages;  ///< A row for each statement that stores; a column for each name.
  std::vector<double> knobs = {};           ///< Where it lies in its space, each in [0, 1]; none where it has none.
};

/// What was measured of a program.
struct Observation {
  Features features;
  double us = std::numeric_limits<double>::infinity();  ///< Of a run, the least; infinite where it did not run.
  std::string task;  ///< What it computes: only programs of one task are worth comparing.
};

struct PredictorSetting {
  std::vector<std::string> columns;  ///< Of the rows of Features::stages.
  Machine machine;
  std::uint64_t seed = 1;
};

/// What a predictor has learned.
class REWRIGHT_API FittedPredictor {
 public:
  virtual ~FittedPredictor();
  /// Of each program, in microseconds, all above 0. What only ranks gives figures of the right order.
  [[nodiscard]] virtual std::vector<Estimate> predict(std::span<const Features> programs) const = 0;
};

}  // namespace tune

class Predictor;
template <>
inline constexpr std::uint32_t kAbiVersion<Predictor> = 1;

class REWRIGHT_API Predictor {
 public:
  virtual ~Predictor();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// The least observations that it can learn from; 0 where it knows without.
  [[nodiscard]] virtual std::size_t least_observations() const { return 0; }
  /// The same for the same observations and seed. Errors: an unknown option, or a value out of range; kUnsupported, too
  /// few observations, or what is not installed, with its package.
  [[nodiscard]] virtual Result<std::unique_ptr<tune::FittedPredictor>> fit(
      std::span<const tune::Observation> observations, const tune::PredictorSetting& setting,
      const Options& options) const = 0;
};

}  // namespace rewright
