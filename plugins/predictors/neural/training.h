// An ensemble of networks: trained, and asked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "networks.h"

namespace neural {

struct Training {
  enum class Loss { kSquared, kHinge, kLogistic };
  Loss loss = Loss::kSquared;
  int members = 3, epochs = 40;
  double rate = 3e-3;
};

/// What it learns of a program.
struct Example {
  const rewright::tune::Features* features;
  double label;  ///< A logarithm.
  int group;     ///< Programs of one are ranked.
};

/// log us = middle + scale * the network's output, by each member.
class Ensemble final : public rewright::tune::FittedPredictor {
 public:
  Shape shape;
  Scaling scaling;
  double middle = 0, scale = 1;
  std::vector<std::vector<Matrix<float>>> members;

  [[nodiscard]] std::vector<rewright::Estimate> predict(
      std::span<const rewright::tune::Features> programs) const override;
  [[nodiscard]] rewright::Result<rewright::tune::Network> network() const override;
  /// Errors: kParse, what is not there or of another size.
  [[nodiscard]] static rewright::Result<std::unique_ptr<Ensemble>> read(const rewright::tune::Network& network,
                                                                        Shape shape);
};

/// The same for the same examples, in the same order, and the same seed.
void train(Ensemble& ensemble, const std::vector<Example>& examples, const Training& training, std::uint64_t seed);

}  // namespace neural
