// Which tensors lie with their channels last, for a whole graph at once.
//
//   a tensor  has its channels first, or last, or a kernel copies it and both are there: the cost of the copy
//   a kernel  reads and writes each of its tensors in one of the two: the cost of its loops over them
//
// A partitioned Boolean quadratic problem (optimize/pbqp.h): what a kernel reads must be there. Tensors of more than
// kFreeTensors that one kernel touches lie alike, what it reads and what it writes apart.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace rewright::compile {

inline constexpr std::size_t kFreeTensors = 3;  ///< Of which each has its own order.

/// Tensors and kernels by number.
struct LayoutProblem {
  struct Kernel {
    std::vector<std::size_t> reads, writes;  ///< No tensor twice.
  };
  std::size_t tensors = 0;
  std::vector<Kernel> kernels;
  /// Tensors that must be there with channels first: the graph's outputs. Those that no kernel writes are so made.
  std::vector<bool> must_be_first;
  /// In us. Of a kernel, by its tensors, those that it reads first: are channels last?
  std::function<double(std::size_t kernel, const std::vector<bool>& is_last)> kernel_cost;
  std::function<double(std::size_t tensor, bool to_last)> copy_cost;
};

/// By kernel, as kernel_cost has it: are channels last? All first where nothing that is allowed was found.
[[nodiscard]] REWRIGHT_API std::vector<std::vector<bool>> choose_layouts(const LayoutProblem& problem);

}  // namespace rewright::compile
