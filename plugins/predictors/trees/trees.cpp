// Predictor `trees`: gradient-boosted trees over the logarithms of a program's features, by XGBoost.
//
//   features  log(1 + x) of each column: summed over the statements, and of the statement with the most vectors
//   label     log(us / the best of its task); what did not run is taken as twice the slowest
//   loss      "squared", of the label; or "rank": pairs within a task
//   spread    of three models, each of a sample of the observations
//
// Source  Chen & Guestrin, XGBoost, KDD 2016; features and labels after Zheng et al., Ansor, OSDI 2020, section 5.2,
//         where failures have a weight that is nearly 0, so that nothing is learned of them.
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>

#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace {
using namespace rewright;
using tune::Features;

constexpr int kModels = 3;
constexpr int kRounds = 60;
constexpr std::size_t kLeast = 12;
constexpr double kFailed = 0.7;  ///< Above the slowest, in the logarithm.

Status checked(int code) {
  if (code == 0) return {};
  return make_error(ErrorCode::kInternal, "XGBoost: {}", XGBGetLastError());
}

/// Which columns there are, and which of them says how many vectors a statement has.
struct Columns {
  explicit Columns(const std::vector<std::string>& names)
      : count(names.size()), vectors(static_cast<std::size_t>(std::ranges::find(names, "vectors") - names.begin())) {}
  std::size_t count, vectors;
};

std::vector<float> flat(const Features& features, const Columns& columns) {
  std::vector<double> sums(columns.count, 0);
  const std::vector<double>* most = nullptr;
  const auto vectors = [&](const std::vector<double>& row) {
    return columns.vectors < row.size() ? row[columns.vectors] : 0;
  };
  for (const auto& row : features.stages) {
    for (std::size_t c = 0; c < columns.count && c < row.size(); ++c) sums[c] += row[c];
    if (most == nullptr || vectors(row) > vectors(*most)) most = &row;
  }
  std::vector<float> values;
  for (const double sum : sums) values.push_back(static_cast<float>(std::log1p(sum)));
  for (std::size_t c = 0; c < columns.count; ++c)
    values.push_back(most != nullptr && c < most->size() ? static_cast<float>(std::log1p((*most)[c])) : 0);
  return values;
}

class Matrix {
 public:
  static Result<Matrix> make(const std::vector<float>& values, std::size_t rows) {
    Matrix matrix;
    const std::size_t columns = rows == 0 ? 0 : values.size() / rows;
    REWRIGHT_CHECK(checked(XGDMatrixCreateFromMat(values.data(), rows, columns, NAN, &matrix.handle_)));
    return matrix;
  }
  Matrix(Matrix&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix() {
    if (handle_ != nullptr) XGDMatrixFree(handle_);
  }
  [[nodiscard]] DMatrixHandle handle() const { return handle_; }

 private:
  Matrix() = default;
  DMatrixHandle handle_ = nullptr;
};

class Booster {
 public:
  static Result<Booster> fit(const Matrix& matrix, std::uint64_t seed, bool ranks) {
    Booster booster;
    const DMatrixHandle handle = matrix.handle();
    REWRIGHT_CHECK(checked(XGBoosterCreate(&handle, 1, &booster.handle_)));
    const std::array<std::pair<const char*, std::string>, 9> parameters = {
        {{"objective", ranks ? "rank:pairwise" : "reg:squarederror"},
         {"max_depth", "6"},
         {"eta", "0.2"},
         {"min_child_weight", "1"},
         {"subsample", "0.8"},
         {"colsample_bytree", "0.8"},
         {"seed", std::to_string(seed)},
         {"nthread", "1"},
         {"verbosity", "0"}}};
    for (const auto& [name, value] : parameters)
      REWRIGHT_CHECK(checked(XGBoosterSetParam(booster.handle_, name, value.c_str())));
    for (int round = 0; round < kRounds; ++round)
      REWRIGHT_CHECK(checked(XGBoosterUpdateOneIter(booster.handle_, round, handle)));
    return booster;
  }
  Booster(Booster&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Booster& operator=(Booster&&) = delete;
  ~Booster() {
    if (handle_ != nullptr) XGBoosterFree(handle_);
  }
  /// One for each row; none where XGBoost fails.
  [[nodiscard]] std::vector<float> predict(const Matrix& matrix) const {
    bst_ulong count = 0;
    const float* found = nullptr;
    if (XGBoosterPredict(handle_, matrix.handle(), 0, 0, 0, &count, &found) != 0) return {};
    return {found, found + count};
  }

 private:
  Booster() = default;
  BoosterHandle handle_ = nullptr;
};

class Fitted final : public tune::FittedPredictor {
 public:
  Fitted(const Columns& columns, double best_us, double sign) : columns_(columns), best_us_(best_us), sign_(sign) {}
  std::vector<Booster> models;

