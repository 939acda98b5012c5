#include "verify/child_program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "verify/worker_message.h"

extern char** environ;

namespace rewright {

Status ChildProgram::start(const std::string& program, const std::string& purpose) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return make_error(ErrorCode::kIo, "{}: no socket for its process: {}", program, std::strerror(errno));
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
  return make_error(ErrorCode::kPlugin, "{}: the program that {} in cannot be started ({}); install it again", program,
                    purpose, std::strerror(failed));
}

ChildProgram::Reply ChildProgram::ask(const std::string& message, std::int64_t seconds,
                                      const std::function<bool()>& stop) {
  Reply reply;
  const bool sent = send_message(socket_, message);
  switch (sent ? receive_message(socket_, reply.bytes, seconds, stop) : Received::kGone) {
    case Received::kMessage: return reply;
    case Received::kStopped: reply.is_stopped = true; return reply;
    case Received::kLate:
      reply.late = true;
      reply.crash = fmt::format("it gave no answer within {} s", seconds);
      break;
    case Received::kGone: reply.crash = obituary(); break;
  }
  end();
  return reply;
}

std::string ChildProgram::obituary() {
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

void ChildProgram::end() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace rewright
