#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace rewright::cli {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> interrupt_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  interrupt_seen = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void heed_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_seen; }

}  // namespace rewright::cli
