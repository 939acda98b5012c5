// Predictor `trees`: gradient-boosted trees over the logarithms of a program's features, by XGBoost.
//
//   features  forest.h
//   label     log(us / the best of its task); what did not run is taken as twice the slowest
//   spread    of several models, each of a sample of the observations
//
// Options  loss (squared: of the label; rank: pairs within a task), models (5), rounds (60), depth (6), eta (0.2)
//
// Source  Chen & Guestrin, XGBoost, KDD 2016; features and labels after Zheng et al., Ansor, OSDI 2020, section 5.2,
//         where failures have a weight that is nearly 0, so that nothing is learned of them.
#include <rewright/plugin/plugin.h>
#include <rewright/tune/predictor.h>

#ifdef REWRIGHT_HAS_XGBOOST
#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "forest.h"

namespace {
using namespace rewright;
using tune::Features;

constexpr std::size_t kLeast = 12;
constexpr double kFailed = 0.7;  ///< Above the slowest, in the logarithm.

/// How trees are grown.
struct Growth {
  bool ranks = false;
  int models = 5, rounds = 60, depth = 6;
  double eta = 0.2;
};

Result<Growth> read_growth(const Options& options) {
  Growth growth;
  for (const auto& [name, value] : options) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const double number = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : -1;
    const auto wrong = [&](const char* what) {
      return make_error(ErrorCode::kUsage, "predictor trees: {} is {}", name, what);
    };
    if (name == "loss") {
      const auto* loss = std::get_if<std::string>(&value);
      if (loss == nullptr || (*loss != "squared" && *loss != "rank")) return wrong("squared or rank");
      growth.ranks = *loss == "rank";
    } else if (name == "models" || name == "rounds" || name == "depth") {
      const int most = name == "models" ? 100 : name == "rounds" ? 10'000 : 16;
      if (whole == nullptr || *whole < 1 || *whole > most) return wrong(fmt::format("1 to {}", most).c_str());
      (name == "models" ? growth.models : name == "rounds" ? growth.rounds : growth.depth) = static_cast<int>(*whole);
    } else if (name == "eta") {
      if (!(number > 0 && number <= 1)) return wrong("above 0, up to 1");
      growth.eta = number;
    } else {
      return make_error(ErrorCode::kUsage,
                        "predictor trees has no option '{}'; there are: loss, models, rounds, depth, eta", name);
    }
  }
  return growth;
}

