// A solver in a process of its own, with limits on memory and time.
#pragma once

#include <rewright/base/result.h>

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smt_verifier {

/// How the two sides know where a message ends.
enum class Framing : std::uint8_t {
  kLength,  ///< Eight bytes, in this machine's order, that say how many follow.
  kEcho,    ///< The solver is asked to echo a word that ends its answer.
};

struct ProcessCommand {
  std::vector<std::string>
      words;  ///< The program's path, then its arguments. It speaks on its standard input and output.
  Framing framing = Framing::kLength;
  std::uint64_t memory_bytes = 0;    ///< The limit that the arguments set; for what is said of its death.
  std::int64_t answer_seconds = 60;  ///< Of waiting for one answer: a last resort, budgets are in work.
};

/// Starts on the first question, again after it died. Ends with the object: no process stays behind.
class Process {
 public:
  explicit Process(ProcessCommand command) : command_(std::move(command)) {}
  ~Process() { stop(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] bool running() const { return pid_ > 0; }
  /// Errors: kIo where it cannot be started.
  rewright::Status start();
  /// The answers to these questions, which are sent in one piece; `meanwhile`, if any, is called once while the process
  /// works. Errors: kBudget where the process died or did not answer; it is gone then.
  rewright::Result<std::vector<std::string>> ask(std::span<const std::string> questions,
                                                 const std::function<void()>& meanwhile = {});
  void stop();

 private:
  bool send(std::string_view text) const;
  std::optional<std::string> receive_answer();
  rewright::Error died();

  ProcessCommand command_;
  pid_t pid_ = 0;
  int socket_ = -1;
  std::string received_;  ///< Of answers that nobody has taken.
};

/// The path of a program that lies beside the shared object with this code in it.
[[nodiscard]] std::string program_beside_plugin(const char* name);
/// A program by path, or by name in PATH. Errors: kIo, with what to do.
[[nodiscard]] rewright::Result<std::string> find_program(const std::string& program);

}  // namespace smt_verifier
