/// A roofline: the time of an application is launch overhead plus the longer of computing and moving.
///
///   t = overhead + max(flops / peak, bytes / bandwidth)
///
/// flops and bytes are what the operator says of itself; bytes count each float32 operand and output once. Applications
/// without flops (reshape, concat, ...) pay for the bytes they move. Modelled, not measured: it knows nothing of
/// caches, of shapes that fill the vector units badly, or of operators that a runtime fuses.
///
/// Options   gflops (250), gbytes_per_s (12), overhead_us (2)
/// Defaults  one core of a server CPU with AVX-512: what a good library reaches in large convolutions, what one core
///           streams from memory, what a runtime spends on starting an operator.
/// Source    Williams, Waterman, Patterson, Roofline, Communications of the ACM 52(4), 2009.
#include <rewright/plugin.h>

#include <algorithm>
#include <optional>

namespace {
using namespace rewright;

class Flops final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "flops"; }
  [[nodiscard]] std::string summary() const override {
    return "Modelled: roofline of floating-point operations and bytes, plus launch overhead";
  }
  [[nodiscard]] std::string device() const override {
    return fmt::format("modelled, {} GFLOP/s, {} GB/s, {} us overhead", gflops_, gbytes_per_s_, overhead_us_);
  }
  [[nodiscard]] bool measured() const override { return false; }

  Status configure(const Options& options, const Registry&) override {
    for (const auto& [name, value] : options) {
      double* const setting = name == "gflops"         ? &gflops_
                              : name == "gbytes_per_s" ? &gbytes_per_s_
                              : name == "overhead_us"  ? &overhead_us_
                                                       : nullptr;
      if (setting == nullptr)
        return make_error(ErrorCode::kUsage,
                          "cost model flops has no option '{}'; there are: gflops, gbytes_per_s, overhead_us", name);
      const auto* real = std::get_if<double>(&value);
      const auto* integer = std::get_if<std::int64_t>(&value);
      if (real == nullptr && integer == nullptr)
        return make_error(ErrorCode::kUsage, "cost model flops: {} is a number", name);
      *setting = real != nullptr ? *real : static_cast<double>(*integer);
      if (setting == &overhead_us_ ? !(*setting >= 0) : !(*setting > 0))
        return make_error(ErrorCode::kUsage, "cost model flops: {} is {}, and must be {}", name, *setting,
                          setting == &overhead_us_ ? "at least 0" : "more than 0");
    }
    return {};
  }

  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    const Work work = application.op.work(application.params, application.in);
    return overhead_us_ + std::max(work.flops / (gflops_ * 1e3), work.bytes / (gbytes_per_s_ * 1e3));
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Flops>(); }

 private:
  double gflops_ = 250;
  double gbytes_per_s_ = 12;
  double overhead_us_ = 2;
};

}  // namespace

REWRIGHT_PLUGIN("cost.flops", "1.0.0", "Roofline cost model") { registry.add<CostModel>(std::make_unique<Flops>()); }
