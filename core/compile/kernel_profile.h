// Where the time of a compiled model goes: each kernel as it ran among the others, beside what the machine allows for
// it alone.
//
//   limit = max(operations / peak, sum over caches of bytes there / read bandwidth) / threads
//
// Operations  those of values: 1 for a sum, product, comparison or function, so that a multiply-add is 2; those under a
//             condition as if it held.
// Bytes       of the tensors that a kernel reads and writes, each once; of a tensor of which it reads less, what it
//             reads. As many as fit lie in the first cache, the rest in the next ones: no order of kernels is kinder.
// Units       microseconds.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compile/kernels.h"
#include "tune/this_machine.h"

namespace rewright::compile {

/// What a run of the program does at least.
struct KernelWork {
  double operations = 0;
  double bytes = 0;
};

/// One call of a kernel.
struct KernelTime {
  std::string kernel;  ///< The function.
  std::string result;  ///< The first tensor that it writes; empty for one that the graph does not have.
  double us = 0;       ///< Least time, in context.
  double limit_us = 0;
  std::string key = {};      ///< As of its call.
  std::string program = {};  ///< Its id (compile/network_tasks.h), where it was scheduled.
  KernelWork work = {};
  /// Named nodes that it computes: that of its result, and those that have joined it.
  std::vector<std::string> nodes = {};
};

[[nodiscard]] REWRIGHT_API KernelWork work_of(const loop::Program& program);

[[nodiscard]] REWRIGHT_API double limit_us(const KernelWork& work, const tune::Machine& machine, int threads);

/// `times`: of the calls, in their order.
[[nodiscard]] REWRIGHT_API std::vector<KernelTime> kernel_profile(const Graph& graph, const Kernels& kernels,
                                                                  const std::vector<double>& times,
                                                                  const tune::Machine& machine);

}  // namespace rewright::compile
