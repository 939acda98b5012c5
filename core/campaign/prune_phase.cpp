#include "campaign/phases.h"

#include <rewright/pruner.h>

namespace rewright {
namespace {

struct Chain {
  std::vector<std::string> names;
  std::vector<std::unique_ptr<PruneSession>> sessions;
};

Result<Chain> start_chain(const Run& run) {
  Chain chain;
  for (const PluginUse& use : run.config.pruners) {
    REWRIGHT_TRY(const Pruner* pruner, run.registry.get<Pruner>(use.name));
    if (pruner->subject() != Pruner::Subject::kCandidates) continue;
    REWRIGHT_TRY(auto session, pruner->start(use.options));
    chain.names.push_back(use.name);
    chain.sessions.push_back(std::move(session));
  }
  return chain;
}

// The first pruner that drops the candidate has the word; the others do not see it.
Status offer(Run& run, Chain& chain, const CandidateRecord& record) {
  REWRIGHT_TRY(Graph source, parse_graph(record.source, run.registry));
  REWRIGHT_TRY(Graph target, parse_graph(record.target, run.registry));
  const Candidate candidate{record.id, std::move(source), std::move(target)};
  for (std::size_t i = 0; i < chain.sessions.size(); ++i) {
    const std::optional<Removal> removal = chain.sessions[i]->offer(candidate);
    if (removal) return run.store.add(RemovalRecord{record.position, chain.names[i], removal->by, removal->reason});
  }
  return {};
}

}  // namespace

Result<bool> prune_phase(Run& run) {
  REWRIGHT_TRY(Chain chain, start_chain(run));
  REWRIGHT_TRY(const std::int64_t total, run.store.count("candidates"));
  std::uint64_t done = 0;
  bool stopped = false;
  const Error kStop{ErrorCode::kBudget, "stopped"};
  const Status status = run.store.database().transaction([&]() -> Status {
    REWRIGHT_CHECK(run.store.candidates([&](const CandidateRecord& record) -> Status {
      if (stopped = run.should_stop(); stopped) return kStop;
      run.progress.report({.phase = "prune",
                           .unit = "candidates",
                           .done = ++done,
                           .fraction = static_cast<double>(done) / static_cast<double>(total)});
      return offer(run, chain, record);
    }));
    return run.store.finish("prune");
  });
  if (stopped) return false;
  if (!status) return status.error();
  return true;
}

}  // namespace rewright
