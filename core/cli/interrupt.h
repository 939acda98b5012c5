// Ctrl-C (SIGINT) and SIGTERM. They end the program at once, unless its command saves what it has done: then the first
// asks the running work to stop and save, and the second ends the program.
#pragma once

#include <functional>
#include <memory>

namespace rewright::cli {

/// From now on the first signal does no more than make interrupted() true.
void heed_interrupts();

/// True once a heeded signal came. Long work asks between its steps. Safe from any thread.
[[nodiscard]] bool interrupted();

/// While it lives, the process ends within a second of the first signal, with exit code 3, whatever its work is doing.
/// Work that has not ended 0.75 s after the signal is overtaken: `last_act` is called on a thread of its own, beside
/// the work, and then the process ends without destructors. Children must end with their parent (PR_SET_PDEATHSIG).
class StopInTime {
 public:
  explicit StopInTime(std::function<void()> last_act);
  ~StopInTime();
  StopInTime(const StopInTime&) = delete;
  StopInTime& operator=(const StopInTime&) = delete;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace rewright::cli
