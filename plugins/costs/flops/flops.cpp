/// A roofline: the time of a kernel is launch overhead plus the longer of computing and moving.
///
///   t = launches * overhead + max(flops / (peak * min(1, outputs / launches / filled_by)), bytes / bandwidth)
///
/// flops and bytes are what the operators say of themselves; bytes count each float32 operand and output once, and not
/// what one application of a kernel hands to the next. Applications without flops (concat, ...) pay for the bytes they
/// move. Modelled, not measured: it knows nothing of caches or of shapes that fill the vector units badly.
///
/// Opaque    A node that no operator knows pays for the bytes that it moves; one that asks for a shape, for its output.
/// Layouts   Products take the orders that the device says; convolutions and pooling of images with their channels last
///           take `channels_last` times as long as in order, in blocks `channels_blocked` times, where the device has
///           them; everything else is as fast in one order as in another. A block that is not full takes as long as one
///           that is.
/// Kernels   One application each, and those that the device's description calls fused.
/// Groups    A convolution is one launch, or one for each of its groups where the device says `groups = "apart"`. Where
/// it
///           says so, groups that do not have a multiple of `group_channels` channels compute `group_slowdown` times as
///           long; those of one channel, for which there are kernels of their own, do not.
/// Views     Reshape costs nothing anywhere: no data moves. Where the device says so, so do splits whose parts are
///           contiguous (all axes before the split one are of size 1).
/// Options   device (a known name or a file of its description, devices/*.toml), gflops, gbytes_per_s, overhead_us
/// Source    Williams, Waterman, Patterson, Roofline, Communications of the ACM 52(4), 2009.
#include <rewright/optimize/cost.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "device.h"

