#include "verify/worker.h"

#include <rewright/axiom/axiom.h>
#include <rewright/plugin/registry.h>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <set>

#include "verify/child_setup.h"
#include "verify/worker_message.h"

namespace rewright {
namespace {

/// A little more than the other side waits for: it speaks of time first.
void limit_processor_time(std::int64_t seconds) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  limit_resource(RLIMIT_CPU, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + seconds + 5),
                 RLIM_INFINITY);
}

/// The verifier, its operators and its axioms.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> set_up(WorkerTask task) {
    auto bench = std::make_unique<Bench>();
    for (const std::string& file : task.plugins) REWRIGHT_CHECK(bench->registry_.load(file));
    REWRIGHT_TRY(AxiomSet axioms, load_axioms(task.axiom_files, bench->registry_));
    if (axioms.digest() != task.axiom_digest) {
      const std::set<std::string> wanted(task.axioms.begin(), task.axioms.end());
      axioms = axioms.filtered([&](const Axiom& axiom) { return wanted.contains(axiom.name); });
    }
    if (axioms.digest() != task.axiom_digest)
      return make_error(ErrorCode::kMismatch, "the axiom files have changed since they were read; start again");
    bench->axioms_ = std::move(axioms);
    REWRIGHT_TRY(bench->prototype_, bench->registry_.get<Verifier>(task.verifier));
    bench->task_ = std::move(task);
    return bench;
  }

  [[nodiscard]] const WorkerTask& task() const { return task_; }

  Result<std::vector<Verdict>> verify(const std::string& message) {
    if (!verifier_ || !verifier_->reusable()) {
      verifier_ = prototype_->clone();
      REWRIGHT_CHECK(verifier_->configure(task_.options));
    }
    REWRIGHT_TRY(const std::vector<WorkerGoal> read, read_goals(message, registry_));
    std::vector<Goal> goals;
    for (const WorkerGoal& goal : read) goals.push_back({goal.rule, axioms_, goal.budget});
    return verifier_->verify(goals);
  }

 private:
  WorkerTask task_;
  Registry registry_;
  AxiomSet axioms_;
  const Verifier* prototype_ = nullptr;
  std::unique_ptr<Verifier> verifier_;
};

WorkerAnswer failed(WorkerAnswer::Kind kind, Error error) {
  WorkerAnswer answer;
  answer.kind = kind;
  answer.error = std::move(error);
  return answer;
}

/// What `work` gives; what it throws, in words.
template <class Work>
WorkerAnswer guarded(Work work) {
  using Kind = WorkerAnswer::Kind;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return failed(Kind::kThrew, {ErrorCode::kBudget, "no memory is left of what it was given"});
  } catch (const std::exception& exception) {
    return failed(Kind::kThrew, {ErrorCode::kPlugin, exception.what()});
  } catch (...) {
    return failed(Kind::kThrew, {ErrorCode::kPlugin, "something that is no std::exception"});
  }
}

int answer_goals(Bench& bench, int socket) {
  std::string message;
  while (receive_message(socket, message, -1) == Received::kMessage) {
    if (bench.task().strict) limit_processor_time(bench.task().answer_seconds);
    const WorkerAnswer answer = guarded([&] {
      auto verdicts = bench.verify(message);
      if (!verdicts) return failed(WorkerAnswer::Kind::kError, std::move(verdicts.error()));
      WorkerAnswer all;
      all.verdicts = *std::move(verdicts);
      return all;
    });
    if (!send_message(socket, to_message(answer))) return 0;
    if (answer.kind == WorkerAnswer::Kind::kThrew) return 1;  // Nobody knows in what state it is.
  }
  return 0;
}

}  // namespace

int serve_verifier() {
  const int socket = take_socket();
  end_with(socket);
  std::signal(SIGXFSZ, SIG_IGN);  // An ordinary error of write(2) then.
  limit_resource(RLIMIT_CORE, 0, 0);
  std::string message;
  if (receive_message(socket, message, -1) != Received::kMessage) return 0;
  auto task = read_task(message);
  if (!task) return 2;
  std::unique_ptr<Bench> bench;
  const WorkerAnswer ready = guarded([&] {
    auto made = Bench::set_up(*std::move(task));
    if (!made) return failed(WorkerAnswer::Kind::kError, std::move(made.error()));
    bench = *std::move(made);
    return WorkerAnswer();
  });
  if (!send_message(socket, to_message(ready)) || !bench) return 1;
  limit_memory(bench->task().memory_bytes);
  if (bench->task().strict) limit_resource(RLIMIT_FSIZE, 0, 0);
  const int code = answer_goals(*bench, socket);
  ::_exit(code);  // The watching thread still runs; plugins' destructors are not worth a crash.
}

}  // namespace rewright
