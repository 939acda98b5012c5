#include <rewright/base/command.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

extern char** environ;

namespace rewright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostText = std::size_t{64} << 10;

/// Starts the program as the leader of a process group of its own, its output going to `output`.
int spawn(std::span<const std::string> words, int output, pid_t& child) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// Reads until the pipe closes; false where the deadline came first.
bool read_until(int pipe, Clock::time_point deadline, std::string& text) {
  std::array<char, 4096> block;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{pipe, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) <= 0) continue;
    const ssize_t count = ::read(pipe, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(block.data(), std::min(static_cast<std::size_t>(count), kMostText - std::min(kMostText, text.size())));
  }
}

/// Its exit status; nothing where the deadline came first.
std::optional<int> wait_until(pid_t child, Clock::time_point deadline) {
  for (;;) {
    int status = 0;
    const pid_t gone = ::waitpid(child, &status, WNOHANG);
    if (gone == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (gone < 0 && errno != EINTR) return -1;
    if (Clock::now() >= deadline) return std::nullopt;
    ::usleep(1000);
  }
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

Result<CommandOutcome> run_command(std::span<const std::string> words, int seconds) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return make_error(ErrorCode::kIo, "{}: no pipe for what it writes: {}", words[0], std::strerror(errno));
  }
  pid_t child = -1;
  const int failed = spawn(words, ends[1], child);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return make_error(failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "the program '{}' cannot be run: {}",
                      words[0], std::strerror(failed));
  }
  CommandOutcome outcome;
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  const bool closed = read_until(ends[0], deadline, outcome.text);
  const auto code = closed ? wait_until(child, deadline) : std::nullopt;
  ::close(ends[0]);
  ::kill(-child, SIGKILL);  // What it had started, and itself where it is late.
  if (!code) ::waitpid(child, nullptr, 0);
  outcome.timed_out = !code;
  outcome.exit_code = code.value_or(-1);
  return outcome;
}

Result<std::string> run_c_compiler(std::vector<std::string> arguments, int seconds) {
  const char* const named = std::getenv("REWRIGHT_CC");
  const std::string compiler = named != nullptr && *named != '\0' ? named : "cc";
  arguments.insert(arguments.begin(), compiler);
  auto outcome = run_command(arguments, seconds);
  if (!outcome) {
    if (outcome.error().code != ErrorCode::kNotFound) return outcome.error();
    return make_error(ErrorCode::kNotFound,
                      "no C compiler: {}; install one (Debian's package gcc), or name it in REWRIGHT_CC",
                      outcome.error().message);
  }
  if (outcome->timed_out) {
    return make_error(ErrorCode::kUnsupported, "the C compiler '{}' took more than {} s", compiler, seconds);
  }
  if (outcome->exit_code == 0) return std::move(outcome->text);
  const std::string line = outcome->first_error_line();
  return make_error(ErrorCode::kUnsupported, "the C compiler '{}' failed (exit code {}){}{}", compiler,
                    outcome->exit_code, line.empty() ? "" : ": ", line);
}

std::string CommandOutcome::first_error_line() const {
  std::string_view rest = text, first;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.find("error") != std::string_view::npos) return std::string(line);
    if (first.empty() && !is_blank(line)) first = line;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return std::string(first);
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code ignored;
  std::string path = (std::filesystem::temp_directory_path(ignored) / "rewright-XXXXXX").string();
  if (::mkdtemp(path.data()) != nullptr) return TemporaryFolder(std::move(path));
  return make_error(ErrorCode::kIo, "{}: a temporary folder cannot be made: {}", path, std::strerror(errno));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace rewright