namespace {
using namespace rewright;

/// What the tensors of the application become where their last blocks are filled up: by how much they grow at most.
double filled_up(const Application& application) {
  double most = 1;
  const auto add = [&](const AxisOrder& order, const Shape& shape) {
    const std::int64_t block = block_of(order), channels = block > 0 ? shape[1] : 0;
    if (channels > 0)
      most =
          std::max(most, static_cast<double>((channels + block - 1) / block * block) / static_cast<double>(channels));
  };
  for (std::size_t i = 0; i < application.in.size() && i < application.orders.size(); ++i)
    add(application.orders[i], application.in[i]);
  const auto out = application.op.infer(application.params, application.in);
  for (std::size_t i = application.in.size(); out && i < application.orders.size(); ++i)
    add(application.orders[i], (*out)[i - application.in.size()]);
  return most;
}

bool is_view(const Application& application, const Device& device) {
  if (application.op.name() == "reshape") return true;
  if (!device.views_are_free || application.op.name() != "split") return false;
  const auto axis = static_cast<int>(application.params.integer(0));
  AxisOrder order = application.orders.empty() ? AxisOrder() : application.orders[0];
  for (int i = 0; order.size() < static_cast<std::size_t>(application.in[0].rank()); ++i) order.push_back(i);
  return std::all_of(order.begin(), std::ranges::find(order, axis), [&](int i) { return application.in[0][i] == 1; });
}

double elements_of(const std::vector<Shape>& shapes) {
  double sum = 0;
  for (const Shape& shape : shapes) sum += static_cast<double>(shape.elements());
  return sum;
}

double bytes_of(std::span<const TensorType> types) {
  double bytes = 0;
  for (const TensorType& type : types)
    bytes += static_cast<double>(type.shape.elements()) * static_cast<double>(element_size(type.element));
  return bytes;
}

/// Of a convolution; one group of anything else.
struct Groups {
  std::int64_t count = 1, in = 1, out = 1;  ///< How many, and the channels of one.
};
Groups groups_of(const Application& application) {
  if (application.op.name() != "conv2d") return {};
  const Shape &x = application.in[0], &w = application.in[1];
  const std::int64_t count = w[1] > 0 ? std::max<std::int64_t>(x[1] / w[1], 1) : 1;
  return {count, w[1], w[0] / count};
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
    if (is_view(application, device_)) return 0.0;
    const double factor = layout_factor(application);
    return factor * time_us(application.op.work(application.params, application.in), application);
  }
  [[nodiscard]] bool knows_layouts() const override {
    return device_.products != Device::Products::kInOrder || device_.channels_last > 0 || device_.channels_blocked > 0;
  }
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override { return device_.fused; }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    Work all;
    for (const Application& application : kernel.applications) {
      const Work work = application.op.work(application.params, application.in);
      all.flops += work.flops, all.bytes += work.bytes;
    }
    all.bytes -= bytes_inside(kernel);
    const Application& anchor = kernel.applications[kernel.anchor];
    return layout_factor(anchor) * time_us(all, anchor);
  }
  [[nodiscard]] Result<double> opaque_us(const OpaqueApplication& node) override {
    const bool reads = node.type != "Shape" && node.type != "Size";
    const double bytes = bytes_of(node.out) + (reads ? bytes_of(node.in) : 0);
    return device_.overhead_us + bytes / (device_.gbytes_per_s * 1e3);
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Flops>(); }

 private:
  /// Of what one application of the kernel makes and others take: neither written nor read.
  static double bytes_inside(const Kernel& kernel) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> made;
    double elements = 0;
    for (std::size_t i = 0; i < kernel.applications.size(); ++i)
      for (std::size_t k = 0; k < kernel.applications[i].in.size(); ++k) {
        const Kernel::Source source = kernel.source(i, k);
        if (source.is_outside()) continue;
        const bool is_new = made.emplace(source.application, source.output).second;
        elements += (is_new ? 2 : 1) * static_cast<double>(kernel.applications[i].in[k].elements());
      }
    return 4.0 * elements;
  }
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
      return make_error(ErrorCode::kUsage, "cost model flops: {} must be a number, not {}", name,
                        std::visit([](const auto& plain) { return fmt::format("{}", plain); }, value));
    *setting = real != nullptr ? *real : static_cast<double>(*integer);
    if (setting == &device_.overhead_us ? !(*setting >= 0) : !(*setting > 0))
      return make_error(ErrorCode::kUsage, "cost model flops: {} is {}, and must be {}", name, *setting,
                        setting == &device_.overhead_us ? "at least 0" : "more than 0");
    return {};
  }

  /// The time in these layouts against the time in order; infinite where the device has no such kernel.
  [[nodiscard]] double layout_factor(const Application& application) const {
    const std::span<const AxisOrder> orders = application.orders;
    const auto in_order = [](const AxisOrder& order) { return order.empty(); };
    if (std::ranges::all_of(orders, in_order)) return 1;
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const auto is_strange = [&](const AxisOrder& order) {
      return block_of(order) > 0 && (device_.channels_blocked == 0 || block_of(order) != device_.block);
    };
    if (std::ranges::any_of(orders, is_strange)) return kNever;
    const std::string& name = application.op.name();
    if (name == "conv2d" || name.starts_with("pool2d")) {
      const double factor = block_of(orders[0]) > 0 ? device_.channels_blocked : device_.channels_last;
      return orders[0] == orders.back() && factor > 0 ? factor * filled_up(application) : kNever;
    }
    if (std::ranges::any_of(orders, block_of)) return filled_up(application);
    if (name != "matmul" || device_.products == Device::Products::kStrided) return 1;
    const auto by_columns = [](const AxisOrder& order) {
      const int rank = static_cast<int>(order.size());
      return order.empty() || (order[order.size() - 1] == rank - 2 && order[order.size() - 2] == rank - 1 &&
                               std::is_sorted(order.begin(), order.end() - 2));
    };
    return orders.back().empty() && std::ranges::all_of(orders, by_columns) ? 1 : kNever;
  }
  /// `work` is that of a kernel that begins with this application.
  [[nodiscard]] double time_us(const Work& work, const Application& application) const {
    const Groups groups = groups_of(application);
    const double launches = device_.groups_apart ? static_cast<double>(groups.count) : 1;
    const double peak = device_.gflops * 1e3 * share(application, launches);
    const double computing_us = work.flops / peak * (is_slow(groups) ? device_.group_slowdown : 1);
    return launches * device_.overhead_us + std::max(computing_us, work.bytes / (device_.gbytes_per_s * 1e3));
  }
  [[nodiscard]] bool is_slow(const Groups& groups) const {
    const auto fills = [&](std::int64_t channels) { return channels % device_.group_channels == 0; };
    const bool is_depthwise = groups.in == 1 && groups.out == 1;
    return groups.count > 1 && !is_depthwise && !(fills(groups.in) && fills(groups.out));
  }
  /// Of the peak, by how much of the device the outputs of a launch fill.
  [[nodiscard]] double share(const Application& application, double launches) const {
    if (device_.filled_by <= 1) return 1;
    const auto out = application.op.infer(application.params, application.in);
    const double outputs = out ? std::max(elements_of(*out) / launches, 1.0) : device_.filled_by;
    return std::min(1.0, outputs / device_.filled_by);
  }

  Device device_ = *read_device("cpu");
};

}  // namespace

REWRIGHT_PLUGIN("cost.flops", "1.3.0", "Roofline cost model") { registry.add<CostModel>(std::make_unique<Flops>()); }
