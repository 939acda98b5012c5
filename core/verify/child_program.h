// A program that came with the library, as a child that answers messages on a socket.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace rewright {

/// It is no fork of this process: that may have threads. It leads a process group of its own, so that what it starts
/// ends with it, and an interrupt from the terminal leaves it to this process to end it.
class REWRIGHT_API ChildProgram {
 public:
  ChildProgram() = default;
  ~ChildProgram() { end(); }
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  /// Starts `program`, a file, once. Its standard input is the socket. `purpose`: "verifiers run". Errors: kIo,
  /// kPlugin.
  Status start(const std::string& program, const std::string& purpose);
  struct Reply {
    std::string bytes;        ///< Where there was no crash.
    std::string crash;        ///< How it ended: "it ended its process (Segmentation fault)".
    bool late = false;        ///< It crashed in that it gave no answer in time.
    bool is_stopped = false;  ///< `stop` said so; the child runs on.
  };
  /// After a crash the child is gone.
  [[nodiscard]] Reply ask(const std::string& message, std::int64_t seconds, const std::function<bool()>& stop);
  void end();

 private:
  /// Its exit, in words.
  std::string obituary();

  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace rewright
