// Times candidates: programs that must compute what the plain program of a kernel does.
//
// Each runs in a process of its own (measure_worker.h), several of one module; what it does there (it does not compile,
// crashes, hangs, is wrong) is an outcome. Where a module dies, those that are left are tried one by one. One measurer
// works at a time on a machine: the others wait for a lock in the user's cache folder.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/plugin/registry.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tune/measure_task.h"
#include "verify/child_program.h"

namespace rewright::tune {

class REWRIGHT_API Measurer {
 public:
  struct Setting {
    MeasureTask task;
    std::string plugin;      ///< The file that provides the target.
    loop::Program plain;     ///< Unscheduled.
    double peak_gflops = 0;  ///< 0: not checked.
    std::function<bool()> stop;
  };
  /// Errors: kNotFound, no such target; what its version() says.
  [[nodiscard]] static Result<std::string> plugin_of(const Registry& registry, const std::string& target);

  /// Waits for the lock. Errors: kBudget where it was stopped; a plain program that does not compile or run.
  [[nodiscard]] static Result<std::unique_ptr<Measurer>> start(Setting setting);
  ~Measurer();

  /// `heard` gets each as soon as it is known, in their order. Errors: kBudget where it was stopped; kMismatch, a
  /// figure above the machine's peak; kPlugin, the worker cannot be started.
  Status measure(std::span<const loop::Program> programs,
                 const std::function<Status(std::size_t, const Measurement&)>& heard);
  /// The least time so far; infinite at first.
  [[nodiscard]] double incumbent_us() const { return incumbent_us_; }
  /// The slowest by the fastest of the reference's times: 1 where the machine ran evenly.
  [[nodiscard]] double drift() const;

 private:
  using Heard = std::function<Status(const Measurement&)>;
  explicit Measurer(Setting setting) : setting_(std::move(setting)) {}
  Status lock();
  Status start_worker();
  Status measure_module(std::span<const loop::Program> programs, const Heard& heard);
  /// What came of a question; a worker that died is an outcome.
  Result<Measurement> ask(const std::string& message, int seconds);
  Status look_at(const Measurement& measurement);

  Setting setting_;
  std::unique_ptr<ChildProgram> worker_;
  int lock_ = -1;
  double incumbent_us_ = std::numeric_limits<double>::infinity();
  double fastest_reference_us_ = std::numeric_limits<double>::infinity();
  double slowest_reference_us_ = 0;
};

}  // namespace rewright::tune