  [[nodiscard]] std::vector<Estimate> predict(std::span<const Features> programs) const override {
    std::vector<Estimate> all(programs.size(), {best_us_, best_us_});
    std::vector<float> values;
    for (const Features& program : programs) std::ranges::copy(flat(program, columns_), std::back_inserter(values));
    const auto matrix = Matrix::make(values, programs.size());
    if (!matrix) return all;
    std::vector<std::vector<float>> found;
    for (const Booster& model : models) {
      auto each = model.predict(*matrix);
      if (each.size() != programs.size()) return all;
      found.push_back(std::move(each));
    }
    for (std::size_t i = 0; i < programs.size(); ++i) {
      double mean = 0, square = 0;
      for (const auto& each : found) {
        mean += sign_ * each[i] / static_cast<double>(found.size());
        square += each[i] * each[i] / static_cast<double>(found.size());
      }
      const double us = best_us_ * std::exp(std::clamp(mean, -20.0, 20.0));
      all[i] = {us, us * std::sqrt(std::max(0.0, square - mean * mean))};
    }
    return all;
  }

 private:
  Columns columns_;
  double best_us_, sign_;
};

class Trees final : public Predictor {
 public:
  [[nodiscard]] std::string name() const override { return "trees"; }
  [[nodiscard]] std::string summary() const override { return "Gradient-boosted trees over features of the loops"; }
  [[nodiscard]] std::size_t least_observations() const override { return kLeast; }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation> observations,
                                                                   const tune::PredictorSetting& setting,
                                                                   const Options& options) const override {
    bool ranks = false;
    for (const auto& [key, value] : options) {
      const auto* loss = std::get_if<std::string>(&value);
      if (key != "loss" || loss == nullptr || (*loss != "squared" && *loss != "rank"))
        return make_error(ErrorCode::kUsage,
                          "predictor trees: there is no option '{}' of that value; loss is squared or rank", key);
      ranks = *loss == "rank";
    }
    struct Task {
      double best = INFINITY, slowest = 0;
      std::vector<const tune::Observation*> all;
    };
    std::map<std::string, Task> tasks;
    std::size_t ran = 0;
    for (const auto& each : observations) {
      Task& task = tasks[each.task];
      task.all.push_back(&each);
      if (!std::isfinite(each.us) || each.us <= 0) continue;
      ++ran;
      task.best = std::min(task.best, each.us);
      task.slowest = std::max(task.slowest, each.us);
    }
    if (ran < kLeast)
      return make_error(ErrorCode::kUnsupported, "predictor trees learns from {} observations or more; there are {}",
                        kLeast, ran);
    const Columns columns(setting.columns);
    std::vector<float> values, labels;
    std::vector<unsigned> groups;
    double best = INFINITY;
    for (const auto& [name, task] : tasks) {
      if (!std::isfinite(task.best)) continue;
      best = std::min(best, task.best);
      groups.push_back(static_cast<unsigned>(task.all.size()));
      for (const tune::Observation* each : task.all) {
        std::ranges::copy(flat(each->features, columns), std::back_inserter(values));
        const double slow = std::log(task.slowest / task.best) + kFailed;
        const double label = std::isfinite(each->us) && each->us > 0 ? std::log(each->us / task.best) : slow;
        labels.push_back(static_cast<float>(ranks ? std::exp(-label) : label));
      }
    }
    REWRIGHT_TRY(const Matrix matrix, Matrix::make(values, labels.size()));
    REWRIGHT_CHECK(checked(XGDMatrixSetFloatInfo(matrix.handle(), "label", labels.data(), labels.size())));
    if (ranks) REWRIGHT_CHECK(checked(XGDMatrixSetUIntInfo(matrix.handle(), "group", groups.data(), groups.size())));
    auto fitted = std::make_unique<Fitted>(columns, best, ranks ? -1 : 1);
    for (int m = 0; m < kModels; ++m) {
      REWRIGHT_TRY(Booster booster, Booster::fit(matrix, setting.seed + static_cast<std::uint64_t>(m), ranks));
      fitted->models.push_back(std::move(booster));
    }
    return std::unique_ptr<tune::FittedPredictor>(std::move(fitted));
  }
};

}  // namespace

REWRIGHT_PLUGIN("predictor.trees", "1.0.0", "Gradient-boosted trees") {
  registry.add<Predictor>(std::make_unique<Trees>());
}
