// Kernels tuned on demand: for who asks what one costs that no record says yet.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/kernel.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <memory>
#include <string>

namespace rewright::tune {

struct KernelBudget {
  std::int64_t trials = 8;  ///< Schedules of each kernel that are measured, beside the two that need no search.
  double seconds = 600;     ///< Of all kernels together; the one that is being tuned then is the last.
};

class REWRIGHT_API KernelTuner {
 public:
  /// `records`: a store, made where there is none. `policy`: of caches, "hot" or "cold". `registry` outlives this.
  /// Errors: of a store that cannot be written; a tuner or target that is not there.
  [[nodiscard]] static Result<std::unique_ptr<KernelTuner>> start(const std::string& records, const std::string& policy,
                                                                  const KernelBudget& budget, const Registry& registry);
  ~KernelTuner();
  /// Adds what it measured to the store. False: the budget is spent, and nothing was done. Errors: an operator without
  /// a definition; what kept it from measuring.
  [[nodiscard]] Result<bool> tune(const Kernel& kernel);

 private:
  struct State;
  explicit KernelTuner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rewright::tune
