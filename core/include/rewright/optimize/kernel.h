// Kernels: what a runtime does in one go, and how the tensors that it reads and writes lie in memory.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
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

/// What a runtime does in one go: an application, and others that each take the first output of the one before, which
/// nothing else uses, and tensors from outside. It borrows what it names.
struct Kernel {
  std::span<const Application> applications;
  std::span<const std::uint32_t> joined;  ///< By application from the second on: which operand the one before gives.
};

}  // namespace rewright
