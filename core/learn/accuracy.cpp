#include "learn/accuracy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/sha256.h"

namespace rewright::learn {
namespace {

constexpr std::size_t kParts = 5, kLeastOfKind = 20;

std::vector<Fold> by_name(const DataSet& data, const std::vector<std::string>& names,
                          const std::function<bool(const Sample&, const std::string&)>& is_test) {
  std::vector<Fold> folds;
  for (const std::string& name : names) {
    Fold fold{name, {}, {}};
    for (std::size_t s = 0; s < data.samples.size(); ++s)
      (is_test(data.samples[s], name) ? fold.test : fold.training).push_back(s);
    folds.push_back(std::move(fold));
  }
  return folds;
}

std::vector<Fold> by_hash(const DataSet& data, std::string Sample::*text) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= kParts; ++i) names.push_back(fmt::format("{} of {}", i, kParts));
  return by_name(data, names, [&](const Sample& sample, const std::string& name) {
    return fmt::format("{} of {}", part_of(sample.*text) + 1, kParts) == name;
  });
}

std::vector<Fold> by_size(const DataSet& data) {
  const auto work = [](const Sample& sample) {
    double sum = 0;
    for (const auto& row : sample.features.stages) sum += row[0];
    return sum;
  };
  std::vector<double> all;
  for (const Sample& sample : data.samples) all.push_back(work(sample));
  std::ranges::sort(all);
  const double least = all.empty() ? 0 : all[all.size() - 1 - all.size() / kParts];
  return by_name(data, {"largest"}, [&](const Sample& sample, const std::string&) { return work(sample) > least; });
}

}  // namespace

std::size_t part_of(const std::string& text) {
  return static_cast<std::size_t>(std::stoul(sha256(text).substr(0, 8), nullptr, 16)) % kParts;
}

const std::vector<std::string>& split_names() {
  static const std::vector<std::string> names = {"program", "group", "size", "operator", "row"};
  return names;
}

Result<std::vector<Fold>> split(const DataSet& data, const std::string& name) {
  std::vector<Fold> folds;
  if (name == "program") {
    std::set<std::string> programs;
    for (const Sample& sample : data.samples) programs.insert(sample.programs.begin(), sample.programs.end());
    folds = by_name(data, {programs.begin(), programs.end()},
                    [](const Sample& sample, const std::string& program) { return sample.programs.contains(program); });
  } else if (name == "operator") {
    std::map<std::string, std::size_t> counts;
    for (const Sample& sample : data.samples) ++counts[sample.kind];
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : counts) {
      if (count >= kLeastOfKind) kinds.push_back(kind);
    }
    folds = by_name(data, kinds, [](const Sample& sample, const std::string& kind) { return sample.kind == kind; });
  } else if (name == "group") {
    folds = by_hash(data, &Sample::root);
  } else if (name == "row") {
    folds = by_hash(data, &Sample::kernel);
  } else if (name == "size") {
    folds = by_size(data);
  } else {
    return make_error(ErrorCode::kUsage, "there is no split '{}'; there are: {}", name, fmt::join(split_names(), ", "));
  }
  std::erase_if(folds, [&](const Fold& fold) {
    return fold.training.empty() ||
           std::ranges::none_of(fold.test, [&](std::size_t s) { return data.samples[s].label_us() >= kJudgedUs; });
  });
  if (folds.empty())
    return make_error(ErrorCode::kUnsupported,
                      "{} kernels are too few to be split by {}: a test needs kernels of {} us or more, and others to "
                      "learn from; rewright learn sample measures some",
                      data.samples.size(), name, kJudgedUs);
  return folds;
}

double kendall_tau(std::span<const double> a, std::span<const double> b) {
  double agree = 0, tied_a = 0, tied_b = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const int x = a[i] < a[j] ? -1 : a[i] > a[j], y = b[i] < b[j] ? -1 : b[i] > b[j];
      agree += x * y;
      tied_a += x == 0;
      tied_b += y == 0;
      all += 1;
    }
  }
  const double norm = std::sqrt((all - tied_a) * (all - tied_b));
  return norm > 0 ? agree / norm : 0;
}

