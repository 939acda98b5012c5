#include "learn/fit.h"

#include <rewright/learn/kernel_features.h>
#include <rewright/plugin/registry.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace rewright::learn {
namespace {

std::vector<tune::Observation> observations(const DataSet& data, std::span<const std::size_t> samples) {
  std::vector<tune::Observation> all;
  for (const std::size_t s : samples) all.push_back({data.samples[s].features, data.samples[s].label_us(), ""});
  return all;
}

/// The times by what the base says of them.
void divide(std::vector<tune::Observation>& observations, const tune::FittedPredictor& base) {
  std::vector<tune::Features> asked;
  for (const auto& each : observations) asked.push_back(each.features);
  const std::vector<Estimate> found = base.predict(asked);
  for (std::size_t i = 0; i < found.size(); ++i) observations[i].us /= found[i].us;
}

double variance_of_logs(const std::vector<tune::Observation>& observations) {
  double mean = 0, square = 0;
  const auto count = static_cast<double>(observations.size());
  for (const auto& each : observations) {
    mean += std::log(each.us) / count;
    square += std::log(each.us) * std::log(each.us) / count;
  }
  return std::max(0.0, square - mean * mean);
}

/// None where all are seen.
Result<std::vector<bool>> hidden_columns(const std::vector<std::string>& names) {
  std::vector<bool> hidden(names.empty() ? 0 : kernel_columns().size());
  for (const std::string& name : names) {
    const auto found = std::ranges::find(kernel_columns(), name);
    if (found == kernel_columns().end())
      return make_error(ErrorCode::kUsage, "kernels have no column '{}'; there are: {}", name,
                        fmt::join(kernel_columns(), ", "));
    hidden[static_cast<std::size_t>(found - kernel_columns().begin())] = true;
  }
  return hidden;
}

/// What another device's model says, times a factor.
class Elsewhere final : public tune::FittedPredictor {
 public:
  Elsewhere(std::shared_ptr<const LearnedModel> model, const std::vector<std::string>& kinds)
      : model_(std::move(model)) {
    for (const std::string& kind : kinds) {
      const auto found = std::ranges::find(model_->setting.kinds, kind);
      kinds_.push_back(found == model_->setting.kinds.end() ? 0 : found - model_->setting.kinds.begin());
    }
  }
  void fit(const std::vector<tune::Observation>& observations) {
    std::vector<double> ratios;
    for (const auto& each : observations) ratios.push_back(each.us / predict({&each.features, 1}).front().us);
    const auto middle = ratios.begin() + std::ssize(ratios) / 2;
    std::ranges::nth_element(ratios, middle);
    factor_ = *middle;
  }
  [[nodiscard]] std::vector<Estimate> predict(std::span<const tune::Features> programs) const override {
    std::vector<Estimate> all;
    for (tune::Features features : programs) {
      for (std::int64_t& kind : features.kinds) kind = kinds_[static_cast<std::size_t>(kind)];
      const Estimate said = model_->estimate(features);
      all.push_back({factor_ * said.us, factor_ * said.spread});
    }
    return all;
  }

 private:
  std::shared_ptr<const LearnedModel> model_;
  std::vector<std::int64_t> kinds_;  // By ours, theirs.
  double factor_ = 1;
};

}  // namespace

Result<LearnedModel> fit(const DataSet& data, std::span<const std::size_t> samples, const Recipe& recipe,
                         const Registry& registry) {
  LearnedModel model;
  model.setting.columns = kernel_columns();
  model.setting.kinds = data.kinds;
  model.setting.seed = recipe.seed;
  REWRIGHT_TRY(const Predictor* predictor, registry.get<Predictor>(recipe.predictor));
  std::vector<tune::Observation> known = observations(data, samples);
  const auto few = [&](const Predictor& asked, const Error& error) {
    const std::size_t least = std::max<std::size_t>(asked.least_observations(), 1);
    if (known.size() >= least || least == std::numeric_limits<std::size_t>::max()) return error;
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("predictor {} learns from {} kernels or more; there are {}: rewright learn sample measures "
                    "more",
                    asked.name(), least, known.size())};
  };
  if (known.empty()) return few(*predictor, {});
  for (const auto& each : known) model.widen(each.features);
  std::set<std::vector<std::string>> fused;
  for (const std::size_t s : samples) {
    if (data.samples[s].chain.size() > 1) fused.insert(data.samples[s].chain);
  }
  model.fused.assign(fused.begin(), fused.end());
  if (recipe.elsewhere != nullptr) {
    auto elsewhere = std::make_shared<Elsewhere>(recipe.elsewhere, data.kinds);
    elsewhere->fit(known);
    model.base = std::move(elsewhere);
  } else if (!recipe.base.empty()) {
    REWRIGHT_TRY(const Predictor* base, registry.get<Predictor>(recipe.base));
    auto fitted = base->fit(known, model.setting, {});
    if (!fitted) return few(*base, fitted.error());
    model.base = *std::move(fitted);
  }
  if (model.base != nullptr) {
    divide(known, *model.base);
    model.ratio_variance = variance_of_logs(known);
  }
  REWRIGHT_TRY(model.hidden, hidden_columns(recipe.without));
  for (auto& each : known) each.features = model.shown(each.features);
  auto fitted = predictor->fit(known, model.setting, recipe.options);
  if (!fitted) return few(*predictor, fitted.error());
  model.predictor = *std::move(fitted);
  model.facts = {
      {"predictor", recipe.predictor}, {"base", recipe.base}, {"device", data.device}, {"data", data.hash()}};
  return model;
}

}  // namespace rewright::learn
