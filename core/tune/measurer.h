// Times candidates: programs that must compute what the plain program of a kernel does.
//
// Each runs in a process of its own (measure_worker.h), several of one module; what it does there (it does not compile,
// crashes, hangs, is wrong) is an outcome. Where a module dies, those that are left are tried one by one. Modules are
// compiled side by side, one for each core, and then timed one after the other, while nothing else runs. One measurer
// works at a time on a machine: the others wait for a lock in the user's cache folder.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/plugin/registry.h>
#include <rewright/schedule/transform.h>

#include <atomic>
#include <functional>
#include <future>
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

  /// `heard` gets each as soon as it is known, in their order. Errors: kBudget where it was stopped; kMismatch, the
  /// third figure above the machine's peak in a row, the others are refused; kPlugin, the worker cannot be started.
  Status measure(std::span<const loop::Program> programs,
                 const std::function<Status(std::size_t, const Measurement&)>& heard);
  /// The same for schedules of the plain program that the target applies itself (Target::compile_scheduled).
  Status measure_by_target(std::span<const schedule::Schedule> schedules,
                           const std::function<Status(std::size_t, const Measurement&)>& heard);
  /// The least time so far; infinite at first.
  [[nodiscard]] double incumbent_us() const { return incumbent_us_; }
  /// The slowest by the fastest of the reference's times: 1 where the machine ran evenly.
  [[nodiscard]] double drift() const;
  /// Seconds that compiling took.
  [[nodiscard]] double compiling() const { return compiling_; }

 private:
  using Heard = std::function<Status(const Measurement&)>;
  using Worker = std::unique_ptr<ChildProgram>;  ///< Null: it is to be started.
  struct Module {
    const char* kind;  ///< Of the message (measure_message.h).
    std::span<const std::string> candidates;
    [[nodiscard]] Module part(std::size_t first, std::size_t most) const;
  };
  /// Empty, the module is compiled; or what came of that.
  using Compiled = std::future<Result<Measurement>>;
  explicit Measurer(Setting setting);
  Status lock();
  /// `stop` may be called by another thread than that of the setting.
  Status start(Worker& worker, const std::function<bool()>& stop);
  /// What came of a question; a worker that died is an outcome.
  Result<Measurement> ask(Worker& worker, const std::string& message, int seconds, const std::function<bool()>& stop);
  /// Beside what this thread does.
  Compiled compile(Worker& worker, const Module& module);
  Result<Measurement> wait_for(Compiled& compiled);
  /// As many parts as there are workers at most, compiled.
  Result<std::vector<Measurement>> compile_all(std::span<const Module> modules);
  Status measure_all(const Module& all, const std::function<Status(std::size_t, const Measurement&)>& heard);
  Status measure_module(Worker& worker, const Module& module, const Measurement& compiled, const Heard& heard);
  Status measure_alone(Worker& worker, const Module& module, const Heard& heard);
  /// What came of timing a candidate of the module that the worker has. Errors: kMismatch, figures above the peak,
  /// though both were measured again.
  Result<Measurement> time(Worker& worker, std::size_t index);
  [[nodiscard]] bool is_above_peak(const Measurement& measurement) const;

  Setting setting_;
  std::vector<Worker> workers_;
  std::atomic<bool> is_ending_ = false;  ///< What compiles is to end.
  int lock_ = -1;
  double compiling_ = 0;
  int above_peak_ = 0;  ///< Figures above the peak, in a row.
  double incumbent_us_ = std::numeric_limits<double>::infinity();
  double fastest_reference_us_ = std::numeric_limits<double>::infinity();
  double slowest_reference_us_ = 0;
};

}  // namespace rewright::tune
