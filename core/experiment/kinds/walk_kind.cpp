// Kind "walk": the walk over graphs of one level by itself, with parts of it switched off.
//
//   file            a campaign file, for its operators and inputs
//   operators       of the graphs
//   scope           "connected", "ordered" (inputs in order, any graphs) or "all"
//   cache           tensors whose values each thread keeps; 1: next to none, so that they are computed again
//   threads
//   repetitions     true: graphs with a tensor that repeats another are extended, too
//
// Rows  operators, graphs, classes, seconds, cpu_seconds, graphs_per_cpu_second
#include <atomic>
#include <thread>

#include "campaign/config.h"
#include "enumerate/fingerprints.h"
#include "enumerate/operator_space.h"
#include "enumerate/walk.h"
#include "experiment/kind.h"
#include "experiment/kinds/clock.h"

namespace rewright::experiment {
namespace {

using namespace enumeration;

struct WalkAsked {
  std::string file;
  std::int64_t operators = 0, cache = 0, threads = 0;
  std::string scope_name;
  Scope scope;
};

/// Walks all units side by side; gives the number of graphs, or nothing where it was stopped.
std::optional<std::uint64_t> walk_all(const WalkAsked& asked, const Space& space, FingerprintStore& store,
                                      const Lab& lab) {
  const auto level = static_cast<std::size_t>(asked.operators);
  const std::vector<Unit> units = Walk(space.clone(), asked.scope, 64).units(level);
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> graphs{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < asked.threads; ++t) {
    threads.emplace_back([&] {
      Walk walk(space.clone(), asked.scope, static_cast<std::size_t>(asked.cache));
      FingerprintStore::Writer writer(store);
      std::uint64_t count = 0;
      for (std::size_t unit; !stop && (unit = next++) < units.size();) {
        if (lab.stopped()) stop = true;
        walk.run(level, units[unit], [&](const Leaf& leaf) {
          ++count;
          writer.add(leaf.fingerprint);
        });
      }
      graphs += count;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (stop) return std::nullopt;
  return graphs.load();
}

Result<Outcome> work(const WalkAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(const CampaignConfig config, load_campaign(asked.file, *lab.registry));
  REWRIGHT_CHECK(check_space(config.enumeration));
  const OperatorSpace space(config.enumeration);
  FingerprintStore store(0, lab.work);
  lab.show("walk", 0);
  const Clock clock;
  const auto graphs = walk_all(asked, space, store, lab);
  if (!graphs) return stopped_early();
  const double wall = clock.wall(), cpu = clock.cpu();
  REWRIGHT_TRY(const auto classes, store.count_distinct(nullptr, static_cast<int>(asked.threads)));
  Json row = {{"row", "walk"},
              {"campaign", config.name},
              {"operators", asked.operators},
              {"scope", asked.scope_name},
              {"cache", asked.cache},
              {"threads", asked.threads},
              {"repetitions", asked.scope.extend_repetitions},
              {"graphs", *graphs},
              {"classes", classes},
              {"seconds", wall},
              {"cpu_seconds", cpu},
              {"graphs_per_cpu_second", cpu > 0 ? static_cast<double>(*graphs) / cpu : 0.0}};
  return Outcome{{std::move(row)}, {}, {}};
}

}  // namespace

Result<Job> walk_job(Parameters& parameters, const Lab& lab) {
  WalkAsked asked;
  REWRIGHT_TRY(asked.file, parameters.file("file"));
  REWRIGHT_TRY(asked.operators, parameters.integer("operators", 1, 5));
  REWRIGHT_TRY(asked.cache, parameters.integer("cache", 1, 1 << 20, 2048));
  REWRIGHT_TRY(asked.threads, parameters.integer("threads", 1, 1024, lab.threads));
  REWRIGHT_TRY(asked.scope.extend_repetitions, parameters.boolean("repetitions", false));
  REWRIGHT_TRY(asked.scope_name, parameters.text("scope", "connected"));
  if (asked.scope_name != "connected" && asked.scope_name != "ordered" && asked.scope_name != "all")
    return parameters.error("scope",
                            fmt::format("'scope' is '{}'; there are: connected, ordered, all", asked.scope_name));
  asked.scope.inputs_in_order = asked.scope_name != "all";
  asked.scope.connected = asked.scope_name == "connected";
  return Job{[asked](const Lab& place) { return work(asked, place); }};
}

}  // namespace rewright::experiment
