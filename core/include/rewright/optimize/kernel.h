// Kernels: what a runtime does in one go, and how the tensors that it reads and writes lie in memory.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rewright {

/// How a tensor lies in memory: its axes, the slowest first; {0, 2, 3, 1} are images with their channels last. A
/// negative number at the end: axis 1 is cut into blocks of so many, which lie together, the last one filled up;
/// {0, 1, 2, 3, -16} is what oneDNN calls nChw16c. Empty: in order.
using AxisOrder = std::vector<int>;
/// The size of the blocks; 0 where there are none.
[[nodiscard]] inline int block_of(const AxisOrder& order) {
  return !order.empty() && order.back() < 0 ? -order.back() : 0;
}

/// One application of an operator, as a cost model sees it. It borrows what it names.
struct Application {
  const Operator& op;
  const Params& params;
  std::span<const Shape> in;
  std::span<const InputKind> kinds;  ///< By operand; kWeight: known before the first run, so a backend may prepack it.
  /// By operand, then by output. None: as the operator likes it best, as in a network whose neighbours agree. Weights
  /// always lie as the operator likes them best. A transpose that keeps every axis in its place and has two orders
  /// brings a tensor from one into the other.
  std::span<const AxisOrder> orders = {};
};

/// What a runtime does in one go: a small graph of applications, each behind those whose outputs it takes. An output
/// that one of them takes does not leave the kernel. It borrows what it names.
struct Kernel {
  static constexpr std::uint32_t kOutside = ~std::uint32_t{0};
  /// What an operand is: an output of an application of the kernel, or a tensor from outside.
  struct Source {
    std::uint32_t application = kOutside;
    std::uint32_t output = 0;
    [[nodiscard]] bool is_outside() const { return application == kOutside; }
    friend bool operator==(const Source&, const Source&) = default;
  };

  std::span<const Application> applications;
  std::span<const Source> sources = {};  ///< Of all operands, application by application; none: all from outside.
  /// The application whose loops the others join: its producers stand before it, its consumers behind.
  std::uint32_t anchor = 0;

  /// Of an application's operands.
  [[nodiscard]] Source source(std::size_t application, std::size_t operand) const {
    if (sources.empty()) return {};
    std::size_t at = operand;
    for (std::size_t before = 0; before < application; ++before) at += applications[before].in.size();
    return sources[at];
  }
};

/// A kernel that owns what it names but its operators.
class REWRIGHT_API OwnedKernel {
 public:
  struct Part {
    const Operator* op = nullptr;
    Params params;
    std::vector<Shape> in;
    std::vector<InputKind> kinds;
    std::vector<AxisOrder> orders = {};
    std::vector<Kernel::Source> sources = {};  ///< One for each operand; none: all from outside.
  };
  /// Behind those whose outputs it takes.
  void add(Part part);
  /// Valid until the next add(), and where this object is moved to.
  [[nodiscard]] Kernel kernel() const { return {applications_, sources_}; }
  /// Those that were added.
  [[nodiscard]] const Part& part(std::size_t i) const { return *parts_[i]; }
  [[nodiscard]] std::size_t size() const { return parts_.size(); }

 private:
  std::vector<std::unique_ptr<const Part>> parts_;  // Each stays where applications_ look for it.
  std::vector<Application> applications_;
  std::vector<Kernel::Source> sources_;
};

/// Some nodes of a graph, applications in its order, as a kernel.
[[nodiscard]] REWRIGHT_API OwnedKernel kernel_of(const Graph& graph, std::span<const NodeId> nodes);

/// Sources of a chain: application i takes, as its operand joined[i - 1], the first output of the one before.
[[nodiscard]] REWRIGHT_API std::vector<Kernel::Source> chain_sources(std::span<const Application> applications,
                                                                     std::span<const std::uint32_t> joined);

}  // namespace rewright
