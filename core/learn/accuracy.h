// What a recipe is worth: fitted on some kernels of a data set, asked about the others.
#pragma once

#include <rewright/base/result.h>

#include <functional>
#include <string>
#include <vector>

#include "learn/fit.h"

namespace rewright::learn {

/// Kernels below are hard to measure, and count little: they are predicted, and not judged.
inline constexpr double kJudgedUs = 5;

/// How training and test are kept apart. Who is where depends on a hash of the content, never on a draw.
///   program  each program in turn is the test, without any of its kernels in the training
///   group    a fifth of the roots
///   size     the fifth of the kernels with the most operations
///   operator each operator in turn, of kernels whose root it is, where there are kLeastOfKind
///   row      a fifth of the kernels: it flatters, as near relatives stay in the training
[[nodiscard]] REWRIGHT_API const std::vector<std::string>& split_names();

/// 0 to 4: which fifth a text is in, by a hash of it.
[[nodiscard]] std::size_t part_of(const std::string& text);

struct Fold {
  std::string name;  ///< Of the program, of the operator, "1 of 5".
  std::vector<std::size_t> training, test;
};
/// Folds without test kernels of kJudgedUs are left out. Errors: kUsage, no such split; kUnsupported, too few kernels.
[[nodiscard]] REWRIGHT_API Result<std::vector<Fold>> split(const DataSet& data, const std::string& name);

/// Figures over the kernels of a test that take kJudgedUs or more.
struct Accuracy {
  std::size_t kernels = 0;
  double error = 0;  ///< Mean of |predicted - measured| / measured.
  double median_error = 0;
  double within_10 = 0;  ///< Share of the kernels whose error is at most 10 %.
  double tau = 0;        ///< Kendall's tau-b.
  /// Mean error of the quarter with the greatest relative spread, by that of the quarter with the least.
  double spread_ratio = 0;
};
[[nodiscard]] REWRIGHT_API Accuracy accuracy_of(std::span<const double> measured, std::span<const Estimate> predicted);
/// Over all pairs; 0 where all are tied.
[[nodiscard]] REWRIGHT_API double kendall_tau(std::span<const double> a, std::span<const double> b);

struct FoldReport {
  std::string name;
  std::size_t training = 0;
  Accuracy model = {};
  Accuracy base = {};  ///< Of the roofline, fitted on the same kernels.
  double outside = 0;  ///< Share of the test that is not like the training.
  std::vector<double> measured = {};
  std::vector<Estimate> predicted = {}, roofline = {};
  std::vector<std::size_t> test = {};
};
/// `goes_on` is called before each fold; false: kBudget.
[[nodiscard]] REWRIGHT_API Result<std::vector<FoldReport>> evaluate(
    const DataSet& data, const std::vector<Fold>& folds, const Recipe& recipe, const Registry& registry,
    const std::function<bool(std::size_t)>& goes_on = {});
/// By which the spreads are to be taken, so that half of the errors lie where half of a normal distribution does; 1
/// where there are no spreads.
[[nodiscard]] REWRIGHT_API double spread_correction(const std::vector<FoldReport>& folds);
/// Of folds: medians of their figures, the sum of their kernels.
[[nodiscard]] REWRIGHT_API Accuracy median_of(const std::vector<FoldReport>& folds, Accuracy FoldReport::*which);

}  // namespace rewright::learn
