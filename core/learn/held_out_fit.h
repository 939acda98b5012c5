// A model learned from all kernels, and how good that is on kernels that were held out.
#pragma once

#include <functional>
#include <string>

#include "learn/accuracy.h"
#include "learn/fit.h"

namespace rewright::learn {

struct HeldOutFit {
  LearnedModel model;      ///< Of all kernels; its spreads are right on those that were held out.
  Accuracy accuracy = {};  ///< Medians of the folds; of no kernels where nothing was held out.
};

/// `split`: one of split_names(), or "none", which holds nothing out. `goes_on` is called before each fold; false:
/// kBudget. Errors: as split, fit and evaluate.
[[nodiscard]] REWRIGHT_API Result<HeldOutFit> fit_held_out(
    const DataSet& data, const Recipe& recipe, const std::string& split, const Registry& registry,
    const std::function<bool(std::size_t done, std::size_t folds)>& goes_on = {});

}  // namespace rewright::learn
