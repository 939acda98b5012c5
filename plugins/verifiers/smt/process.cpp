#include "process.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
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
/// by default: over many axioms, giving them back and getting them again is a quarter of Z3's time. What a user sets
/// stays.
std::vector<char*> environment_of_solver() {
  static char tunables[] = "GLIBC_TUNABLES=glibc.malloc.tcache_count=2000";
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

std::size_t Process::receive_some(void* data, std::size_t size, std::int64_t deadline_ms) const {
  while (true) {
    pollfd wait = {socket_, POLLIN, 0};
    const std::int64_t left = deadline_ms - now_ms();
    const int ready = left > 0 ? ::poll(&wait, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return 0;
    const ssize_t got = ::recv(socket_, data, size, 0);
    if (got < 0 && errno == EINTR) continue;
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
}

bool Process::receive(void* data, std::size_t size, std::int64_t deadline_ms) const {
  char* place = static_cast<char*>(data);
  while (size > 0) {
    const std::size_t got = receive_some(place, size, deadline_ms);
    if (got == 0) return false;
    place += got;
    size -= got;
  }
  return true;
}

namespace {
constexpr std::string_view kEnd = "rewright-end-of-answer";
}  // namespace

bool Process::send_question(std::string_view text) const {
  if (command_.framing == Framing::kEcho) return send(text) && send(fmt::format("(echo \"{}\")\n", kEnd));
  const std::uint64_t size = text.size();
  return send({reinterpret_cast<const char*>(&size), sizeof size}) && send(text);
}

bool Process::receive_answer(std::int64_t deadline_ms, std::string& answer) const {
  if (command_.framing == Framing::kLength) {
    std::uint64_t length = 0;
    if (!receive(&length, sizeof length, deadline_ms)) return false;
    answer.resize(length);
    return receive(answer.data(), answer.size(), deadline_ms);
  }
  char part[4096];
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    const std::size_t got = receive_some(part, sizeof part, deadline_ms);
    if (got == 0) return false;
    answer.append(part, got);
    if (answer.ends_with('\n')) end = answer.rfind(kEnd);
  }
  // The word may be in quotes.
  answer.resize(end > 0 && answer[end - 1] == '"' ? end - 1 : end);
  return true;
}

rewright::Result<std::string> Process::ask(std::string_view text, const std::function<void()>& meanwhile) {
  REWRIGHT_CHECK(start());
  if (!send_question(text)) return died();
  if (meanwhile) meanwhile();
  std::string answer;
  if (!receive_answer(now_ms() + 1000 * command_.answer_seconds, answer)) return died();
  return answer;
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
