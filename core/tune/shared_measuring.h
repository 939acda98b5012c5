// Measuring shared by machines: one process tunes, others measure for it, through files in a folder that all see.
//
//   tuner           who tunes: its run, host and machine (JSON); gone when it ended
//   HOST.worker     who measures; its time changes every second
//   RUN-N.task      programs to be measured, and how (JSON)
//   RUN-N.HOST      the same, taken by the worker of that host
//   RUN-N.done      what came of them (JSON); who waited takes it away
//
// A piece that nobody has taken when the tuner is done with its own, or whose worker is silent for kSilent, is measured
// by the tuner itself: a search needs no worker, and loses none of its measurements with one. What is proposed does not
// depend on who measures. Workers are on machines of the tuner's kind (the same fingerprint), one on each, as times
// compare on one kind of machine alone and what is measured side by side is disturbed.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/loop/loop_program.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tune/measurer.h"

namespace rewright::tune {

inline constexpr std::chrono::seconds kSilent(15);

class REWRIGHT_API SharedMeasuring {
 public:
  struct Who {
    std::string host;     ///< Of this process; `this_host()`.
    std::string machine;  ///< Its fingerprint.
  };
  [[nodiscard]] static std::string this_host();

  /// For the process that tunes; one at a time in a folder. Errors: kIo.
  [[nodiscard]] static Result<std::unique_ptr<SharedMeasuring>> lead(const std::string& folder, const Who& who,
                                                                     std::chrono::milliseconds silent = kSilent);
  ~SharedMeasuring();

  /// Measures in this process.
  using Own = std::function<Status(std::span<const loop::Program>,
                                   const std::function<Status(std::size_t, const Measurement&)>&)>;
  /// As Measurer::measure, by this process and by the workers that are there; heard in order. `setting`: what `own`
  /// measures with. Errors: those of `own`; kIo.
  Status measure(const Measurer::Setting& setting, std::span<const loop::Program> programs, const Own& own,
                 const std::function<Status(std::size_t, const Measurement&)>& heard);
  /// What its files begin with.
  [[nodiscard]] const std::string& run() const { return run_; }
  /// Programs that workers measured.
  [[nodiscard]] std::size_t by_workers() const { return by_workers_; }

  struct Service {
    std::size_t measured = 0;  ///< Programs.
    std::string end;           ///< Why it ended, as a sentence.
  };
  /// A worker: measures until the tuner ends. It does not begin where the tuner is on this host or on a machine of
  /// another kind, or nobody tunes for `patience`. Errors: kIo; those of Measurer; kBudget where it was stopped.
  [[nodiscard]] static Result<Service> serve(const std::string& folder, const Who& who, const Registry& registry,
                                             std::chrono::seconds patience, const std::function<bool()>& stop,
                                             const std::function<void(std::size_t)>& progress = {});

 private:
  struct Sign {
    std::string seen;  ///< What was read of it last.
    std::chrono::steady_clock::time_point since;
  };
  struct Piece {
    std::string name;
    std::size_t first = 0, count = 0;
  };
  SharedMeasuring(std::string folder, std::string run, std::chrono::milliseconds silent)
      : folder_(std::move(folder)), run_(std::move(run)), silent_(silent) {}
  /// Has what a file says changed within kSilent? By this process's clock.
  bool is_alive(const std::string& file);
  [[nodiscard]] std::vector<std::string> workers();
  /// Nothing: it is not there yet.
  [[nodiscard]] Result<std::vector<Measurement>> collected(const Piece& piece) const;
  /// Takes a piece back that is not done and that nobody works at.
  bool take_back(const Piece& piece);

  std::string folder_, run_;
  std::chrono::milliseconds silent_;
  std::size_t next_ = 0, by_workers_ = 0;
  std::map<std::string, Sign> signs_;
};

}  // namespace rewright::tune
