// Code that may crash, run in a process of its own.
#pragma once

#include <rewright/base/visibility.h>

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace rewright::model {

/// Answers requests by `work` in a forked process, which is started when it is first asked and again after a crash.
/// The process sees the program's memory as it was when it started. It ends with the object.
class REWRIGHT_API Sandbox {
 public:
  using Work = std::function<std::string(const std::string&)>;

  explicit Sandbox(Work work) : work_(std::move(work)) {}
  ~Sandbox() { stop(); }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// The answer; nothing if the process crashed over it, took longer than ten seconds, threw, or crashed so often
  /// before that it is not asked again.
  [[nodiscard]] std::optional<std::string> ask(const std::string& request);

 private:
  bool start();
  void stop();
  [[noreturn]] void serve(int channel) const;

  Work work_;
  pid_t child_ = -1;
  int channel_ = -1;
  int crashes_ = 0;
};

}  // namespace rewright::model
