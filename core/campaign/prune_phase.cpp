#include <rewright/rule/pruner.h>

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <functional>
#include <span>

#include "campaign/phases.h"

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

// A candidate on its way through the chain.
struct Offer {
  CandidateRecord record;
  Candidate candidate;
  Status status;
  std::optional<RemovalRecord> removal;
};

Status parse(Offer& offer, const Registry& registry) {
  REWRIGHT_TRY(Graph source, parse_graph(offer.record.source, registry));
  REWRIGHT_TRY(Graph target, parse_graph(offer.record.target, registry));
  offer.candidate = {offer.record.id, std::move(source), std::move(target)};
  return {};
}

// Offers candidates to all pruners, each of which sees them one by one and in their order, while other threads parse
// later ones and let other pruners see earlier ones. The first pruner that drops a candidate has the word; the others
// do not see it. `goes_on` is asked before each, one at a time.
void pass_through(Chain& chain, std::span<Offer> offers, const Registry& registry,
                  const std::function<bool(std::size_t)>& goes_on) {
  std::size_t next = 0;
  using tbb::filter_mode;
  tbb::filter<void, Offer*> filters = tbb::make_filter<void, Offer*>(filter_mode::serial_in_order,
                                                                     [&](tbb::flow_control& control) -> Offer* {
                                                                       if (next < offers.size() && goes_on(next))
                                                                         return &offers[next++];
                                                                       control.stop();
                                                                       return nullptr;
                                                                     }) &
                                      tbb::make_filter<Offer*, Offer*>(filter_mode::parallel, [&](Offer* offer) {
                                        offer->status = parse(*offer, registry);
                                        return offer;
                                      });
  for (std::size_t i = 0; i < chain.sessions.size(); ++i) {
    filters = filters & tbb::make_filter<Offer*, Offer*>(filter_mode::serial_in_order, [&chain, i](Offer* offer) {
                if (!offer->status || offer->removal) return offer;
                if (auto removal = chain.sessions[i]->offer(offer->candidate)) {
                  offer->removal = {offer->record.position, chain.names[i], std::move(removal->by),
                                    std::move(removal->reason)};
                }
                return offer;
              });
  }
  constexpr std::size_t kOnTheWay = 64;
  tbb::parallel_pipeline(kOnTheWay, filters & tbb::make_filter<Offer*, void>(filter_mode::parallel, [](Offer*) {}));
}

}  // namespace

Result<bool> prune_phase(Run& run) {
  REWRIGHT_TRY(Chain chain, start_chain(run));
  REWRIGHT_TRY(const std::int64_t total, run.store.count("candidates"));
  tbb::task_arena arena(run.options.threads);
  constexpr std::size_t kBatch = 4'096;
  std::vector<Offer> batch;
  std::uint64_t done = 0;
  bool stopped = false;
  const auto goes_on = [&](std::size_t in_batch) {
    run.progress.report({.phase = "prune",
                         .unit = "candidates",
                         .done = done + in_batch,
                         .fraction = static_cast<double>(done + in_batch) / static_cast<double>(total)});
    stopped = stopped || run.should_stop();
    return !stopped;
  };
  const auto prune_batch = [&]() -> Status {
    arena.execute([&] { pass_through(chain, batch, run.registry, goes_on); });
    if (stopped) return Error{ErrorCode::kBudget, "stopped"};
    for (const Offer& offer : batch) {
      REWRIGHT_CHECK(offer.status);
      if (offer.removal) REWRIGHT_CHECK(run.store.add(*offer.removal));
    }
    done += batch.size();
    batch.clear();
    return {};
  };
  const Status status = run.store.database().transaction([&]() -> Status {
    REWRIGHT_CHECK(run.store.candidates([&](const CandidateRecord& record) -> Status {
      batch.push_back({.record = record, .candidate = {}, .status = {}, .removal = {}});
      return batch.size() < kBatch ? Status() : prune_batch();
    }));
    REWRIGHT_CHECK(prune_batch());
    return run.store.finish("prune");
  });
  if (stopped) return false;
  if (!status) return status.error();
  return true;
}

}  // namespace rewright
