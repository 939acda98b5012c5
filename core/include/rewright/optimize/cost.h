// Cost models: plugins that say what a graph costs to run, in microseconds (measured or modelled).
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/options.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>
#include <rewright/optimize/estimate.h>
#include <rewright/optimize/kernel.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rewright {

class CostCache;
class KernelCosts;
class Registry;

/// A node that no operator knows, as a cost model sees it. It borrows what it names.
struct OpaqueApplication {
  std::string_view type;  ///< As in ONNX: "Resize", "com.microsoft:FusedConv".
  std::span<const TensorType> in;
  std::span<const TensorType> out;
  std::span<const std::byte> model;  ///< The node alone, for Runtime::load. Empty for a model that does not measure.
  std::span<const RuntimeTensor> inputs;  ///< Values for it.
};

class CostModel;
template <>
inline constexpr std::uint32_t kAbiVersion<CostModel> = 7;

class REWRIGHT_API CostModel {
 public:
  virtual ~CostModel();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// What the figures depend on besides the application: device, library and its version. Part of the cache's key.
  [[nodiscard]] virtual std::string device() const = 0;
  /// Measured costs are cached in the store; modelled ones need not be.
  [[nodiscard]] virtual bool measured() const = 0;
  /// Called once, before the first question. `registry` outlives the object; a model that measures finds its Runtime
  /// there. Errors: an unknown option, a value out of range, a runtime that cannot be used here.
  virtual Status configure(const Options& options, const Registry& registry) = 0;
  /// Microseconds of one application.
  [[nodiscard]] virtual Result<double> cost_us(const Application& application) = 0;
  /// Whether it is to be asked about tensors whose axes are not in order. What cannot be had costs infinitely much.
  [[nodiscard]] virtual bool knows_layouts() const { return false; }
  /// What runs as one kernel: names of operators in the order of the data. All but the first may be missing, so that
  /// {conv2d, bias_add, relu} stands for {conv2d, relu} too.
  [[nodiscard]] virtual std::vector<std::vector<std::string>> fused() const { return {}; }
  /// Microseconds of a kernel of several applications, of fused() only. By default the sum of theirs.
  [[nodiscard]] virtual Result<double> kernel_us(const Kernel& kernel);
  /// Of many kernels, in their order, of one application or several. This is what a search asks: once for each kernel,
  /// and it remembers. By default what cost_us() and kernel_us() say, without a spread.
  [[nodiscard]] virtual Result<std::vector<Estimate>> estimates(std::span<const Kernel> kernels);
  /// Microseconds of a node that no operator knows. Errors: kUnsupported, and the node counts as nothing.
  [[nodiscard]] virtual Result<double> opaque_us(const OpaqueApplication& node);
  [[nodiscard]] virtual std::unique_ptr<CostModel> clone() const = 0;
};

/// Microseconds of a graph: the sum over its kernels, without what depends on weights alone (done once, before the
/// first run). A kernel is one application, an opaque node, or several applications that the model calls fused: each
/// takes the one before as an operand of its output's shape, nothing else uses that, and its other operands are weights
/// or of the same shape. Where an application could join one of two kernels it joins the one that grows less dear. A
/// concat whose only use is another concat on the same axis counts as part of it: together they are one concat of more
/// operands.
///
/// With `reorder`, the operator transpose, and a model that knows layouts, it is the cost in the layouts that were
/// found best (optimize/layouts.h), what brings a tensor from one into another included. Inputs and outputs are in
/// order.
class REWRIGHT_API GraphCost {
 public:
  /// `cache` may be null; both must outlive the object.
  GraphCost(CostModel& model, CostCache* cache, const Operator* reorder = nullptr);
  ~GraphCost();
  /// For several threads; the model is asked by one at a time.
  [[nodiscard]] Result<double> cost_us(const Graph& graph);
  /// The same with its spread: that of equal kernels adds up, that of different ones is independent. In layouts it is
  /// 0.
  [[nodiscard]] Result<Estimate> estimate(const Graph& graph);
  [[nodiscard]] KernelCosts& kernels() { return *kernels_; }

 private:
  std::unique_ptr<KernelCosts> kernels_;
};

/// What the processor calls itself, for device().
[[nodiscard]] REWRIGHT_API std::string processor_name();

/// Measurements that outlive a run, keyed by model, device and kernel: operators, parameters, shapes, kinds of
/// operands.
class REWRIGHT_API CostCache {
 public:
  virtual ~CostCache();
  [[nodiscard]] virtual std::optional<double> find(const std::string& key) = 0;
  virtual Status insert(const std::string& key, double cost_us) = 0;
};

/// By node: true where it depends on weights alone. Inputs of kind kWeight do; an application does if it has
/// operands and all of them do, or if it is a constant operator. Opaque nodes never do: they may be random.
[[nodiscard]] REWRIGHT_API std::vector<bool> weight_only(const Graph& graph);

}  // namespace rewright
