// Enumeration in passes, each a walk over all graphs or a part of them; nothing is kept of a graph but 8 bytes until it
// is known to be equal to another.
//
//   1  by level: count the graphs, keep their fingerprints; then find those that occur more than once
//   2  where graphs fall apart: fingerprints of connected graphs over any inputs, of fewer operators
//   3  again: graphs of repeated fingerprints, and those whose outputs divide into known parts, are written down
//   4  the parts are written down
//   5  pairs of graphs with one fingerprint are confirmed on inputs of a fresh seed and handed over
#include "enumerate/enumerator.h"

#include "enumerate/fingerprints.h"
#include "enumerate/join.h"
#include "enumerate/record.h"
#include "enumerate/walk.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace rewright {

namespace enumeration {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Scope kScope{.inputs_in_order = true, .connected = true, .keep_repetitions = true};
constexpr Scope kPartScope{.inputs_in_order = false, .connected = true, .keep_repetitions = false};
constexpr std::size_t kWalkCacheSlots = 8192;
constexpr std::uint64_t kFreshSeed = 0x5deece66d1ce4e5bULL;
constexpr std::uint32_t kFreshFactor = 4;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Membership in a fixed set of fingerprints.
class FingerprintSet {
 public:
  explicit FingerprintSet(std::vector<std::uint64_t> members) : parts_({std::move(members)}) {}
  [[nodiscard]] bool contains(std::uint64_t fingerprint) const { return parts_.operators(fingerprint).has_value(); }

 private:
  Parts parts_;
};

class Run {
 public:
  Run(const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
      const std::function<bool(const EnumerationProgress&)>& progress)
      : config_(config), sink_(sink), progress_(progress), space_(config), arena_(std::max(config.threads, 1)) {}

  Result<EnumerationReport> run() {
    std::vector<std::uint64_t> shared;
    REWRIGHT_TRY(const bool counted, count(shared));
    if (!counted) return stopped();
    const FingerprintSet repeated(std::move(shared));
    std::vector<Record> records;
    std::vector<Joined> joined;
    if (!collect(repeated, records, joined)) return stopped();
    if (!find_parts(joined)) return stopped();
    REWRIGHT_CHECK(deliver(records));
    return report_;
  }

 private:
  struct Pair {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
  };
  /// A connected graph whose outputs fall apart into graphs with these fingerprints.
  struct Joined {
    Record whole;
    std::vector<std::uint64_t> parts;
    friend auto operator<=>(const Joined&, const Joined&) = default;
  };

  EnumerationReport stopped() {
    report_.stopped_early = true;
    return report_;
  }

