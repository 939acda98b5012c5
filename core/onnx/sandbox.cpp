#include "onnx/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace rewright::model {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kMostCrashes = 16;
constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 20;

/// A message is its length and its bytes.
bool send_message(int channel, const std::string& message) {
  const std::uint64_t size = message.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes += message;
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(channel, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool receive(int channel, char* bytes, std::size_t size, int patience_ms) {
  while (size > 0) {
    pollfd waiting{channel, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = ::recv(channel, bytes, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

std::optional<std::string> receive_message(int channel, int patience_ms) {
  std::uint64_t size = 0;
  if (!receive(channel, reinterpret_cast<char*>(&size), sizeof size, patience_ms)) return std::nullopt;
  // Room for what has come, not for what a damaged sender says will come.
  std::string message;
  while (message.size() < size) {
    const std::size_t before = message.size();
    message.resize(before + static_cast<std::size_t>(std::min<std::uint64_t>(size - before, kAtOnce)));
    if (!receive(channel, message.data() + before, message.size() - before, patience_ms)) return std::nullopt;
  }
  return message;
}

}  // namespace

std::optional<std::string> Sandbox::ask(const std::string& request) {
  if (crashes_ >= kMostCrashes || (child_ < 0 && !start())) return std::nullopt;
  if (send_message(channel_, request)) {
    if (auto answer = receive_message(channel_, kPatienceMs)) {
      if (answer->empty()) return std::nullopt;
      return answer->substr(1);  // Behind the mark that it is an answer.
    }
  }
  stop();
  ++crashes_;
  return std::nullopt;
}

bool Sandbox::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  child_ = ::fork();
  if (child_ == 0) {
    ::close(ends[0]);
    serve(ends[1]);
  }
  ::close(ends[1]);
  channel_ = ends[0];
  if (child_ < 0) ::close(channel_);
  return child_ > 0;
}

void Sandbox::stop() {
  if (child_ < 0) return;
  ::close(channel_);
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

void Sandbox::serve(int channel) const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);  // The program decides when to stop.
  std::signal(SIGSEGV, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  while (const auto request = receive_message(channel, -1)) {
    std::string answer;
    try {
      answer = '!' + work_(*request);
    } catch (...) {
      answer.clear();
    }
    if (!send_message(channel, answer)) break;
  }
  ::_exit(0);
}

}  // namespace rewright::model
