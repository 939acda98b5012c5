// Trees that were grown: what they compute, and the same as a network.
//
//   row     log(1 + x) of each column, summed over the stages, and of the stage with the most work; how many stages
//           are of each kind
//   member  the sum of the leaves that the row reaches, by one model of the ensemble: log(us / scale)
#pragma once

#include <rewright/tune/predictor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trees {

/// How a program becomes a row.
class Rows {
 public:
  explicit Rows(const rewright::tune::PredictorSetting& setting);
  [[nodiscard]] std::size_t size() const { return 2 * columns_ + kinds_; }
  [[nodiscard]] std::vector<float> of(const rewright::tune::Features& program) const;
  /// Adds what makes "row", float32[1, size()], of a network's inputs.
  void add_to(rewright::tune::Network& network) const;

 private:
  std::size_t columns_, work_, kinds_;  // `work_`: the column that says which stage has the most.
};

/// Its nodes: an inner one goes to `left` where the row's feature is below the threshold.
struct Tree {
  std::vector<std::int64_t> feature, left, right;  ///< left -1: a leaf.
  std::vector<float> value;                        ///< The threshold, or the leaf's.
  [[nodiscard]] float at(const std::vector<float>& row) const;
};

class Forest final : public rewright::tune::FittedPredictor {
 public:
  Forest(Rows rows, double scale_us, double sign) : rows_(rows), scale_us_(scale_us), sign_(sign) {}
  std::vector<std::vector<Tree>> members;

  [[nodiscard]] std::vector<rewright::Estimate> predict(
      std::span<const rewright::tune::Features> programs) const override;
  [[nodiscard]] rewright::Result<rewright::tune::Network> network() const override;
  /// Errors: kParse, what is no forest, or looks beyond its row.
  [[nodiscard]] static rewright::Result<std::unique_ptr<Forest>> read(const rewright::tune::Network& network,
                                                                      const Rows& rows);

 private:
  Rows rows_;
  double scale_us_, sign_;
};

}  // namespace trees
