#include "learn/held_out_fit.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace rewright::learn {
namespace {

using Json = nlohmann::ordered_json;

/// Twenty kernels with their times, short ones and long ones: to be measured where the model is used.
std::string kernels_to_check(const DataSet& data) {
  constexpr std::size_t kKernels = 20;
  std::vector<const Sample*> judged;
  for (const Sample& sample : data.samples) {
    if (sample.label_us() >= kJudgedUs) judged.push_back(&sample);
  }
  std::ranges::stable_sort(judged, {}, [](const Sample* sample) { return sample->label_us(); });
  Json kernels = Json::array();
  for (std::size_t i = 0; i < kKernels && !judged.empty(); ++i) {
    const Sample& sample = *judged[i * (judged.size() - 1) / (kKernels - 1)];
    kernels.push_back({{"kernel", sample.kernel}, {"us", sample.label_us()}});
  }
  return kernels.dump();
}

}  // namespace

Result<HeldOutFit> fit_held_out(const DataSet& data, const Recipe& recipe, const std::string& split_name,
                                const Registry& registry,
                                const std::function<bool(std::size_t, std::size_t)>& goes_on) {
  std::vector<std::size_t> all(data.samples.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  HeldOutFit result;
  REWRIGHT_TRY(result.model, fit(data, all, recipe, registry));
  if (split_name != "none") {
    REWRIGHT_TRY(const auto folds, split(data, split_name));
    REWRIGHT_TRY(const auto reports, evaluate(data, folds, recipe, registry, [&](std::size_t done) {
                   return !goes_on || goes_on(done, folds.size());
                 }));
    result.accuracy = median_of(reports, &FoldReport::model);
    result.model.spread_factor *= spread_correction(reports);
    result.model.facts["accuracy"] =
        Json({{"split", split_name}, {"error", result.accuracy.error}, {"tau", result.accuracy.tau}}).dump();
  }
  result.model.facts["check"] = kernels_to_check(data);
  result.model.facts["seed"] = fmt::format("{}", recipe.seed);
  return result;
}

}  // namespace rewright::learn
