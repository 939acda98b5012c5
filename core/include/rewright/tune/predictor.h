// Predictors: plugins that learn from measured programs what other programs cost.
//
// A tuner measures what a predictor thinks fast; what was measured teaches the predictor. It sees a program as numbers
// (Features), all in one order of columns whose names it is told, so that it may look for those that it knows. What it
// sees is a schedule, whose stages are statements that store, or a kernel, whose stages are operators that read each
// other.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/options.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/estimate.h>
#include <rewright/tune/machine.h>
#include <rewright/tune/network.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

namespace tune {

/// A program as numbers.
struct Features {
  std::vector<std::vector<double>> stages;  ///< A row for each; a column for each name.
  std::vector<double> knobs = {};           ///< Where it lies in its space, each in [0, 1]; none where it has none.
  std::vector<std::int64_t> kinds = {};     ///< Of each stage: its place in PredictorSetting::kinds. None: all are 0.
  /// Stages that read another: the reader, what it reads. Stages stand behind those that they read.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reads = {};
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
  std::vector<std::string> kinds = {};  ///< Names of operators; the first stands for all others.
};

/// What a predictor has learned.
class REWRIGHT_API FittedPredictor {
 public:
  virtual ~FittedPredictor();
  /// Of each program, in microseconds, all above 0. What only ranks gives figures of the right order.
  [[nodiscard]] virtual std::vector<Estimate> predict(std::span<const Features> programs) const = 0;
  /// The same as data; us is the geometric mean of the network's output. Errors: kUnsupported, it cannot be kept.
  [[nodiscard]] virtual Result<Network> network() const;
};

}  // namespace tune

class Predictor;
template <>
inline constexpr std::uint32_t kAbiVersion<Predictor> = 2;

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
  /// What network() of one that it fitted wrote. It may be damaged, or made by somebody else. Errors: kParse, what is
  /// not there; kUnsupported, it keeps none.
  [[nodiscard]] virtual Result<std::unique_ptr<tune::FittedPredictor>> load(
      const tune::Network& network, const tune::PredictorSetting& setting) const;
};

}  // namespace rewright
