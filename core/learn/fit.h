// Learned models made: from a data set, with a recipe.
#pragma once

#include <rewright/learn/learned_model.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/data_set.h"

namespace rewright::learn {

struct Recipe {
  std::string predictor = "trees";
  Options options = {};
  std::string base = "roofline";          ///< What the predictor learns the ratio to; "": none, it learns the time.
  std::vector<std::string> without = {};  ///< Columns that it does not see; the base does.
  std::uint64_t seed = 1;
  /// In place of the base: what was learned of another device, times the median of what is measured by what it says.
  std::shared_ptr<const LearnedModel> elsewhere = {};
};

/// Of these samples of the data. Errors: kNotFound, a predictor that is not there; kUnsupported, too few samples, with
/// how many there must be; kUsage, an option.
[[nodiscard]] REWRIGHT_API Result<LearnedModel> fit(const DataSet& data, std::span<const std::size_t> samples,
                                                    const Recipe& recipe, const Registry& registry);

}  // namespace rewright::learn
