#include "process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

extern char** environ;

namespace z3_verifier {
namespace {

using rewright::ErrorCode;
using rewright::make_error;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

rewright::Status Process::start() {
  if (running()) return {};
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return make_error(ErrorCode::kIo, "no socket for {}: {}", program_, std::strerror(errno));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  std::string memory = std::to_string(limits_.memory_bytes), cpu = std::to_string(limits_.cpu_seconds);
  char* arguments[] = {program_.data(), memory.data(), cpu.data(), nullptr};
  const int failed = ::posix_spawn(&pid_, program_.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  socket_ = sockets[0];
  if (failed == 0) return {};
  ::close(socket_);
  pid_ = 0;
  socket_ = -1;
  return make_error(ErrorCode::kIo, "the solver program {} cannot be started: {}", program_, std::strerror(failed));
}

bool Process::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t put = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool Process::receive(void* data, std::size_t size, std::int64_t deadline_ms) const {
  char* place = static_cast<char*>(data);
  while (size > 0) {
    pollfd wait = {socket_, POLLIN, 0};
    const std::int64_t left = deadline_ms - now_ms();
    const int ready = left > 0 ? ::poll(&wait, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::recv(socket_, place, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    place += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

rewright::Result<std::string> Process::ask(std::string_view text) {
  REWRIGHT_CHECK(start());
  const std::uint64_t size = text.size();
  if (!send({reinterpret_cast<const char*>(&size), sizeof size}) || !send(text)) return died("reading");
  const std::int64_t deadline = now_ms() + 1000 * limits_.answer_seconds;
  std::uint64_t length = 0;
  if (!receive(&length, sizeof length, deadline)) return died("answering");
  std::string answer(length, '\0');
  if (!receive(answer.data(), answer.size(), deadline)) return died("answering");
  return answer;
}

rewright::Error Process::died(std::string_view doing) {
  int status = 0;
  const bool gone = ::waitpid(pid_, &status, WNOHANG) == pid_;
  if (!gone) {
    // It may be on its way out (the socket closes before the process ends), or hang.
    for (int i = 0; i < 50 && ::waitpid(pid_, &status, WNOHANG) != pid_; ++i) {
      if (i == 49) {
        stop();
        return make_error(ErrorCode::kBudget, "the solver did not finish {} within {} s and was ended", doing,
                          limits_.answer_seconds);
      }
      ::usleep(2000);
    }
  }
  pid_ = 0;
  stop();
  return make_error(ErrorCode::kBudget, "the solver died while {} ({}; its memory was limited to {} MiB)", doing,
                    describe(status), limits_.memory_bytes >> 20);
}

void Process::stop() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = 0;
}

}  // namespace z3_verifier
