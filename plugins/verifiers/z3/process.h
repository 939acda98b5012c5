// A solver in a process of its own, with a limit on memory.
#pragma once

#include <rewright/result.h>

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace z3_verifier {

struct ProcessLimits {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::int64_t cpu_seconds = 3600;   ///< Of the process.
  std::int64_t answer_seconds = 60;  ///< Of waiting for one answer: a last resort, budgets are in work.
};

/// Starts on the first question, again after it died. Ends with the object: no process stays behind.
class Process {
 public:
  Process(std::string program, ProcessLimits limits) : program_(std::move(program)), limits_(limits) {}
  ~Process() { stop(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] bool running() const { return pid_ > 0; }
  /// Errors: kIo where it cannot be started.
  rewright::Status start();
  /// The answer. Errors: kBudget where the process died or did not answer; it is gone then.
  rewright::Result<std::string> ask(std::string_view text);
  void stop();

 private:
  bool send(std::string_view text) const;
  bool receive(void* data, std::size_t size, std::int64_t deadline_ms) const;
  rewright::Error died(std::string_view doing);

  std::string program_;
  ProcessLimits limits_;
  pid_t pid_ = 0;
  int socket_ = -1;
};

}  // namespace z3_verifier
