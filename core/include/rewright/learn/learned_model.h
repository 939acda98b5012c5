// A learned cost: a predictor on top of what a base says, trained on measured kernels.
//
//   log us = log base + w * log ratio     w = t / (t + v)
//
// v is the variance of the members of the predictor's ensemble, t that of what it was to learn: where the members do
// not agree, the base has the word; and so it has where a kernel is not like those of the training. Without a base it
// is what the predictor says.
//
// A file of it is an ONNX model (network.h) with its facts as metadata.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/kernel.h>
#include <rewright/tune/predictor.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rewright {
class Registry;
}

namespace rewright::learn {

struct REWRIGHT_API LearnedModel {
  tune::PredictorSetting setting;                                ///< Columns and kinds that it was trained with.
  std::shared_ptr<const tune::FittedPredictor> base, predictor;  ///< The base may be null.
  double ratio_variance = 0;                                     ///< t. 0: w is 1.
  double spread_factor = 3;  ///< By which the members' standard deviation is to be taken.
  /// Least and greatest of each column's sum over a kernel's stages, and of the number of stages, in the training.
  std::vector<std::pair<double, double>> ranges;
  std::vector<std::vector<std::string>> fused = {};  ///< Chains of operators that were kernels in the training.
  std::vector<bool> seen = {};                       ///< Kinds that were in the training.
  std::vector<bool> hidden = {};                     ///< Columns that the predictor is not shown. None: it sees all.
  std::map<std::string, std::string> facts = {};     ///< "device", "data", ... as in the file.

  /// Errors: kNotFound, kIo; kParse, no ONNX model of this kind, or a damaged one; kMismatch, of other columns than
  /// this program's, or of a predictor that writes it otherwise; kNotFound, the predictor is not there.
  [[nodiscard]] static Result<LearnedModel> read(const std::string& path, const Registry& registry);
  /// As an ONNX model; read() gives the same. Errors: kUnsupported, of a predictor that cannot be kept.
  [[nodiscard]] Result<std::string> to_file() const;
  [[nodiscard]] Estimate estimate(const tune::Features& features) const;
  [[nodiscard]] std::vector<Estimate> estimates(std::span<const Kernel> kernels) const;
  /// Columns in which the kernel is out of the range of the training by more than a factor of 2, "kind" for an operator
  /// that was not there.
  [[nodiscard]] std::vector<std::string> outside(const tune::Features& features) const;
  /// What the predictor is shown of a kernel.
  [[nodiscard]] tune::Features shown(tune::Features features) const;
  /// Such kernels are in the training.
  void widen(const tune::Features& features);
};

}  // namespace rewright::learn
