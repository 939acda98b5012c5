#include "verify/apart.h"

#include <rewright/axiom/axiom.h>

#include <algorithm>
#include <cstdlib>

#include "plugin/own_folder.h"
#include "verify/worker_process.h"

namespace rewright {
namespace {

bool provides(const LoadedPlugin& plugin, const std::string& object) {
  return std::ranges::find(plugin.provides, object) != plugin.provides.end();
}
bool has_operators(const LoadedPlugin& plugin) {
  return std::ranges::any_of(plugin.provides, [](const std::string& what) { return what.starts_with("operator "); });
}

const LoadedPlugin* plugin_of(const Registry& registry, const std::string& verifier) {
  const auto found = std::ranges::find_if(
      registry.plugins(), [&](const LoadedPlugin& plugin) { return provides(plugin, "verifier " + verifier); });
  return found == registry.plugins().end() ? nullptr : &*found;
}

Verdict unknown(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

class VerifierApart final : public Verifier {
 public:
  VerifierApart(const Verifier& prototype, const Registry& registry, const Isolation& isolation,
                const std::function<bool()>& stop, WorkerShelf& shelf)
      : prototype_(prototype), registry_(registry), isolation_(isolation), stop_(stop), shelf_(shelf) {}

  std::string name() const override { return prototype_.name(); }
  std::string summary() const override { return prototype_.summary(); }
  bool proves() const override { return prototype_.proves(); }
  bool refutes() const override { return prototype_.refutes(); }
  bool reusable() const override { return true; }  // The process sees to it.
  bool finds_conditions() const override { return finds_conditions_; }
  std::unique_ptr<Verifier> clone() const override {
    return std::make_unique<VerifierApart>(prototype_, registry_, isolation_, stop_, shelf_);
  }

  Status configure(const Options& options) override {
    const auto here = prototype_.clone();
    REWRIGHT_CHECK(here->configure(options));
    finds_conditions_ = here->finds_conditions();
    options_ = options;
    return {};
  }

  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    if (goals.empty()) return std::vector<Verdict>();
    set_task(goals.front());
    REWRIGHT_TRY(Reply together, ask_twice(goals));
    if (together.crash.empty()) return std::move(together.answer.verdicts);
    if (goals.size() == 1) return std::vector{crashed(together.crash)};
    return one_by_one(goals);
  }

 private:
  using Reply = WorkerProcess::Reply;

  void set_task(const Goal& goal) {
    if (axioms_ == &goal.axioms && memory_bytes_ == goal.budget.memory_bytes) return;
    axioms_ = &goal.axioms;
    memory_bytes_ = goal.budget.memory_bytes;
    WorkerTask task;
    const LoadedPlugin* own = plugin_of(registry_, name());
    for (const LoadedPlugin& plugin : registry_.plugins()) {
      if (&plugin == own || has_operators(plugin)) task.plugins.push_back(plugin.file);
    }
    task.verifier = name();
    task.options = options_;
    task.axiom_files.assign(axioms_->files().begin(), axioms_->files().end());
    for (const Axiom& axiom : axioms_->axioms()) task.axioms.push_back(axiom.name);
    task.axiom_digest = axioms_->digest();
    task.memory_bytes = memory_bytes_;
    task.answer_seconds = isolation_.answer_seconds;
    task.strict = isolation_.strict;
    task_ = to_message(task);
  }

  Result<Reply> ask(std::span<const Goal> goals) {
    auto process = shelf_.take(task_);
    if (!process) {
      auto started = WorkerProcess::start(task_, stop_);
      if (!started) return Error{started.error().code, fmt::format("verifier {}: {}", name(), started.error().message)};
      process = *std::move(started);
    }
    REWRIGHT_TRY(Reply reply, process->ask(to_message(goals), isolation_.answer_seconds, stop_));
    if (!reply.crash.empty()) {
      note(goals, reply.crash);
      return reply;
    }
    shelf_.give(task_, std::move(process));
    if (reply.answer.kind == WorkerAnswer::Kind::kError) return reply.answer.error;
    return reply;
  }

  /// A process may be ended from outside, in which case nothing is wrong with the verifier.
  Result<Reply> ask_twice(std::span<const Goal> goals) {
    REWRIGHT_TRY(Reply reply, ask(goals));
    if (reply.crash.empty() || reply.late) return reply;
    return ask(goals);
  }

  Result<std::vector<Verdict>> one_by_one(std::span<const Goal> goals) {
    std::vector<Verdict> verdicts;
    std::size_t crashes = 0;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      if (crashes >= isolation_.most_crashes) {
        verdicts.push_back(unknown(put_aside_reason(crashes)));
        continue;
      }
      REWRIGHT_TRY(Reply reply, ask_twice(goals.subspan(i, 1)));
      if (reply.crash.empty() && reply.answer.verdicts.size() != 1)
        return make_error(ErrorCode::kPlugin, "verifier {} gave {} verdicts for one goal", name(),
                          reply.answer.verdicts.size());
      crashes += reply.crash.empty() ? 0 : 1;
      verdicts.push_back(reply.crash.empty() ? std::move(reply.answer.verdicts[0]) : crashed(reply.crash));
    }
    return verdicts;
  }

  Verdict crashed(const std::string& how) const {
    const LoadedPlugin* plugin = plugin_of(registry_, name());
    return unknown(fmt::format("{}{}, plugin {}", kCrashed, how, plugin ? plugin->name : "?"));
  }

  void note(std::span<const Goal> goals, const std::string& how) const {
    if (!isolation_.note) return;
    const LoadedPlugin* plugin = plugin_of(registry_, name());
    isolation_.note(fmt::format("verifier {} of {} crashed over {}: {}; it gets a new process", name(),
                                plugin ? plugin->file : "?",
                                goals.size() == 1 ? "goal " + goals[0].rule.id
                                                  : fmt::format("{} goals, from {} on", goals.size(), goals[0].rule.id),
                                how));
  }

  const Verifier& prototype_;
  const Registry& registry_;
  const Isolation& isolation_;
  const std::function<bool()>& stop_;
  WorkerShelf& shelf_;
  Options options_;
  bool finds_conditions_ = false;
  const AxiomSet* axioms_ = nullptr;
  std::uint64_t memory_bytes_ = 0;
  std::string task_;
};

}  // namespace

Isolation isolation_from_environment(Isolation isolation) {
  const char* safe = std::getenv("REWRIGHT_SAFE");
  if (safe == nullptr || std::string_view(safe) != "1") return isolation;
  isolation.which = Apart::kAll;
  isolation.strict = true;
  return isolation;
}

bool runs_apart(const Isolation& isolation, const Registry& registry, const std::string& verifier) {
  if (isolation.which != Apart::kForeign) return isolation.which == Apart::kAll;
  const LoadedPlugin* plugin = plugin_of(registry, verifier);
  return plugin != nullptr && !plugin->file.starts_with(own_plugin_folder() + "/");
}

std::string put_aside_reason(std::size_t crashes) {
  return fmt::format("{}it had crashed over {} goal{} before", kPutAside, crashes, crashes == 1 ? "" : "s");
}

std::unique_ptr<Verifier> make_apart(const Verifier& prototype, const Registry& registry, const Isolation& isolation,
                                     const std::function<bool()>& stop, WorkerShelf& shelf) {
  return std::make_unique<VerifierApart>(prototype, registry, isolation, stop, shelf);
}

}  // namespace rewright
