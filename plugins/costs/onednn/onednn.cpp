/// Measured: each operator as a primitive of oneDNN, on one thread.
///
///   t = least over batches of (wall-clock time of a batch / runs in it)
///
/// Weights are reordered before the run. Concat and split are our own loops: oneDNN's concat of plain images takes 1.2
/// ms for what a copy does in 0.06, which would reject every merge. What oneDNN has no primitive for is timed as one
/// pass over its operands.
///
/// Layouts  Convolutions choose those of their operands themselves, as they do in a network in which neighbours agree
///          (formats "any"), and reorders between neighbours that do not are not seen. Or all tensors lie in order
///          where no layout is asked for ("told"): then layouts can be chosen, blocks of 8 and 16 channels among them,
///          or not ("unblocked"), and every reorder is measured.
///
/// What it does not see: data that is still in a cache. Its ranking does not predict another backend's: measure on the
/// one that the claim is about.
///
/// Options  repetitions (10), batch_us (300), formats ("any")
/// Source   Intel, oneDNN 2.6, developer guide: primitives, memory format propagation.
#include <rewright/optimize/cost.h>
#include <rewright/plugin/plugin.h>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "work.h"

namespace {
using namespace rewright;

double wall_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class OneDnnCost final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "onednn"; }
  [[nodiscard]] std::string summary() const override {
    return "Measured: each operator once per shape, in oneDNN, one thread";
  }
  [[nodiscard]] std::string device() const override {
    const dnnl_version_t* version = dnnl_version();
    const char* formats = formats_ == onednn::Formats::kAny ? ""
                          : with_blocks_                    ? ", formats as told"
                                                            : ", formats as told, no blocks";
    return fmt::format("oneDNN {}.{}.{}, one thread, wall clock, {}{}", version->major, version->minor, version->patch,
                       processor_name(), formats);
  }
  [[nodiscard]] bool measured() const override { return true; }
  [[nodiscard]] bool knows_layouts() const override { return formats_ == onednn::Formats::kTold; }

  Status configure(const Options& options, const Registry&) override {
    for (const auto& [name, value] : options) REWRIGHT_CHECK(set(name, value));
    omp_set_num_threads(1);
    return {};
  }

  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    if (application.op.name() == "reshape") return 0.0;
    constexpr double kNever = std::numeric_limits<double>::infinity();
    if (!with_blocks_ && std::ranges::any_of(application.orders, block_of)) return kNever;
    try {
      if (auto run = onednn::primitive_of(application, formats_)) return measure(*run);
    } catch (const dnnl::error&) {  // Sizes that oneDNN does not take: our own loops do, in order.
      const auto in_order = [](const AxisOrder& order) { return order.empty(); };
      if (!std::ranges::all_of(application.orders, in_order)) return kNever;
    }
    REWRIGHT_TRY(const onednn::Run run, onednn::own_kernel(application));
    return measure(run);
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<OneDnnCost>(); }

 private:
  Status set(const std::string& name, const Options::mapped_type& value) {
    if (name == "formats") {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr || (*text != "any" && *text != "told" && *text != "unblocked"))
        return make_error(ErrorCode::kUsage, "cost model onednn: formats is any, told or unblocked");
      formats_ = *text == "any" ? onednn::Formats::kAny : onednn::Formats::kTold;
      with_blocks_ = *text == "told";
      return {};
    }
    const auto* integer = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const double number = integer != nullptr ? static_cast<double>(*integer) : real != nullptr ? *real : 0;
    if (name != "repetitions" && name != "batch_us")
      return make_error(ErrorCode::kUsage,
                        "cost model onednn has no option '{}'; there are: repetitions, batch_us, formats", name);
    if (!(number >= 1)) return make_error(ErrorCode::kUsage, "cost model onednn: {} is a number of at least 1", name);
    if (name == "repetitions") repetitions_ = static_cast<int>(std::min(number, 1e6));
    if (name == "batch_us") batch_us_ = number;
    return {};
  }
  [[nodiscard]] static double time_us(const onednn::Run& run, int runs) {
    const double start = wall_us();
    for (int i = 0; i < runs; ++i) run();
    return wall_us() - start;
  }
  [[nodiscard]] double measure(const onednn::Run& run) const {
    run();  // Warm-up: first touch of memory, caches.
    const double wanted = std::clamp(batch_us_ / std::max(time_us(run, 1), 0.1), 1.0, 1e6);
    const int runs = static_cast<int>(std::ceil(wanted));
    double least_us = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repetitions_; ++i) least_us = std::min(least_us, time_us(run, runs) / runs);
    return least_us;
  }

  int repetitions_ = 10;
  double batch_us_ = 300;
  onednn::Formats formats_ = onednn::Formats::kAny;
  bool with_blocks_ = true;
};

}  // namespace

REWRIGHT_PLUGIN("cost.onednn", "1.2.0", "Operators measured in oneDNN") {
  registry.add<CostModel>(std::make_unique<OneDnnCost>());
}