#ifdef REWRIGHT_HAS_XGBOOST
Status checked(int code) {
  if (code == 0) return {};
  return make_error(ErrorCode::kInternal, "XGBoost: {}", XGBGetLastError());
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
  /// `start`: what the sum of the leaves comes on top of.
  static Result<Booster> fit(const Matrix& matrix, double start, std::uint64_t seed, const Growth& growth) {
    Booster booster;
    const DMatrixHandle handle = matrix.handle();
    REWRIGHT_CHECK(checked(XGBoosterCreate(&handle, 1, &booster.handle_)));
    const std::array<std::pair<const char*, std::string>, 10> parameters = {
        {{"objective", growth.ranks ? "rank:pairwise" : "reg:squarederror"},
         {"max_depth", std::to_string(growth.depth)},
         {"eta", fmt::format("{}", growth.eta)},
         {"base_score", fmt::format("{}", start)},
         {"min_child_weight", "1"},
         {"subsample", "0.8"},
         {"colsample_bytree", "0.8"},
         {"seed", std::to_string(seed)},
         {"nthread", "1"},
         {"verbosity", "0"}}};
    for (const auto& [name, value] : parameters)
      REWRIGHT_CHECK(checked(XGBoosterSetParam(booster.handle_, name, value.c_str())));
    for (int round = 0; round < growth.rounds; ++round)
      REWRIGHT_CHECK(checked(XGBoosterUpdateOneIter(booster.handle_, round, handle)));
    return booster;
  }
  Booster(Booster&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Booster& operator=(Booster&&) = delete;
  ~Booster() {
    if (handle_ != nullptr) XGBoosterFree(handle_);
  }
  /// In the order in which they were grown.
  [[nodiscard]] Result<std::vector<trees::Tree>> grown() const {
    bst_ulong count = 0;
    const char** texts = nullptr;
    REWRIGHT_CHECK(checked(XGBoosterDumpModelEx(handle_, "", 0, "json", &count, &texts)));
    std::vector<trees::Tree> all;
    for (bst_ulong t = 0; t < count; ++t) {
      const auto json = nlohmann::json::parse(texts[t], nullptr, false);
      if (json.is_discarded()) return make_error(ErrorCode::kInternal, "XGBoost: a tree is no JSON: {}", texts[t]);
      add(json, all.emplace_back());
    }
    return all;
  }

 private:
  Booster() = default;
  /// Of the node and all below it, its children behind it.
  static std::int64_t add(const nlohmann::json& node, trees::Tree& tree) {
    const std::size_t at = tree.left.size();
    const bool is_leaf = node.contains("leaf");
    tree.feature.push_back(is_leaf ? 0 : std::stoll(node.at("split").get<std::string>().substr(1)));  // "f12"
    tree.value.push_back(node.at(is_leaf ? "leaf" : "split_condition").get<float>());
    tree.left.push_back(-1);
    tree.right.push_back(-1);
    if (is_leaf) return static_cast<std::int64_t>(at);
    for (const auto& child : node.at("children")) {
      const bool is_left = child.at("nodeid") == node.at("yes");
      const std::int64_t place = add(child, tree);
      (is_left ? tree.left : tree.right)[at] = place;
    }
    return static_cast<std::int64_t>(at);
  }
  BoosterHandle handle_ = nullptr;
};
#endif

class Trees final : public Predictor {
 public:
  [[nodiscard]] std::string name() const override { return "trees"; }
  [[nodiscard]] std::string summary() const override { return "Gradient-boosted trees over features of the loops"; }
#ifdef REWRIGHT_HAS_XGBOOST
  [[nodiscard]] std::size_t least_observations() const override { return kLeast; }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation> observations,
                                                                   const tune::PredictorSetting& setting,
                                                                   const Options& options) const override {
    REWRIGHT_TRY(const Growth growth, read_growth(options));
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
    const trees::Rows rows(setting);
    std::vector<float> values, labels;
    std::vector<unsigned> groups;
    double best = INFINITY;
    for (const auto& [name, task] : tasks) {
      if (!std::isfinite(task.best)) continue;
      best = std::min(best, task.best);
      groups.push_back(static_cast<unsigned>(task.all.size()));
      for (const tune::Observation* each : task.all) {
        std::ranges::copy(rows.of(each->features), std::back_inserter(values));
        const double slow = std::log(task.slowest / task.best) + kFailed;
        const double label = std::isfinite(each->us) && each->us > 0 ? std::log(each->us / task.best) : slow;
        labels.push_back(static_cast<float>(growth.ranks ? std::exp(-label) : label));
      }
    }
    REWRIGHT_TRY(const Matrix matrix, Matrix::make(values, labels.size()));
    REWRIGHT_CHECK(checked(XGDMatrixSetFloatInfo(matrix.handle(), "label", labels.data(), labels.size())));
    if (growth.ranks)
      REWRIGHT_CHECK(checked(XGDMatrixSetUIntInfo(matrix.handle(), "group", groups.data(), groups.size())));
    double start = 0;
    for (const float label : labels) start += growth.ranks ? 0 : label / static_cast<double>(labels.size());
    auto forest = std::make_unique<trees::Forest>(rows, best * std::exp(start), growth.ranks ? -1 : 1);
    for (int m = 0; m < growth.models; ++m) {
      REWRIGHT_TRY(const Booster booster,
                   Booster::fit(matrix, start, setting.seed + static_cast<std::uint64_t>(m), growth));
      REWRIGHT_TRY(forest->members.emplace_back(), booster.grown());
    }
    return std::unique_ptr<tune::FittedPredictor>(std::move(forest));
  }
#else  // What was learned elsewhere can still be read.
  [[nodiscard]] std::size_t least_observations() const override { return std::numeric_limits<std::size_t>::max(); }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation>,
                                                                   const tune::PredictorSetting&,
                                                                   const Options& options) const override {
    REWRIGHT_TRY([[maybe_unused]] const Growth growth, read_growth(options));
    return make_error(
        ErrorCode::kUnsupported,
        "predictor trees was built without XGBoost, and can only read what was learned elsewhere; install "
        "Debian's libxgboost-dev and build it again");
  }
#endif
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> load(
      const tune::Network& network, const tune::PredictorSetting& setting) const override {
    REWRIGHT_TRY(auto forest, trees::Forest::read(network, trees::Rows(setting)));
    return std::unique_ptr<tune::FittedPredictor>(std::move(forest));
  }
};

}  // namespace

REWRIGHT_PLUGIN("predictor.trees", "1.1.0", "Gradient-boosted trees") {
  registry.add<Predictor>(std::make_unique<Trees>());
}
