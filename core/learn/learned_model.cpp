#include <rewright/learn/kernel_features.h>
#include <rewright/learn/learned_model.h>
#include <rewright/plugin/registry.h>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/files.h"
#include "learn/network_file.h"

namespace rewright::learn {
namespace {

using FactJson = nlohmann::ordered_json;

constexpr const char* kFacts = "rewright_learned_model";
constexpr int kModelVersion = 1;
constexpr const char* kBase = "base/";
constexpr const char* kPredictor = "predictor/";
constexpr double kBeyond = 2;  ///< A factor by which a kernel may be out of a range.

/// Of each column the sum over the stages, then their number.
std::vector<double> sums_of(const tune::Features& features, std::size_t columns) {
  std::vector<double> sums(columns + 1, 0);
  for (const auto& row : features.stages) {
    for (std::size_t c = 0; c < columns && c < row.size(); ++c) sums[c] += row[c];
  }
  sums.back() = static_cast<double>(features.stages.size());
  return sums;
}

/// What its network says is what it was made of: a file that was changed by hand computes something else than we do.
Result<std::shared_ptr<const tune::FittedPredictor>> load(const std::string& name, const tune::Network& network,
                                                          const tune::PredictorSetting& setting,
                                                          const Registry& registry) {
  REWRIGHT_TRY(const Predictor* predictor, registry.get<Predictor>(name));
  REWRIGHT_TRY(auto fitted, predictor->load(network, setting));
  REWRIGHT_TRY(tune::Network same, fitted->network());
  same.output.clear();
  tune::Network given = network;
  given.output.clear();
  if (!(same == given)) {
    return make_error(
        ErrorCode::kMismatch,
        "predictor {} writes another network for what it reads there: the file was changed, or is of another version",
        name);
  }
  return std::shared_ptr<const tune::FittedPredictor>(std::move(fitted));
}

Status read_facts(const FactJson& facts, LearnedModel& model, std::string& predictor, std::string& base) {
  try {
    if (facts.at("version") != kModelVersion)
      return make_error(ErrorCode::kMismatch, "it is of version {}; this program reads version {}",
                        facts.at("version").dump(), kModelVersion);
    facts.at("columns").get_to(model.setting.columns);
    facts.at("kinds").get_to(model.setting.kinds);
    facts.at("ranges").get_to(model.ranges);
    facts.at("fused").get_to(model.fused);
    facts.at("ratio_variance").get_to(model.ratio_variance);
    facts.at("spread_factor").get_to(model.spread_factor);
    facts.at("predictor").get_to(predictor);
    facts.at("base").get_to(base);
  } catch (const FactJson::exception& error) {
    return make_error(ErrorCode::kParse, "its facts are damaged ({})", error.what());
  }
  std::vector<std::string> differing;
  std::ranges::set_symmetric_difference(
      std::set<std::string>(model.setting.columns.begin(), model.setting.columns.end()),
      std::set<std::string>(kernel_columns().begin(), kernel_columns().end()), std::back_inserter(differing));
  if (model.setting.columns != kernel_columns())
    return make_error(ErrorCode::kMismatch, "it was trained on other columns than this program has ({}); fit it again",
                      differing.empty() ? "in another order" : fmt::format("{}", fmt::join(differing, ", ")));
  if (model.setting.kinds.empty() || model.ranges.size() != model.setting.columns.size() + 1 ||
      !(model.ratio_variance >= 0) || !(model.spread_factor >= 0))
    return make_error(ErrorCode::kParse, "its facts are damaged (kinds, ranges or variances)");
  return {};
}

}  // namespace

void LearnedModel::widen(const tune::Features& features) {
  const std::vector<double> sums = sums_of(features, setting.columns.size());
  if (ranges.empty()) {
    for (const double sum : sums) ranges.emplace_back(sum, sum);
  }
  for (std::size_t c = 0; c < sums.size(); ++c)
    ranges[c] = {std::min(ranges[c].first, sums[c]), std::max(ranges[c].second, sums[c])};
  seen.resize(setting.kinds.size());
  for (const std::int64_t kind : features.kinds) seen[static_cast<std::size_t>(kind)] = kind > 0;
}

std::vector<std::string> LearnedModel::outside(const tune::Features& features) const {
  std::vector<std::string> names;
  const std::vector<double> sums = sums_of(features, setting.columns.size());
  for (std::size_t c = 0; c < sums.size() && c < ranges.size(); ++c) {
    if (sums[c] > kBeyond * ranges[c].second || kBeyond * sums[c] < ranges[c].first)
      names.push_back(c < setting.columns.size() ? setting.columns[c] : "stages");
  }
  if (std::ranges::any_of(features.kinds, [&](std::int64_t kind) { return !seen[static_cast<std::size_t>(kind)]; }))
    names.emplace_back("kind");
  return names;
}

tune::Features LearnedModel::shown(tune::Features features) const {
  for (auto& row : features.stages) {
    for (std::size_t c = 0; c < hidden.size() && c < row.size(); ++c) row[c] = hidden[c] ? 0 : row[c];
  }
  return features;
}

Estimate LearnedModel::estimate(const tune::Features& features) const {
  const tune::Features seen = shown(features);
  const Estimate ratio = predictor->predict({&seen, 1}).front();
  const double deviation = spread_factor * ratio.spread / ratio.us;
  if (base == nullptr) return {ratio.us, ratio.us * deviation};
  const Estimate below = base->predict({&features, 1}).front();
  if (!outside(features).empty()) return below;
  const double variance = deviation * deviation;
  const double weight = ratio_variance > 0 ? ratio_variance / (ratio_variance + variance) : 1;
  const double us = below.us * std::exp(weight * std::log(ratio.us));
  return {us, us * deviation};
}

std::vector<Estimate> LearnedModel::estimates(std::span<const Kernel> kernels) const {
  std::vector<Estimate> all;
  for (const Kernel& kernel : kernels) all.push_back(estimate(features_of(kernel, setting.kinds)));
  return all;
}

Result<std::string> LearnedModel::to_file() const {
  if (!hidden.empty())
    return make_error(ErrorCode::kUnsupported,
                      "a model that does not see all columns is for experiments; it cannot be kept");
  NetworkFile file;
  const auto ratio = predictor->network();
  if (!ratio) return make_error(ratio.error().code, "{}: {}", facts.at("predictor"), ratio.error().message);
  file.network = with_prefix(*ratio, kPredictor);
  if (base != nullptr) {
    REWRIGHT_TRY(const tune::Network below, base->network());
    tune::Network prefixed = with_prefix(below, kBase);
    file.network.constants.merge(prefixed.constants);
    std::ranges::move(prefixed.nodes, std::back_inserter(file.network.nodes));
    file.network.nodes.push_back({"Mul", {prefixed.output, file.network.output}, {"product"}});
    file.network.output = "product";
  }
  file.facts = facts;
  const auto fact = [&](const char* name) { return facts.contains(name) ? facts.at(name) : ""; };
  file.facts[kFacts] = FactJson({{"version", kModelVersion},
                                 {"predictor", fact("predictor")},
                                 {"base", fact("base")},
                                 {"columns", setting.columns},
                                 {"kinds", setting.kinds},
                                 {"ranges", ranges},
                                 {"fused", fused},
                                 {"ratio_variance", ratio_variance},
                                 {"spread_factor", spread_factor}})
                           .dump();
  return to_model(file);
}

Result<LearnedModel> LearnedModel::read(const std::string& path, const Registry& registry) {
  REWRIGHT_TRY(const std::string bytes, read_file(path));
  REWRIGHT_TRY(NetworkFile file, network_of(bytes, path, kFacts));
  const auto wrong = [&](const Error& error) { return make_error(error.code, "'{}': {}", path, error.message); };
  const auto found = file.facts.find(kFacts);
  LearnedModel model;
  std::string predictor, base;
  const FactJson facts = FactJson::parse(found->second, nullptr, false);
  if (const Status read_them = read_facts(facts, model, predictor, base); !read_them) return wrong(read_them.error());
  model.seen.assign(model.setting.kinds.size(), true);
  model.seen.front() = false;
  file.facts.erase(found);
  model.facts = std::move(file.facts);
  auto ratio = load(predictor, without_prefix(file.network, kPredictor), model.setting, registry);
  if (!ratio) return wrong(ratio.error());
  model.predictor = *std::move(ratio);
  if (base.empty()) return model;
  auto below = load(base, without_prefix(file.network, kBase), model.setting, registry);
  if (!below) return wrong(below.error());
  model.base = *std::move(below);
  return model;
}

}  // namespace rewright::learn
