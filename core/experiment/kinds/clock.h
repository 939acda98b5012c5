// Wall clock and CPU time of a piece of work.
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace rewright::experiment {

/// CPU seconds of this process, all threads, and of the processes that it has waited for.
[[nodiscard]] inline double cpu_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

class Clock {
 public:
  [[nodiscard]] double wall() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  [[nodiscard]] double cpu() const { return cpu_seconds() - cpu_start_; }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_ = Steady::now();
  double cpu_start_ = cpu_seconds();
};

}  // namespace rewright::experiment
