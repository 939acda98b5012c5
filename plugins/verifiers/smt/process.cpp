#include "process.h"

#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace smt_verifier {
namespace {

using rewright::ErrorCode;
using rewright::make_error;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Solvers allocate and free hundreds of small objects at every question, more than glibc's cache of free chunks holds
/// by default: over many axioms, giving them back and getting them again is a quarter of Z3's time. Z3's table of terms
/// has 8 MiB from the start and is looked up everywhere: large pages, and one heap that has room for it, are a
/// twentieth more. What a user sets stays.
std::vector<char*> environment_of_solver() {
  static char tunables[] =
      "GLIBC_TUNABLES=glibc.malloc.tcache_count=2000:glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:"
      "glibc.malloc.mmap_threshold=134217728:glibc.malloc.trim_threshold=268435456";
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  if (std::getenv("GLIBC_TUNABLES") == nullptr) environment.push_back(tunables);
  environment.push_back(nullptr);
  return environment;
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
    return make_error(ErrorCode::kIo, "no socket for {}: {}", command_.words[0], std::strerror(errno));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  if (command_.framing == Framing::kEcho) ::posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);
  std::vector<char*> words;
  for (std::string& word : command_.words) words.push_back(word.data());
  words.push_back(nullptr);
  std::vector<char*> environment = environment_of_solver();
  const int failed = ::posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  socket_ = sockets[0];
  const timeval longest = {command_.answer_seconds, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  if (failed == 0) return {};
  ::close(socket_);
  pid_ = 0;
  socket_ = -1;
  return make_error(ErrorCode::kIo, "the solver program {} cannot be started: {}", words[0], std::strerror(failed));
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

namespace {
constexpr std::string_view kEnd = "rewright-end-of-answer";

std::string framed(Framing framing, const std::string& question) {
  if (framing == Framing::kEcho) return fmt::format("{}(echo \"{}\")\n", question, kEnd);
  const std::uint64_t size = question.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + question;
}

/// The first answer, without its frame, once it is whole.
std::optional<std::string> take_answer(Framing framing, std::string& received) {
  std::size_t first = 0, end = 0, next = 0;  // Of the answer; where the one after it begins.
  if (framing == Framing::kLength) {
    std::uint64_t length = 0;
    first = sizeof length;
    if (received.size() < first) return std::nullopt;
    std::memcpy(&length, received.data(), sizeof length);
    if (received.size() - first < length) return std::nullopt;
    next = end = first + length;
  } else {
    end = received.find(kEnd);
    const std::size_t line = received.find('\n', std::min(end, received.size()));
    if (line == std::string::npos) return std::nullopt;
    next = line + 1;
    if (end > 0 && received[end - 1] == '"') --end;  // The word may be in quotes.
  }
  std::string answer = received.substr(first, end - first);
  received.erase(0, next);
  return answer;
}

}  // namespace

/// Waits for answer_seconds at most, as the socket does itself.
std::optional<std::string> Process::receive_answer() {
  const std::int64_t deadline_ms = now_ms() + 1000 * command_.answer_seconds;
  char part[4096];
  while (true) {
    if (std::optional<std::string> answer = take_answer(command_.framing, received_)) return answer;
    if (now_ms() >= deadline_ms) return std::nullopt;
    const ssize_t got = ::recv(socket_, part, sizeof part, 0);
    if (got > 0) received_.append(part, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return std::nullopt;
  }
}

rewright::Result<std::vector<std::string>> Process::ask(std::span<const std::string> questions,
                                                        const std::function<void()>& meanwhile) {
  REWRIGHT_CHECK(start());
  std::string text;  // In one piece: every piece wakes the solver.
  for (const std::string& question : questions) text += framed(command_.framing, question);
  if (!send(text)) return died();
  if (meanwhile) meanwhile();
  std::vector<std::string> answers;
  while (answers.size() < questions.size()) {
    std::optional<std::string> answer = receive_answer();
    if (!answer) return died();
    answers.push_back(*std::move(answer));
  }
  return answers;
}

rewright::Error Process::died() {
  int status = 0;
  const bool gone = ::waitpid(pid_, &status, WNOHANG) == pid_;
  if (!gone) {
    // It may be on its way out (the socket closes before the process ends), or hang.
    for (int i = 0; i < 50 && ::waitpid(pid_, &status, WNOHANG) != pid_; ++i) {
      if (i == 49) {
        stop();
        return make_error(ErrorCode::kBudget, "the solver did not answer within {} s and was ended",
                          command_.answer_seconds);
      }
      ::usleep(2000);
    }
  }
  pid_ = 0;
  stop();
  return make_error(ErrorCode::kBudget, "the solver died ({}; its memory was limited to {} MiB)", describe(status),
                    command_.memory_bytes >> 20);
}

void Process::stop() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  received_.clear();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = 0;
}

std::string program_beside_plugin(const char* name) {
  Dl_info info;
  static const int kHere = 0;
  if (::dladdr(&kHere, &info) == 0 || !info.dli_fname) return name;
  return (std::filesystem::path(info.dli_fname).parent_path() / name).string();
}

rewright::Result<std::string> find_program(const std::string& program) {
  const auto runs = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (program.find('/') != std::string::npos) {
    if (runs(program)) return program;
    return make_error(ErrorCode::kIo, "the solver program {} cannot be started: {}", program, std::strerror(errno));
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/bin:/bin";
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::string candidate = fmt::format("{}/{}", folders.substr(0, end), program);
    if (runs(candidate)) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return make_error(ErrorCode::kIo,
                    "the solver program {} is nowhere in PATH; scripts/install-dependencies installs it, or name its "
                    "path in the verifier's option 'program'",
                    program);
}

}  // namespace smt_verifier
