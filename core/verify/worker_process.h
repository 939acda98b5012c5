// A process that serves one verifier, as the campaign sees it.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "verify/child_program.h"
#include "verify/worker_message.h"

namespace rewright {

/// Starts the program `verifier-worker`, which lies beside the plugins that came with librewright.
class REWRIGHT_API WorkerProcess {
 public:
  /// Errors: kPlugin where it cannot be started or set up, kMismatch where the axiom files have changed, kBudget where
  /// it was stopped.
  [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>> start(const std::string& task,
                                                                    const std::function<bool()>& stop);

  struct Reply {
    WorkerAnswer answer;  ///< Where there was no crash.
    std::string crash;    ///< How it ended: "it ended its process (Segmentation fault)".
    bool late = false;    ///< It crashed in that it gave no answer in time.
  };
  /// After a crash the object is of no use any more. Errors: kBudget where it was stopped.
  [[nodiscard]] Result<Reply> ask(const std::string& goals, std::int64_t seconds, const std::function<bool()>& stop);

 private:
  WorkerProcess() = default;
  ChildProgram child_;
};

/// Processes that wait for work, by what they were started for: they outlive the verifiers that chunks of goals get.
/// For any thread.
class WorkerShelf {
 public:
  /// Null where there is none.
  [[nodiscard]] std::unique_ptr<WorkerProcess> take(const std::string& task);
  void give(const std::string& task, std::unique_ptr<WorkerProcess> process);

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<WorkerProcess>>> idle_;
};

}  // namespace rewright
