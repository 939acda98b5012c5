#include "verify/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "plugin/own_folder.h"

extern char** environ;

namespace rewright {
namespace {

/// Loading plugins and axioms takes a tenth of a second; a machine under load may take its time.
constexpr std::int64_t kStartSeconds = 120;

Error stopped() { return make_error(ErrorCode::kBudget, "verification was stopped"); }

}  // namespace

Status WorkerProcess::launch() {
  const std::string program = own_plugin_folder() + "/verifiers/verifier-worker";
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return make_error(ErrorCode::kIo, "no socket for a verifier's process: {}", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  char* const words[] = {const_cast<char*>(program.c_str()), nullptr};
  const int failed = ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, words, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  socket_ = ends[0];
  if (failed == 0) return {};
  pid_ = -1;
  return make_error(ErrorCode::kPlugin,
                    "{}: the program that verifiers run in cannot be started ({}); install it again", program,
                    std::strerror(failed));
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string& task,
                                                            const std::function<bool()>& stop) {
  std::unique_ptr<WorkerProcess> process(new WorkerProcess);
  REWRIGHT_CHECK(process->launch());
  REWRIGHT_TRY(const Reply ready, process->ask(task, kStartSeconds, stop));
  if (!ready.crash.empty())
    return make_error(ErrorCode::kPlugin, "a verifier's process could not be set up: {}", ready.crash);
  if (ready.answer.kind != WorkerAnswer::Kind::kVerdicts) return ready.answer.error;
  return process;
}

WorkerProcess::~WorkerProcess() { end(); }

Result<WorkerProcess::Reply> WorkerProcess::ask(const std::string& message, std::int64_t seconds,
                                                const std::function<bool()>& stop) {
  Reply reply;
  std::string bytes;
  const bool sent = send_message(socket_, message);
  const Received received = sent ? receive_message(socket_, bytes, seconds, stop) : Received::kGone;
  if (received == Received::kStopped) return stopped();
  if (received == Received::kMessage) {
    if (auto answer = read_answer(bytes)) {
      reply.answer = *std::move(answer);
      if (reply.answer.kind == WorkerAnswer::Kind::kThrew)
        reply.crash = "it threw an exception: " + reply.answer.error.message;
      return reply;
    }
    reply.crash = "what its process sent cannot be read";
  } else if (received == Received::kLate) {
    reply.late = true;
    reply.crash = fmt::format("it gave no answer within {} s", seconds);
  } else {
    reply.crash = obituary();
  }
  end();
  // An interrupt may have reached it, too.
  if (stop && stop()) return stopped();
  return reply;
}

std::string WorkerProcess::obituary() {
  // The socket closes before the process ends; one that only closed it is ended.
  int status = 0;
  pid_t gone = 0;
  for (int i = 0; i < 500 && gone == 0; ++i) {
    gone = ::waitpid(pid_, &status, WNOHANG);
    if (gone < 0 && errno == EINTR) gone = 0;
    if (gone == 0) ::usleep(2000);
  }
  if (gone != pid_) return "it closed its process's connection";
  ::kill(-pid_, SIGKILL);  // What it had started.
  pid_ = -1;
  if (WIFSIGNALED(status)) return fmt::format("it ended its process ({})", ::strsignal(WTERMSIG(status)));
  return fmt::format("it left its process with exit code {}", WEXITSTATUS(status));
}

void WorkerProcess::end() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::unique_ptr<WorkerProcess> WorkerShelf::take(const std::string& task) {
  const std::scoped_lock lock(mutex_);
  auto& idle = idle_[task];
  if (idle.empty()) return nullptr;
  std::unique_ptr<WorkerProcess> process = std::move(idle.back());
  idle.pop_back();
  return process;
}

void WorkerShelf::give(const std::string& task, std::unique_ptr<WorkerProcess> process) {
  const std::scoped_lock lock(mutex_);
  idle_[task].push_back(std::move(process));
}

}  // namespace rewright
