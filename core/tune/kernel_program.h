// The loop program of a kernel, and how much work it is.
//
// Names do not depend on who asks, so that a schedule that was recorded for a kernel can be applied to it: tensors from
// outside are x0, x1, ... in the order of the key (optimize/cost_key.h), results y (or y0, y1, ...), what is stored on
// the way t0, t1, ... A tensor that two operands read is two buffers, as in the key.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/optimize/cost_key.h>
#include <rewright/plugin/registry.h>
#include <rewright/tune/machine.h>

namespace rewright::tune {

/// A kernel with everything that follows from it.
struct KernelTask {
  std::string key;        ///< Of optimize/cost_key.h, sizes in place.
  KernelKey apart;        ///< The same, sizes apart.
  loop::Program program;  ///< Unscheduled.
};
/// Errors: an operator without a definition; kInternal where the loops are not valid.
[[nodiscard]] REWRIGHT_API Result<KernelTask> task_of(const Kernel& kernel, const Registry& registry);

struct ProgramWork {
  double operations = 0;       ///< Floating-point: + - * / max min and functions, a += two with its product.
  bool is_exact = true;        ///< False where conditions leave some out.
  std::int64_t reduction = 0;  ///< Elements that one element of a result is accumulated from, all reductions together.
  std::int64_t bytes = 0;      ///< Of inputs, weights and results.
};
[[nodiscard]] REWRIGHT_API ProgramWork work_of(const loop::Program& program);
/// Microseconds that one core takes at least: operations by the peak, or bytes by the bandwidth of the caches that they
/// fill, the first one first; the greater. 0 where the machine has no figures.
[[nodiscard]] REWRIGHT_API double limit_us(double operations, double bytes, const Machine& machine);

}  // namespace rewright::tune