Accuracy accuracy_of(std::span<const double> measured, std::span<const Estimate> predicted) {
  std::vector<double> times, said, errors, spreads;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i] < kJudgedUs) continue;
    times.push_back(measured[i]);
    said.push_back(predicted[i].us);
    errors.push_back(std::abs(predicted[i].us - measured[i]) / measured[i]);
    spreads.push_back(predicted[i].spread / predicted[i].us);
  }
  Accuracy found{times.size()};
  if (times.empty()) return found;
  const auto count = static_cast<double>(times.size());
  found.tau = kendall_tau(times, said);
  found.error = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  found.within_10 =
      static_cast<double>(std::ranges::count_if(errors, [](double error) { return error <= 0.1; })) / count;
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return spreads[i]; });
  const std::size_t quarter = order.size() / 4;
  double least = 0, most = 0;
  for (std::size_t i = 0; i < quarter; ++i) {
    least += errors[order[i]];
    most += errors[order[order.size() - 1 - i]];
  }
  found.spread_ratio = least > 0 ? most / least : 0;
  std::ranges::sort(errors);
  found.median_error = errors[errors.size() / 2];
  return found;
}

Result<std::vector<FoldReport>> evaluate(const DataSet& data, const std::vector<Fold>& folds, const Recipe& recipe,
                                         const Registry& registry, const std::function<bool(std::size_t)>& goes_on) {
  std::vector<FoldReport> all;
  for (const Fold& fold : folds) {
    if (goes_on && !goes_on(all.size())) return make_error(ErrorCode::kBudget, "stopped");
    REWRIGHT_TRY(const LearnedModel model, fit(data, fold.training, recipe, registry));
    REWRIGHT_TRY(const LearnedModel roofline,
                 fit(data, fold.training, {.predictor = "roofline", .base = "", .seed = recipe.seed}, registry));
    FoldReport report{fold.name, fold.training.size()};
    report.test = fold.test;
    for (const std::size_t s : fold.test) {
      const Sample& sample = data.samples[s];
      const tune::Features& features = sample.features;
      report.measured.push_back(sample.label_us());
      report.predicted.push_back(model.estimate(features));
      report.roofline.push_back(roofline.estimate(features));
      report.outside += model.outside(features).empty() ? 0 : 1.0 / static_cast<double>(fold.test.size());
    }
    report.model = accuracy_of(report.measured, report.predicted);
    report.base = accuracy_of(report.measured, report.roofline);
    all.push_back(std::move(report));
  }
  return all;
}

double spread_correction(const std::vector<FoldReport>& folds) {
  constexpr double kMedianOfNormal = 0.6745;
  std::vector<double> ratios;
  for (const FoldReport& fold : folds) {
    for (std::size_t i = 0; i < fold.measured.size(); ++i) {
      const double deviation = fold.predicted[i].spread / fold.predicted[i].us;
      if (fold.measured[i] >= kJudgedUs && deviation > 0)
        ratios.push_back(std::abs(std::log(fold.predicted[i].us / fold.measured[i])) / deviation);
    }
  }
  if (ratios.empty()) return 1;
  std::ranges::sort(ratios);
  return ratios[ratios.size() / 2] / kMedianOfNormal;
}

Accuracy median_of(const std::vector<FoldReport>& folds, Accuracy FoldReport::*which) {
  const auto median = [&](double Accuracy::*figure) {
    std::vector<double> values;
    for (const FoldReport& fold : folds) values.push_back((fold.*which).*figure);
    std::ranges::sort(values);
    return values.empty() ? 0 : (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  };
  Accuracy result;
  for (const FoldReport& fold : folds) result.kernels += (fold.*which).kernels;
  result.error = median(&Accuracy::error);
  result.median_error = median(&Accuracy::median_error);
  result.within_10 = median(&Accuracy::within_10);
  result.tau = median(&Accuracy::tau);
  result.spread_ratio = median(&Accuracy::spread_ratio);
  return result;
}

}  // namespace rewright::learn
