/// A roofline: the time of an application is launch overhead plus the longer of computing and moving.
///
///   t = overhead + max(flops / (peak * min(1, outputs / filled_by)), bytes / bandwidth)
///
/// flops and bytes are what the operator says of itself; bytes count each float32 operand and output once. Applications
/// without flops (concat, ...) pay for the bytes they move. Modelled, not measured: it knows nothing of caches, of
/// shapes that fill the vector units badly, or of operators that a runtime fuses.
///
/// Views     Reshape costs nothing anywhere: no data moves. Where the device says so, so do splits whose parts are
///           contiguous (all axes before the split one are of size 1).
/// Biases    A vector of weights added along an axis, and a normalisation by weights, cost nothing where the device
/// says
///           so: libraries add biases on the way out of convolutions and products, and fold normalisations.
/// Options   device (a known name or a file of its description, devices/*.toml), gflops, gbytes_per_s, overhead_us
/// Source    Williams, Waterman, Patterson, Roofline, Communications of the ACM 52(4), 2009.
#include <rewright/plugin.h>

#include <algorithm>
#include <optional>

#include "device.h"

namespace {
using namespace rewright;

bool is_view(const Application& application, const Device& device) {
  if (application.op.name() == "reshape") return true;
  if (!device.views_are_free || application.op.name() != "split") return false;
  const std::int64_t axis = application.params.integer(0);
  for (std::int64_t i = 0; i < axis; ++i)
    if (application.in[0][static_cast<int>(i)] != 1) return false;
  return true;
}

bool is_bias(const Application& application, const Device& device) {
  if (!device.folds_biases || (application.op.name() != "bias_add" && application.op.name() != "batch_norm"))
    return false;
  return application.kinds[0] == InputKind::kData &&
         std::all_of(application.kinds.begin() + 1, application.kinds.end(),
                     [](InputKind kind) { return kind == InputKind::kWeight; });
}

double elements_of(const std::vector<Shape>& shapes) {
  double sum = 0;
  for (const Shape& shape : shapes) sum += static_cast<double>(shape.elements());
  return sum;
}

class Flops final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "flops"; }
  [[nodiscard]] std::string summary() const override {
    return "Modelled: roofline of floating-point operations and bytes, plus launch overhead";
  }
  [[nodiscard]] std::string device() const override {
    return fmt::format("modelled, {}, {} GFLOP/s, {} GB/s, {} us overhead", device_.name, device_.gflops,
                       device_.gbytes_per_s, device_.overhead_us);
  }
  [[nodiscard]] bool measured() const override { return false; }

  Status configure(const Options& options, const Registry&) override {
    if (const auto named = options.find("device"); named != options.end()) {
      const auto* text = std::get_if<std::string>(&named->second);
      if (text == nullptr) return make_error(ErrorCode::kUsage, "cost model flops: device is a name or a file");
      REWRIGHT_TRY(device_, read_device(*text));
    }
    for (const auto& [name, value] : options)
      if (name != "device") REWRIGHT_CHECK(set(name, value));
    return {};
  }

  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    if (is_view(application, device_) || is_bias(application, device_)) return 0.0;
    const Work work = application.op.work(application.params, application.in);
    const double computing_us = work.flops / (device_.gflops * 1e3 * share(application));
    return device_.overhead_us + std::max(computing_us, work.bytes / (device_.gbytes_per_s * 1e3));
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Flops>(); }

 private:
  Status set(const std::string& name, const Options::mapped_type& value) {
    double* const setting = name == "gflops"         ? &device_.gflops
                            : name == "gbytes_per_s" ? &device_.gbytes_per_s
                            : name == "overhead_us"  ? &device_.overhead_us
                                                     : nullptr;
    if (setting == nullptr)
      return make_error(ErrorCode::kUsage,
                        "cost model flops has no option '{}'; there are: device, gflops, gbytes_per_s, overhead_us",
                        name);
    const auto* real = std::get_if<double>(&value);
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (real == nullptr && integer == nullptr)
      return make_error(ErrorCode::kUsage, "cost model flops: {} is a number", name);
    *setting = real != nullptr ? *real : static_cast<double>(*integer);
    if (setting == &device_.overhead_us ? !(*setting >= 0) : !(*setting > 0))
      return make_error(ErrorCode::kUsage, "cost model flops: {} is {}, and must be {}", name, *setting,
                        setting == &device_.overhead_us ? "at least 0" : "more than 0");
    return {};
  }

  /// Of the peak, by how much of the device the outputs fill.
  [[nodiscard]] double share(const Application& application) const {
    if (device_.filled_by <= 1) return 1;
    const auto out = application.op.infer(application.params, application.in);
    const double outputs = out ? std::max(elements_of(*out), 1.0) : device_.filled_by;
    return std::min(1.0, outputs / device_.filled_by);
  }

  Device device_;
};

}  // namespace

REWRIGHT_PLUGIN("cost.flops", "1.1.0", "Roofline cost model") { registry.add<CostModel>(std::make_unique<Flops>()); }
