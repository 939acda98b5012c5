#include "cli/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace rewright::cli {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// A signal handler can reach nothing but globals. The list is filled while one thread runs, and only read afterwards.
pid_t owner = 0;
std::vector<std::string>& files() {
  static std::vector<std::string> all;
  return all;
}

const char* word_for(int signal) {
  switch (signal) {
    case SIGSEGV: return "segmentation fault";
    case SIGBUS: return "bus error";
    case SIGFPE: return "arithmetic fault";
    case SIGILL: return "illegal instruction";
    default: return "abort";
  }
}

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// The innermost frame's plugin, or null.
const char* plugin_on_the_stack() {
  std::array<void*, 256> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < count; ++i) {
    Dl_info where;
    if (dladdr(frames[static_cast<std::size_t>(i)], &where) == 0 || where.dli_fname == nullptr) continue;
    for (const std::string& file : files())
      if (file == where.dli_fname) return file.c_str();
  }
  return nullptr;
}

void on_crash(int signal) {
  std::signal(signal, SIG_DFL);
  if (const char* const plugin = getpid() == owner ? plugin_on_the_stack() : nullptr) {
    say("rewright: the plugin ");
    say(plugin);
    say(" crashed (");
    say(word_for(signal));
    say("); what was saved before stays as it is: fix the plugin, or leave it out\n");
    _exit(static_cast<int>(ExitCode::kOwnFault));
  }
  raise(signal);  // Not a plugin's: the usual end, with a core file where the system writes one.
}

}  // namespace

void install_crash_handlers() {
#ifdef REWRIGHT_SANITIZED
  return;  // Sanitizers have handlers that say more.
#endif
  owner = getpid();
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);                // Loads what it needs now: in a handler it could not.
  static std::array<char, 64 * 1024> stack;  // A plugin may have used up the ordinary one.
  stack_t alternative = {};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  sigaltstack(&alternative, nullptr);
  for (const int signal : kSignals) {
    struct sigaction action = {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

void remember_plugins(std::span<const LoadedPlugin> plugins) {
  for (const LoadedPlugin& plugin : plugins) files().push_back(plugin.file);
}

}  // namespace rewright::cli
