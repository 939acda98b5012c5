// Programs of the system, run in a process of their own.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

struct CommandOutcome {
  int exit_code = 0;  ///< -1 where a signal or the time limit ended it.
  bool timed_out = false;
  std::string text;  ///< What it wrote to standard output and error, its first 64 KiB.

  /// The first line with "error" in it, else the first that is not empty.
  [[nodiscard]] REWRIGHT_API std::string first_error_line() const;
};

/// Runs words[0], looked for on the PATH, with an empty standard input. After `seconds` it is ended with all that it
/// started. Errors: kNotFound where there is no such program, kIo.
[[nodiscard]] REWRIGHT_API Result<CommandOutcome> run_command(std::span<const std::string> words, int seconds);

/// Runs the C compiler: the program in the environment variable REWRIGHT_CC, else `cc`. Returns what it wrote. Errors:
/// kNotFound, with what to install; kUnsupported, it failed, with its first error line, or took longer than `seconds`.
[[nodiscard]] REWRIGHT_API Result<std::string> run_c_compiler(std::vector<std::string> arguments, int seconds);

/// A new folder below the system's for temporary files, gone with the object.
class REWRIGHT_API TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace rewright
