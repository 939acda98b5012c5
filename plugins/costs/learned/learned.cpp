/// Predicted by what was learned from measured kernels (rewright learn fit), for the device on which they were
/// measured.
///
///   t, spread   of learn/learned_model.h
///   measured    in place of it, where the spread is above `unsure` of t and above a hundredth of all that was first
///               asked about, the greatest spread first, until `budget_s` seconds were spent; afterwards predicted
///
/// Options  file (required, an ONNX model), measure (none; auto: the cost model whose measurements it learned; or the
///          name of one), budget_s (10), unsure (0.15), elsewhere (false: it must have been trained on this processor)
/// Errors   kNotFound, kParse, kMismatch: of the file; kMismatch, another processor
#include <rewright/learn/learned_model.h>
#include <rewright/optimize/cost.h>
#include <rewright/plugin/plugin.h>
#include <rewright/plugin/registry.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>

namespace {
using namespace rewright;

constexpr double kMatters = 0.01;

class LearnedCost final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "learned"; }
  [[nodiscard]] std::string summary() const override {
    return "Predicted: learned from measured kernels (rewright learn fit)";
  }
  [[nodiscard]] std::string device() const override {
    return model_ ? fmt::format("data {}, {}", fact("data"), fact("device")) : "not configured";
  }
  /// A file's word: nothing to cache.
  [[nodiscard]] bool measured() const override { return false; }

  Status configure(const Options& options, const Registry& registry) override {
    std::string file, measure = "none";
    bool elsewhere = false;
    for (const auto& [name, value] : options) {
      const auto* whole = std::get_if<std::int64_t>(&value);
      const auto* real = std::get_if<double>(&value);
      const double number = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : -1;
      if (name == "file" || name == "measure") {
        const auto* text = std::get_if<std::string>(&value);
        if (text == nullptr) return make_error(ErrorCode::kUsage, "cost model learned: {} is a text", name);
        (name == "file" ? file : measure) = *text;
      } else if (name == "budget_s" || name == "unsure") {
        if (!(number >= 0 && number <= 1e6))
          return make_error(ErrorCode::kUsage, "cost model learned: {} is a number from 0 to 1000000", name);
        (name == "budget_s" ? budget_s_ : unsure_) = number;
      } else if (name == "elsewhere") {
        const auto* flag = std::get_if<bool>(&value);
        if (flag == nullptr) return make_error(ErrorCode::kUsage, "cost model learned: elsewhere is true or false");
        elsewhere = *flag;
      } else {
        return make_error(
            ErrorCode::kUsage,
            "cost model learned has no option '{}'; there are: file, measure, budget_s, unsure, elsewhere", name);
      }
    }
    if (file.empty())
      return make_error(ErrorCode::kUsage,
                        "cost model learned needs --cost-option file=MODEL, which rewright learn fit wrote");
    REWRIGHT_TRY(model_, learn::LearnedModel::read(file, registry));
    if (!elsewhere && !fact("device").ends_with(processor_name()))
      return make_error(ErrorCode::kMismatch,
                        "cost model learned: '{}' was trained on {}, and this is {}; measure here with rewright learn "
                        "sample, or take it as it is with --cost-option elsewhere=true",
                        file, fact("device"), processor_name());
    if (measure == "none") return {};
    if (measure == "auto") measure = fact("device").substr(0, fact("device").find('|'));
    if (measure == name())
      return make_error(ErrorCode::kUsage, "cost model learned does not measure; name one that does");
    REWRIGHT_TRY(const CostModel* measuring, registry.get<CostModel>(measure));
    measuring_ = measuring->clone();
    return measuring_->configure({}, registry);
  }

  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    return kernel_us({{&application, 1}});
  }
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override {
    return model_ ? model_->fused : std::vector<std::vector<std::string>>();
  }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    REWRIGHT_TRY(const auto all, estimates({&kernel, 1}));
    return all.front().us;
  }
  [[nodiscard]] Result<std::vector<Estimate>> estimates(std::span<const Kernel> kernels) override {
    if (!model_) return make_error(ErrorCode::kUsage, "cost model learned was not configured");
    std::vector<Estimate> all = model_->estimates(kernels);
    if (measuring_ == nullptr) return all;
    if (!least_us_) {
      least_us_ = 0;
      for (const Estimate& each : all) *least_us_ += kMatters * each.us;
    }
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return all[i].spread; });
    for (const std::size_t i : order) {
      if (all[i].spread < *least_us_ || spent_s_ >= budget_s_) break;
      if (all[i].spread < unsure_ * all[i].us) continue;
      const auto start = std::chrono::steady_clock::now();
      const auto found = measuring_->estimates(kernels.subspan(i, 1));
      spent_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!found) return found.error();
      all[i] = found->front();
    }
    return all;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<LearnedCost>(); }

 private:
  [[nodiscard]] std::string fact(const char* name) const {
    const auto found = model_->facts.find(name);
    return found == model_->facts.end() ? "" : found->second;
  }

  std::optional<learn::LearnedModel> model_;
  std::unique_ptr<CostModel> measuring_;
  std::optional<double> least_us_;  ///< Spreads below do not matter.
  double budget_s_ = 10, unsure_ = 0.15, spent_s_ = 0;
};

}  // namespace

REWRIGHT_PLUGIN("cost.learned", "1.0.0", "Costs learned from measured kernels") {
  registry.add<CostModel>(std::make_unique<LearnedCost>());
}
