#include "axiom/audit.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>

#include "axiom/counterexample.h"
#include "axiom/typing_audit.h"

namespace rewright {
namespace {

/// Combinations of ranks and parameters of one axiom at which both sides can be defined: all, or a part of them.
struct AxiomTypings {
  ParamDomain domain;
  std::vector<TypedAxiom> typings;
  std::size_t drawn = 0;  ///< So many at the end are drawn out of all that is claimed.
  bool complete = true;

  [[nodiscard]] bool is_drawn(std::size_t i) const { return i + drawn >= typings.size(); }
};

/// The even part of them.
std::vector<TypedAxiom> thinned(std::vector<TypedAxiom> typings, std::size_t most) {
  const std::size_t step = (typings.size() + most - 1) / most;
  std::vector<TypedAxiom> kept;
  for (std::size_t i = 0; i < typings.size(); i += step) kept.push_back(std::move(typings[i]));
  return kept;
}

/// Of more combinations than this only as many are typed as it takes to find max_typings.
constexpr std::size_t kManyCombinations = 4000;

/// Typings at ranks and parameters out of all that is claimed, drawn with the seed.
std::vector<TypedAxiom> drawn_typings(const Axiom& axiom, const ParamDomain& domain, const AuditOptions& options) {
  constexpr std::size_t kAttempts = 16;  // For each that is wanted: many parameters do not fit each other.
  std::vector<TypedAxiom> drawn;
  Random random(options.seed);
  for (std::size_t i = 0; i < kAttempts * options.wide_typings && drawn.size() < options.wide_typings; ++i) {
    const AxiomRanks& ranks = random.pick(axiom.ranks);
    if (auto typed = specialise(axiom, ranks, wide_binding(domain, random))) drawn.push_back(*std::move(typed));
  }
  return drawn;
}

Result<AxiomTypings> typings_of(const Axiom& axiom, const AuditOptions& options) {
  AxiomTypings all;
  REWRIGHT_TRY(all.domain, domain_of(axiom, options.domain));
  const auto bindings = bindings_of(all.domain);
  const std::size_t count = axiom.ranks.size() * bindings.size();
  const bool many = options.max_typings > 0 && count > kManyCombinations;
  // Steps of the golden ratio, made coprime to the count, come by all and lie spread at any time.
  std::size_t step = many ? static_cast<std::size_t>(0.618 * static_cast<double>(count)) : 1;
  while (std::gcd(step, count) > 1) ++step;
  std::size_t at = many ? options.seed % count : 0;
  for (std::size_t i = 0; i < count && all.complete; ++i, at = (at + step) % count) {
    if (auto typed = specialise(axiom, axiom.ranks[at / bindings.size()], bindings[at % bindings.size()]))
      all.typings.push_back(*std::move(typed));
    if (many && all.typings.size() == options.max_typings) all.complete = false;
  }
  if (options.max_typings > 0 && all.typings.size() > options.max_typings) {
    all.typings = thinned(std::move(all.typings), options.max_typings);
    all.complete = false;
  }
  auto drawn = drawn_typings(axiom, all.domain, options);
  all.drawn = drawn.size();
  std::ranges::move(drawn, std::back_inserter(all.typings));
  return all;
}

/// What one typing said; merged in order, so that the result does not depend on the threads.
struct TypingResult {
  AuditResult part;
  bool done = false;
  bool failed = false;
  std::optional<AuditFailure> wide_failure;
};

/// The domain's sizes, or those drawn; of the first kind some are looked at both ways.
TypingResult audit_typing(const AxiomTypings& all, std::size_t i, const AuditOptions& options,
                          const std::function<bool()>& stop) {
  TypingResult result;
  TypingAudit audit(all.typings[i], all.domain, options);
  if (!all.is_drawn(i)) result.failed = audit.run(result.part, stop).has_value();
  const std::size_t step =
      std::max<std::size_t>(1, (all.typings.size() - all.drawn) / std::max<std::size_t>(1, options.wide_typings));
  if (!result.failed && options.wide_typings > 0 && (all.is_drawn(i) || i % step == 0))
    result.wide_failure = audit.run_wide(options.wide_sizes, result.part, stop);
  result.done = !stop();
  return result;
}

/// The smallest failure among the typings that failed: the least greatest size first, then the fewest elements.
std::string smallest_counterexample(const AxiomTypings& all, std::span<const std::size_t> failed,
                                    const AuditOptions& options) {
  for (std::int64_t max_dim = 1; max_dim <= options.max_dim; ++max_dim) {
    std::optional<AuditFailure> best;
    std::size_t where = 0;
    for (const std::size_t i : failed) {
      TypingAudit audit(all.typings[i], all.domain, options);
      auto found = audit.smallest(max_dim);
      if (found && (!best || found->elements < best->elements)) {
        best = std::move(found);
        where = i;
      }
    }
    if (best) return TypingAudit(all.typings[where], all.domain, options).describe(*best);
  }
  AuditResult ignored;
  TypingAudit audit(all.typings[failed.front()], all.domain, options);
  const auto again = audit.run(ignored, [] { return false; });
  return again ? audit.describe(*again) : describe_typing(all.typings[failed.front()]);
}

/// The one with the fewest elements, made smaller.
std::string wide_counterexample(const AxiomTypings& all, std::span<const TypingResult> parts,
                                const AuditOptions& options) {
  std::optional<AuditFailure> best;
  std::size_t where = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].wide_failure) continue;
    AuditFailure found = TypingAudit(all.typings[i], all.domain, options).shrunk(*parts[i].wide_failure);
    if (best && best->elements <= found.elements) continue;
    best = std::move(found);
    where = i;
  }
  return TypingAudit(all.typings[where], all.domain, options).describe(*best);
}

