// Whole runs of the walk over graphs: what a level costs, and what comes of it.
//
//   rewright_bench_enumeration [--space taso|taso-wide|FILE.toml] [--operators N] [--scope connected|ordered|all]
//                              [--threads T] [--memory MIB] [--few-samples] [--candidates]
//
// One line per level: graphs of up to that many operators and classes of equal ones, fingerprints that occur more than
// once, seconds (wall clock of this level; user and system of the whole process), graphs a second and core, bytes a
// graph, peak memory. With --candidates, of a campaign file, all passes up to the candidates instead: what each hands
// to the next and how long it takes, and the candidates of each level.
#include <CLI/CLI.hpp>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "campaign/config.h"
#include "enumerate/enumerator.h"
#include "enumerate/fingerprints.h"
#include "enumerate/operator_space.h"
#include "enumerate/record.h"
#include "enumerate/walk.h"
#include "support/taso_space.h"

namespace {

using namespace rewright;
using namespace rewright::enumeration;

struct Settings {
  std::string space = "taso";
  std::string scope = "connected";
  std::size_t operators = 4;
  std::size_t threads = 2;
  std::uint64_t memory_mib = 0;
  bool candidates = false;
  bool few_samples = false;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void run(const Settings& settings, const Space& space, bool is_taso) {
  Scope scope;
  scope.inputs_in_order = settings.scope != "all";
  scope.connected = settings.scope == "connected";
  scope.keep_repetitions = !is_taso;
  scope.samples = settings.few_samples ? Samples::kFew : Samples::kAll;
  FingerprintStore store(settings.memory_mib << 20, "/tmp");
  std::uint64_t total = 1;  // TASO counts the graph without operators.
  {
    const Walk walk(space.clone(), scope, 64);
    FingerprintStore::Writer writer(store);
    if (is_taso) {
      writer.add(0);
    } else {
      const auto all = wires(walk, scope.inputs_in_order);
      for (const Record& wire : all) writer.add(fingerprint_of(wire, walk, scope.samples));
      total = all.size();
    }
  }
  std::printf(
      "operators         graphs        classes         shared   seconds     user   system  graphs/s/core  bytes/graph  "
      "peak MiB\n");
  for (std::size_t level = 1; level <= settings.operators; ++level) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Unit> units;
    {
      Walk walk(space.clone(), scope, 64);
      units = walk.units(level);
    }
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint64_t> graphs{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < settings.threads; ++t) {
      threads.emplace_back([&] {
        Walk walk(space.clone(), scope, 2048);
        FingerprintStore::Writer writer(store);
        std::uint64_t count = 0;
        for (std::size_t unit; (unit = next++) < units.size();) {
          walk.run(level, units[unit], [&](const Leaf& leaf) {
            ++count;
            writer.add(leaf.fingerprint);
          });
        }
        graphs += count;
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<std::uint64_t> shared;
    const auto classes = store.count_distinct(&shared, static_cast<int>(settings.threads));
    if (!classes) {
      std::fprintf(stderr, "%s\n", classes.error().message.c_str());
      return;
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    total += graphs;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double rate = static_cast<double>(graphs) / wall / static_cast<double>(settings.threads);
    std::printf("%9zu %14lu %14lu %14zu %9.2f %8.2f %8.2f %14.0f %12.1f %9ld\n", level, total, *classes, shared.size(),
                wall, seconds(usage.ru_utime), seconds(usage.ru_stime), rate,
                static_cast<double>(usage.ru_maxrss) * 1024 / static_cast<double>(total), usage.ru_maxrss / 1024);
    std::fflush(stdout);
  }
}

int run_to_candidates(const Settings& settings, EnumerationConfig config) {
  config.max_operators = static_cast<int>(settings.operators);
  config.few_samples_first = settings.few_samples;
  config.threads = static_cast<int>(settings.threads);
  config.memory_bytes = settings.memory_mib << 20;
  const auto report = enumerate(config, [](const Candidate&) { return Status(); });
  if (!report) return std::fprintf(stderr, "%s\n", report.error().message.c_str()), 1;
  std::printf("pass                   results   seconds\n");
  for (const EnumerationPass& pass : report->passes)
    std::printf("%-18s %11lu %9.2f\n", pass.name, pass.results, pass.seconds);
  std::printf("operators         graphs     candidates   left out  unconfirmed\n");
  for (const EnumerationLevel& level : report->levels) {
    std::printf("%9d %14lu %14lu %10lu %12lu\n", level.operators, level.graphs, level.candidates, level.instances,
                level.unconfirmed);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("user %.2f s, system %.2f s, peak %ld MiB; %lu of %lu repeated tensors differ on fresh inputs\n",
              seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss / 1024, report->pruned_by_chance,
              report->audited);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Whole runs of the walk over graphs"};
  app.add_option("--space", settings.space, "taso, taso-wide, or a campaign file");
  app.add_option("--scope", settings.scope)->check(CLI::IsMember({"connected", "ordered", "all"}));
  app.add_option("--operators", settings.operators)->check(CLI::Range(1, 7));
  app.add_option("--threads", settings.threads)->check(CLI::Range(1, 1024));
  app.add_option("--memory", settings.memory_mib, "MiB of fingerprints kept in memory; 0: all");
  app.add_flag("--few-samples", settings.few_samples,
               "tell graphs apart on three samples first, as campaigns from five operators on do");
  app.add_flag("--candidates", settings.candidates, "all passes, to the candidates");
  CLI11_PARSE(app, argc, argv);
  if (settings.space.starts_with("taso") && !settings.space.ends_with(".toml")) {
    run(settings,
        test::TasoSpace(settings.space == "taso-wide" ? test::TasoOperators::kWide : test::TasoOperators::kGenerator),
        true);
    return 0;
  }
  Registry registry;
  if (const Status status = registry.load_default(); !status)
    return std::fprintf(stderr, "%s\n", status.error().message.c_str()), 2;
  const auto config = load_campaign(settings.space, registry);
  if (!config) return std::fprintf(stderr, "%s\n", config.error().message.c_str()), 2;
  if (const Status status = check_space(config->enumeration); !status)
    return std::fprintf(stderr, "%s\n", status.error().message.c_str()), 2;
  if (settings.candidates) return run_to_candidates(settings, config->enumeration);
  run(settings, OperatorSpace(config->enumeration), false);
  return 0;
}