  /// Walks all graphs of exactly `operators` operators; `make(walk)` gives each thread a visitor of leaves. False: it
  /// was asked to stop.
  template <class Make>
  bool walk_all(const char* pass, std::size_t operators, const Scope& scope, std::atomic<std::uint64_t>& graphs,
                const Make& make) {
    Walk first(space_.clone(), scope, 64);
    const std::vector<Unit> units = first.units(operators);
    using Visitor = decltype(make(first));
    struct Worker {
      std::unique_ptr<Walk> walk;
      std::unique_ptr<Visitor> visitor;
    };
    tbb::enumerable_thread_specific<Worker> workers;
    std::atomic<std::size_t> done{0};
    std::atomic<bool> stop{false};
    std::mutex reporting;
    auto last_report = Clock::now();
    const auto report = [&] {
      const std::unique_lock lock(reporting, std::try_to_lock);
      if (!lock || !progress_ || seconds_since(last_report) < 0.1) return;
      last_report = Clock::now();
      const double fraction = static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(units.size(), 1));
      if (!progress_({pass, static_cast<int>(operators), graphs.load(), fraction})) stop = true;
    };
    if (progress_ && !progress_({pass, static_cast<int>(operators), graphs.load(), 0})) return false;
    arena_.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, units.size(), 1),
          [&](const tbb::blocked_range<std::size_t>& range) {
            Worker& worker = workers.local();
            if (worker.walk == nullptr) {
              worker.walk = std::make_unique<Walk>(space_.clone(), scope, kWalkCacheSlots);
              worker.visitor = std::make_unique<Visitor>(make(*worker.walk));
            }
            for (std::size_t unit = range.begin(); unit < range.end() && !stop; ++unit) {
              std::uint64_t count = 0;
              worker.walk->run(operators, units[unit], [&](const Leaf& leaf) {
                ++count;
                (*worker.visitor)(leaf);
              });
              graphs += count;
              ++done;
              report();
            }
          },
          tbb::simple_partitioner());
    });
    return !stop;
  }

  /// Pass 1. False: stopped.
  Result<bool> count(std::vector<std::uint64_t>& shared) {
    FingerprintStore store(config_.memory_bytes, config_.folder);
    {
      const Walk walk(space_.clone(), kScope, 64);
      FingerprintStore::Writer writer(store);
      for (const Record& wire : wires(walk, true)) writer.add(wire.fingerprint);
    }
    for (int level = 1; level <= config_.max_operators; ++level) {
      const auto start = Clock::now();
      std::atomic<std::uint64_t> graphs{0};
      const bool finished = walk_all("graphs", static_cast<std::size_t>(level), kScope, graphs, [&](Walk&) {
        return [writer = std::make_shared<FingerprintStore::Writer>(store)](const Leaf& leaf) {
          writer->add(leaf.fingerprint);
        };
      });
      if (!finished) return false;
      REWRIGHT_CHECK(store.status());
      const bool last = level == config_.max_operators;
      REWRIGHT_TRY(const std::uint64_t classes, store.count_distinct(last ? &shared : nullptr, config_.threads));
      report_.levels.push_back({level, graphs, classes, 0, 0, seconds_since(start)});
    }
    return true;
  }

  /// Passes 2 and 3. False: stopped.
  bool collect(const FingerprintSet& repeated, std::vector<Record>& records, std::vector<Joined>& joined) {
    std::optional<Parts> parts = all_parts();
    if (!parts) return false;
    {
      const Walk walk(space_.clone(), kScope, 64);
      for (const Record& wire : wires(walk, true)) {
        if (repeated.contains(wire.fingerprint)) records.push_back(wire);
      }
    }
    std::mutex mutex;
    for (std::size_t level = 1; level <= static_cast<std::size_t>(config_.max_operators); ++level) {
      std::atomic<std::uint64_t> graphs{0};
      const bool finished = walk_all("equal graphs", level, kScope, graphs, [&](Walk& walk) {
        return [&, batch = Batch(mutex, records, joined),
                outputs = std::vector<std::uint64_t>()](const Leaf& leaf) mutable {
          if (repeated.contains(leaf.fingerprint)) batch.records.push_back(record_of(leaf));
          walk.output_hashes(leaf, outputs);
          if (outputs.size() < 2) return;
          auto division = divide(*parts, outputs, config_.max_operators);
          if (division) batch.joined.push_back({record_of(leaf), *std::move(division)});
        };
      });
      if (!finished) return false;
    }
    // One graph of each class is enough: the others are its equals.
    tbb::parallel_sort(records.begin(), records.end());
    tbb::parallel_sort(joined.begin(), joined.end());
    const auto same_class = [](const Joined& a, const Joined& b) { return a.whole.fingerprint == b.whole.fingerprint; };
    joined.erase(std::unique(joined.begin(), joined.end(), same_class), joined.end());
    return true;
  }

  /// What one thread found, handed over when it is done.
  struct Batch {
    Batch(std::mutex& mutex_in, std::vector<Record>& all_records_in, std::vector<Joined>& all_joined_in)
        : mutex(&mutex_in), all_records(&all_records_in), all_joined(&all_joined_in) {}
    Batch(Batch&& other) noexcept
        : mutex(other.mutex),
          all_records(other.all_records),
          all_joined(other.all_joined),
          records(std::move(other.records)),
          joined(std::move(other.joined)) {}
    Batch& operator=(Batch&&) = delete;
    ~Batch() {
      const std::lock_guard lock(*mutex);
      all_records->insert(all_records->end(), records.begin(), records.end());
      all_joined->insert(all_joined->end(), joined.begin(), joined.end());
    }
    std::mutex* mutex;
    std::vector<Record>* all_records;
    std::vector<Joined>* all_joined;
    std::vector<Record> records;
    std::vector<Joined> joined;
  };

  std::optional<Parts> all_parts() {
    std::vector<std::vector<std::uint64_t>> by_operators(1);
    {
      const Walk walk(space_.clone(), kPartScope, 64);
      for (const TensorHash& hash : walk.input_hashes()) by_operators[0].push_back(output_hash(hash));
    }
    std::mutex mutex;
    for (int level = 1; level < config_.max_operators; ++level) {
      std::vector<std::uint64_t>& all = by_operators.emplace_back();
      std::atomic<std::uint64_t> graphs{0};
      const bool finished = walk_all("parts", static_cast<std::size_t>(level), kPartScope, graphs, [&](Walk&) {
        struct Hand {
          Hand(std::mutex& m, std::vector<std::uint64_t>& to_in) : mutex(&m), to(&to_in) {}
          Hand(Hand&& other) noexcept : mutex(other.mutex), to(other.to), mine(std::move(other.mine)) {}
          Hand& operator=(Hand&&) = delete;
          ~Hand() {
            const std::lock_guard lock(*mutex);
            to->insert(to->end(), mine.begin(), mine.end());
          }
          std::mutex* mutex;
          std::vector<std::uint64_t>* to;
          std::vector<std::uint64_t> mine;
        };
        return [hand = Hand(mutex, all)](const Leaf& leaf) mutable { hand.mine.push_back(leaf.fingerprint); };
      });
      if (!finished) return std::nullopt;
    }
    return Parts(std::move(by_operators));
  }

  /// Pass 4. False: stopped.
  bool find_parts(const std::vector<Joined>& joined) {
    std::vector<std::uint64_t> wanted;
    for (const Joined& each : joined) wanted.insert(wanted.end(), each.parts.begin(), each.parts.end());
    const FingerprintSet wanted_set(wanted);
    std::vector<Record> found;
    std::vector<Joined> none;
    {
      const Walk walk(space_.clone(), kPartScope, 64);
      for (const Record& wire : wires(walk, false)) {
        if (wire.wire_count == 1 && wanted_set.contains(wire.fingerprint)) found.push_back(wire);
      }
    }
    std::mutex mutex;
    for (int level = 1; level < config_.max_operators && !wanted.empty(); ++level) {
      std::atomic<std::uint64_t> graphs{0};
      const bool finished =
          walk_all("parts of graphs", static_cast<std::size_t>(level), kPartScope, graphs, [&](Walk&) {
            return [&, batch = Batch(mutex, found, none)](const Leaf& leaf) mutable {
              if (wanted_set.contains(leaf.fingerprint)) batch.records.push_back(record_of(leaf));
            };
          });
      if (!finished) return false;
    }
    tbb::parallel_sort(found.begin(), found.end());
    const auto first_of = [&](std::uint64_t fingerprint) -> const Record& {
      return *std::lower_bound(found.begin(), found.end(), fingerprint,
                               [](const Record& r, std::uint64_t f) { return r.fingerprint < f; });
    };
    for (const Joined& each : joined) {
      std::vector<Record> parts;
      for (const std::uint64_t fingerprint : each.parts) parts.push_back(first_of(fingerprint));
      if (const auto all = union_of(parts, space_)) {
        apart_.push_back({each.whole, *all});
      }
    }
    return true;
  }

  /// Takes the fingerprints of all records again, on inputs of a fresh seed and more of them: what was equal by chance
  /// is no longer. Fingerprints that were one and are several now count as unconfirmed.
  void confirm(std::vector<Record>& records) {
    EnumerationConfig fresh = config_;
    fresh.seed ^= kFreshSeed;
    fresh.sample_factor *= kFreshFactor;
    tbb::enumerable_thread_specific<Evaluator> evaluators([&] { return Evaluator(fresh); });
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, records.size(), 256),
                        [&](const tbb::blocked_range<std::size_t>& range) {
                          Evaluator& evaluator = evaluators.local();
                          for (std::size_t i = range.begin(); i < range.end(); ++i)
                            records[i].confirmed = evaluator.fingerprint(records[i]);
                        });
      for (Apart& each : apart_) {
        each.whole.confirmed = evaluators.local().fingerprint(each.whole);
        each.apart.confirmed = evaluators.local().fingerprint(each.apart);
      }
      tbb::parallel_sort(records.begin(), records.end());
    });
    for (std::size_t i = 1; i < records.size(); ++i) {
      if (records[i].fingerprint == records[i - 1].fingerprint && records[i].confirmed != records[i - 1].confirmed)
        ++level_of(records[i]).unconfirmed;
    }
    for (const Apart& each : apart_) {
      if (each.whole.confirmed != each.apart.confirmed) ++level_of(each.whole).unconfirmed;
    }
    std::erase_if(apart_, [](const Apart& each) { return each.whole.confirmed != each.apart.confirmed; });
  }

  EnumerationLevel& level_of(const Record& record) {
    return report_.levels[std::max<std::size_t>(record.count, 1) - 1];
  }

  /// Pairs of a class: each member with the first, and every two that share no application.
  void pair_up(const std::vector<Record>& records, std::vector<Pair>& pairs) const {
    std::vector<std::vector<std::uint64_t>> terms;
    for (std::size_t first = 0, end = 0; first < records.size(); first = end) {
      const auto same = [&](const Record& other) {
        return other.fingerprint == records[first].fingerprint && other.confirmed == records[first].confirmed;
      };
      for (end = first; end < records.size() && same(records[end]); ++end) {
      }
      if (terms.size() < end - first) terms.resize(end - first);
      for (std::size_t i = first; i < end; ++i) application_terms(records[i], space_, terms[i - first]);
      for (std::size_t j = first + 1; j < end; ++j) {
        for (std::size_t i = first; i < j; ++i) {
          if (i > first && share(terms[i - first], terms[j - first])) continue;
          pairs.push_back({static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(i)});
        }
      }
    }
  }

  static bool share(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j]) return true;
      ++(a[i] < b[j] ? i : j);
    }
    return false;
  }

  /// Pass 5.
  Status deliver(std::vector<Record>& records) {
    confirm(records);
    std::vector<Pair> pairs;
    pair_up(records, pairs);
    // Small ones first, so that they make larger ones superfluous.
    std::vector<Ordered> all;
    for (const Pair& pair : pairs) all.push_back({&records[pair.source], &records[pair.target]});
    for (const Apart& each : apart_) {
      const bool whole_first = each.whole.count >= each.apart.count;
      all.push_back(whole_first ? Ordered{&each.whole, &each.apart} : Ordered{&each.apart, &each.whole});
    }
    tbb::parallel_sort(all.begin(), all.end());
    constexpr std::size_t kBlock = 4096;
    tbb::enumerable_thread_specific<Evaluator> evaluators([&] { return Evaluator(config_); });
    for (std::size_t start = 0; start < all.size(); start += kBlock) {
      const std::size_t count = std::min(kBlock, all.size() - start);
      std::vector<std::optional<Result<Candidate>>> block(count);
      arena_.execute([&] {
        tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
          const Ordered& pair = all[start + i];
          block[i] = make_candidate(config_, evaluators.local(), *pair.source, *pair.target);
        });
      });
      for (std::size_t i = 0; i < count; ++i) {
        if (!*block[i]) return block[i]->error();
        ++level_of(*all[start + i].source).candidates;
        REWRIGHT_CHECK(sink_(*std::move(*block[i])));
      }
      if (progress_ && !progress_({"candidates", config_.max_operators, start + count,
                                   static_cast<double>(start + count) / static_cast<double>(all.size())})) {
        report_.stopped_early = true;
        return {};
      }
    }
    return {};
  }

  /// A connected graph and one of the same outputs that falls apart.
  struct Apart {
    Record whole;
    Record apart;
  };
  struct Ordered {
    const Record* source;
    const Record* target;
    friend bool operator<(const Ordered& a, const Ordered& b) {
      const auto key = [](const Ordered& o) {
        return std::tie(o.source->count, o.target->count, *o.source, *o.target);
      };
      return key(a) < key(b);
    }
  };

  const EnumerationConfig& config_;
  const std::function<Status(Candidate)>& sink_;
  const std::function<bool(const EnumerationProgress&)>& progress_;
  OperatorSpace space_;
  tbb::task_arena arena_;
  EnumerationReport report_;
  std::vector<Apart> apart_;
};

}  // namespace
}  // namespace enumeration

Result<EnumerationReport> enumerate(const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
                                    const std::function<bool(const EnumerationProgress&)>& progress) {
  REWRIGHT_CHECK(enumeration::check_space(config));
  return enumeration::Run(config, sink, progress).run();
}

}  // namespace rewright
