#include "verify/child_setup.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace rewright {
namespace {

/// Address space in use, in bytes.
std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void limit_resource(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  ::getrlimit(resource, &now);
  const rlimit wanted{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  ::setrlimit(resource, &wanted);
}

void limit_memory(std::uint64_t bytes) {
#ifdef REWRIGHT_SANITIZED
  return;
#endif
  const rlim_t most = mapped_bytes() + bytes;
  limit_resource(RLIMIT_AS, most, most);
}

int take_socket() {
  const int socket = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 64);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return socket;
}

void end_with(int socket) {
  std::thread([socket] {
    pollfd other_end = {socket, POLLRDHUP, 0};
    while (::poll(&other_end, 1, -1) < 0) {
    }
    ::_exit(0);
  }).detach();
}

}  // namespace rewright
