#include "verify/worker_process.h"

#include "plugin/own_folder.h"

namespace rewright {
namespace {

/// Loading plugins and axioms takes a tenth of a second; a machine under load may take its time.
constexpr std::int64_t kStartSeconds = 120;

Error stopped() { return make_error(ErrorCode::kBudget, "verification was stopped"); }

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string& task,
                                                            const std::function<bool()>& stop) {
  std::unique_ptr<WorkerProcess> process(new WorkerProcess);
  REWRIGHT_CHECK(process->child_.start(own_plugin_folder() + "/verifiers/verifier-worker", "verifiers run"));
  REWRIGHT_TRY(const Reply ready, process->ask(task, kStartSeconds, stop));
  if (!ready.crash.empty())
    return make_error(ErrorCode::kPlugin, "a verifier's process could not be set up: {}", ready.crash);
  if (ready.answer.kind != WorkerAnswer::Kind::kVerdicts) return ready.answer.error;
  return process;
}

Result<WorkerProcess::Reply> WorkerProcess::ask(const std::string& message, std::int64_t seconds,
                                                const std::function<bool()>& stop) {
  ChildProgram::Reply heard = child_.ask(message, seconds, stop);
  if (heard.is_stopped) return stopped();
  Reply reply{{}, std::move(heard.crash), heard.late};
  if (reply.crash.empty()) {
    if (auto answer = read_answer(heard.bytes)) {
      reply.answer = *std::move(answer);
      if (reply.answer.kind == WorkerAnswer::Kind::kThrew)
        reply.crash = "it threw an exception: " + reply.answer.error.message;
      return reply;
    }
    reply.crash = "what its process sent cannot be read";
    child_.end();
  }
  // An interrupt may have reached it, too.
  if (stop && stop()) return stopped();
  return reply;
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