AuditResult merge(const Axiom& axiom, const AxiomTypings& all, std::span<const TypingResult> parts,
                  const AuditOptions& options) {
  AuditResult result;
  result.name = axiom.name;
  result.complete = all.complete;
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result.combinations += parts[i].part.combinations;
    result.drawn += parts[i].part.drawn;
    result.sampled += parts[i].part.sampled;
    result.error = std::max(result.error, parts[i].part.error);
    result.complete &= parts[i].part.complete;
    result.stopped |= !parts[i].done;
    if (parts[i].failed && failed.size() < 16) failed.push_back(i);
  }
  const bool wide = std::ranges::any_of(parts, [](const TypingResult& part) { return part.wide_failure.has_value(); });
  if (failed.empty() && !wide) return result;
  result.holds = false;
  result.counterexample =
      failed.empty() ? wide_counterexample(all, parts, options) : smallest_counterexample(all, failed, options);
  return result;
}

/// Counts what is done and asks whether to stop.
class Monitor {
 public:
  Monitor(const AuditOptions& options, std::size_t total) : options_(options), total_(total) {}
  void done(std::uint64_t combinations) {
    const std::lock_guard lock(mutex_);
    ++done_;
    combinations_ += combinations;
    if (options_.progress) options_.progress(done_, total_, combinations_);
  }
  [[nodiscard]] bool stop() {
    if (!stop_ && options_.stop) {
      const std::lock_guard lock(mutex_);
      if (options_.stop()) stop_ = true;
    }
    return stop_;
  }

 private:
  const AuditOptions& options_;
  std::size_t total_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::uint64_t combinations_ = 0;
  std::atomic<bool> stop_ = false;
};

}  // namespace

Result<std::vector<AuditResult>> audit(std::span<const Axiom> axioms, const AuditOptions& options) {
  const int threads = std::max(1, options.threads);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  std::vector<std::optional<Result<AxiomTypings>>> prepared(axioms.size());
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, axioms.size(),
                      [&](std::size_t i) { prepared[i] = typings_of(axioms[i], options); });
  });
  struct Task {
    std::size_t axiom, typing;
  };
  std::vector<Task> tasks;
  std::vector<std::vector<TypingResult>> parts(axioms.size());
  for (std::size_t i = 0; i < axioms.size(); ++i) {
    if (!*prepared[i]) return prepared[i]->error();
    parts[i].resize((*prepared[i])->typings.size());
    for (std::size_t k = 0; k < parts[i].size(); ++k) tasks.push_back({i, k});
  }
  Monitor monitor(options, tasks.size());
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, tasks.size(), 1),
        [&](const auto& range) {
          for (std::size_t t = range.begin(); t != range.end() && !monitor.stop(); ++t) {
            TypingResult& result = parts[tasks[t].axiom][tasks[t].typing];
            result = audit_typing(**prepared[tasks[t].axiom], tasks[t].typing, options, [&] { return monitor.stop(); });
            monitor.done(result.part.combinations + result.part.drawn);
          }
        },
        tbb::simple_partitioner());
  });
  std::vector<AuditResult> results(axioms.size());
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, axioms.size(),
                      [&](std::size_t i) { results[i] = merge(axioms[i], **prepared[i], parts[i], options); });
  });
  return results;
}

Result<AuditResult> audit(const Axiom& axiom, const AuditOptions& options) {
  REWRIGHT_TRY(auto results, audit(std::span(&axiom, 1), options));
  return std::move(results.front());
}

}  // namespace rewright
