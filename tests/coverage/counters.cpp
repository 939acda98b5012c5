// Preloaded while coverage is measured: processes that would end without writing their counters write them first.
// libgcov writes where a process leaves by exit(); ours also leave by _exit() (after a fork), abort(), raise() or
// execv(), or are killed once nobody needs them, some under limits that would cut a file of counters short.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>

namespace {

using Act = void (*)();
struct Counters {
  Act write, reset;
};
Counters all[256];
int count = 0;

template <class Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

constexpr __rlimit_resource_t kLimits[] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_CPU};

/// What others see of a process that writes its counters.
constexpr char kWriting[] = "writes counters";

void rename_process(const char* name) {
  const int file = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!write(file, name, std::strlen(name));
  close(file);
}

bool is_writing(pid_t process) {
  char path[64], name[sizeof(kWriting)] = {};
  std::snprintf(path, sizeof(path), "/proc/%d/comm", static_cast<int>(process));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool same = read(file, name, sizeof(name) - 1) > 0 && std::strcmp(name, kWriting) == 0;
  close(file);
  return same;
}

void lift_limits() {
  for (const auto what : kLimits) {
    rlimit limit{};
    getrlimit(what, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(what, &limit);
  }
}

/// One thread at a time: files that two write at once are lost. Who leaves keeps the turn.
std::atomic_flag turn;

void take_turn() {
  const timespec millisecond = {0, 1'000'000};
  while (turn.test_and_set()) nanosleep(&millisecond, nullptr);
}

void write_all() {
  rename_process(kWriting);
  for (int i = 0; i < count; ++i) all[i].write();
}

/// What is counted from here on is added to what was written.
void write_and_go_on() {
  take_turn();
  rlimit before[std::size(kLimits)];
  for (std::size_t i = 0; i < std::size(kLimits); ++i) getrlimit(kLimits[i], &before[i]);
  lift_limits();
  write_all();
  for (int i = 0; i < count; ++i) all[i].reset();
  rename_process("goes on");
  for (std::size_t i = 0; i < std::size(kLimits); ++i) setrlimit(kLimits[i], &before[i]);
  turn.clear();
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

}  // namespace

extern "C" {

void rewright_lift_limits() { lift_limits(); }

void rewright_take_counters(Act write, Act reset) {
  if (count < 256) all[count++] = {write, reset};
}

/// Who may not raise a hard limit could not lift it again.
int setrlimit(__rlimit_resource_t what, const rlimit* wanted) noexcept {
  rlimit limit{};
  getrlimit(what, &limit);
  limit.rlim_cur = wanted->rlim_cur;
  return original<int (*)(__rlimit_resource_t, const rlimit*)>("setrlimit")(what, &limit);
}

void _exit(int code) {
  take_turn();
  lift_limits();
  write_all();
  original<void (*)(int)>("_exit")(code);
  __builtin_unreachable();
}

void abort() noexcept {
  write_and_go_on();  // In a handler of the signal, perhaps.
  original<void (*)()>("abort")();
  __builtin_unreachable();
}

int raise(int signal) noexcept {
  write_and_go_on();
  return original<int (*)(int)>("raise")(signal);
}

int execv(const char* program, char* const arguments[]) noexcept {
  write_and_go_on();
  return original<int (*)(const char*, char* const[])>("execv")(program, arguments);
}

/// A child to which nothing more will be said is about to leave by itself, first in its group or not.
int kill(pid_t process, int signal) noexcept {
  const pid_t child = process < -1 ? -process : process;
  for (int i = 0; signal == SIGKILL && child > 0 && !has_ended(child) && (i < 300 || is_writing(child)); ++i) {
    const timespec millisecond = {0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }
  return original<int (*)(pid_t, int)>("kill")(process, signal);
}

}  // extern "C"
