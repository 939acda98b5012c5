#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/program.h"

namespace rewright::cli {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> interrupt_seen{false};
constexpr std::chrono::milliseconds kAskEvery(20), kPatience(750);
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

struct StopInTime::Watch {
  explicit Watch(std::function<void()> act) : last_act(std::move(act)), thread([this] { watch(); }) {}

  /// False: the work has ended.
  bool wait(std::chrono::milliseconds duration) {
    std::unique_lock lock(mutex);
    return !ended.wait_for(lock, duration, [this] { return has_ended; });
  }
  void watch() {
    while (!interrupted())
      if (!wait(kAskEvery)) return;
    if (!wait(kPatience)) return;
    last_act();
    std::fflush(nullptr);
    ::_exit(static_cast<int>(ExitCode::kStopped));
  }

  std::function<void()> last_act;
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  std::thread thread;  // Last: it uses the others.
};

StopInTime::StopInTime(std::function<void()> last_act) : watch_(std::make_unique<Watch>(std::move(last_act))) {}

StopInTime::~StopInTime() {
  {
    const std::scoped_lock lock(watch_->mutex);
    watch_->has_ended = true;
  }
  watch_->ended.notify_one();
  watch_->thread.join();
}

}  // namespace rewright::cli
