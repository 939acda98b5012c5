#include "contract/isolation.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

namespace rewright::contract {

namespace {

Outcome check_here(const Contract& contract) {
  try {
    return contract.check();
  } catch (const std::exception& exception) {
    return Outcome::broken(fmt::format("it threw an exception: {}", exception.what()));
  } catch (...) {
    return Outcome::broken("it threw an exception that is not a std::exception");
  }
}

/// In the child: the outcome as one byte of state and the sentence.
[[noreturn]] void answer(const Contract& contract, int pipe, int seconds) {
  std::signal(SIGALRM, SIG_DFL);
  alarm(static_cast<unsigned>(seconds));
  const Outcome outcome = check_here(contract);
  std::string bytes(1, static_cast<char>(outcome.state));
  bytes += outcome.detail;
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = write(pipe, bytes.data() + at, bytes.size() - at);
    if (written <= 0) _exit(1);
    at += static_cast<std::size_t>(written);
  }
  _exit(0);
}

}  // namespace

Outcome check_apart(const Contract& contract, int seconds) {
  std::array<int, 2> ends = {-1, -1};
  const pid_t child = pipe(ends.data()) == 0 ? fork() : -1;
  if (child < 0) {
    Outcome outcome = Outcome::skipped(fmt::format("no process of its own: {}", std::strerror(errno)));
    for (const int end : ends) close(end);
    return outcome;
  }
  if (child == 0) {
    close(ends[0]);
    answer(contract, ends[1], seconds);
  }
  close(ends[1]);
  std::string bytes;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR);)
    bytes.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return Outcome::broken(signal == SIGALRM ? fmt::format("it did not end within {} s", seconds)
                                             : fmt::format("it ended the process: {}", strsignal(signal)));
  }
  if (bytes.empty() || WEXITSTATUS(status) != 0)
    return Outcome::broken(fmt::format("it left the process with exit code {}", WEXITSTATUS(status)));
  return {static_cast<Outcome::State>(bytes[0]), bytes.substr(1)};
}

}  // namespace rewright::contract
