// What a command that compiles shows of its steps, and where it works.
#pragma once

#include <rewright/base/command.h>
#include <rewright/base/result.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/files.h"
#include "cli/progress.h"
#include "compile/child_processes.h"
#include "compile/staged_folder.h"

namespace rewright::cli {

/// What is being done, and for how long, on a ProgressLine that a thread of its own keeps up to date.
class StepLine {
 public:
  explicit StepLine(bool quiet) : line_(quiet), thread_([this] { show(); }) {}
  ~StepLine() {
    begin(std::nullopt);
    thread_.join();
  }
  StepLine(const StepLine&) = delete;
  StepLine& operator=(const StepLine&) = delete;
  void begin(std::optional<std::string> step) {
    const std::scoped_lock lock(mutex_);
    step_ = std::move(step);
    changed_.notify_one();
  }

 private:
  void show() {
    std::unique_lock lock(mutex_);
    while (step_) {
      line_.show(*step_);
      changed_.wait_for(lock, std::chrono::milliseconds(200));
    }
    line_.clear();
  }

  ProgressLine line_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> step_ = "read";
  std::thread thread_;
};

/// What is gone when the command ends, however it does: what was begun to be written, and temporary files, the
/// compiler's among them.
class Workplace {
 public:
  /// `into`: files take their places in a folder that is there.
  static Result<std::unique_ptr<Workplace>> make(const std::string& folder, bool into) {
    REWRIGHT_TRY(auto staged, compile::StagedFolder::make(folder, into));
    REWRIGHT_TRY(TemporaryFolder temporary, TemporaryFolder::make());
    ::setenv("TMPDIR", temporary.path().c_str(), 1);
    return std::unique_ptr<Workplace>(new Workplace(std::move(staged), std::move(temporary)));
  }
  [[nodiscard]] compile::StagedFolder& staged() { return *staged_; }
  [[nodiscard]] const std::string& built() const { return temporary_.path(); }
  /// Beside the work, from another thread: the process ends next. False: it was written before.
  bool clear() {
    compile::end_child_processes();
    const bool is_discarded = staged_->discard();
    compile::remove_at_once(temporary_.path());
    compile::end_child_processes();  // What was started meanwhile.
    return is_discarded;
  }

 private:
  Workplace(std::unique_ptr<compile::StagedFolder> staged, TemporaryFolder temporary)
      : staged_(std::move(staged)), temporary_(std::move(temporary)) {}

  std::unique_ptr<compile::StagedFolder> staged_;
  TemporaryFolder temporary_;
};

}  // namespace rewright::cli
