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
#include "enumerate/work_files.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>

namespace rewright {

namespace enumeration {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Scope kScope{.inputs_in_order = true, .connected = true, .keep_repetitions = true};
constexpr Scope kPartScope{.inputs_in_order = false, .connected = true, .keep_repetitions = false};
constexpr std::size_t kWalkCacheSlots = 4096;
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

/// A connected graph whose outputs fall apart into graphs with these fingerprints.
struct Joined {
  Record whole;
  std::array<std::uint64_t, 8> parts{};
  std::uint64_t part_count = 0;
  friend auto operator<=>(const Joined&, const Joined&) = default;
};

/// What one thread finds, handed over when it is done with a piece of work.
template <class T>
class Handover {
 public:
  Handover(std::mutex& mutex, std::vector<T>& to) : mutex_(&mutex), to_(&to) {}
  Handover(Handover&& other) noexcept : mutex_(other.mutex_), to_(other.to_), mine_(std::move(other.mine_)) {}
  Handover& operator=(Handover&&) = delete;
  ~Handover() {
    const std::lock_guard lock(*mutex_);
    to_->insert(to_->end(), mine_.begin(), mine_.end());
  }
  void add(const T& item) { mine_.push_back(item); }

 private:
  std::mutex* mutex_;
  std::vector<T>* to_;
  std::vector<T> mine_;
};

class Run {
 public:
  Run(const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
      const std::function<bool(const EnumerationProgress&)>& progress)
      : config_(config),
        sink_(sink),
        progress_(progress),
        space_(config),
        arena_(std::max(config.threads, 1)),
        files_(config.work_folder, config.rank, config.ranks, config.token, config.checkpoint_seconds) {}

  Result<EnumerationReport> run() {
    Result<bool> finished = passes();
    if (!finished) {
      files_.fail(finished.error().message);
      return finished.error();
    }
    report_.stopped_early = !*finished;
    if (report_.stopped_early) files_.fail(WorkFiles::kStopped);
    return report_;
  }

 private:
  static constexpr std::size_t kPieces = 64;  ///< Of a level.

  struct Pair {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
  };

  /// False: stopped.
  Result<bool> passes() {
    std::vector<std::uint64_t> shared;
    REWRIGHT_TRY(const bool counted, count(shared));
    if (!counted) return false;
    audit();
    const FingerprintSet repeated(std::move(shared));
    std::vector<Record> records;
    std::vector<Joined> joined;
    REWRIGHT_TRY(const bool collected, collect(repeated, records, joined));
    if (!collected) return false;
    // Nobody's files are taken away while another reads them.
    REWRIGHT_TRY(const bool together, files_.barrier("collected", [this] { return wait_is_over(); }));
    if (!together) return false;
    if (files_.rank() != 0) return true;
    REWRIGHT_TRY(const bool found, find_parts(joined));
    if (!found) return false;
    REWRIGHT_CHECK(deliver(records));
    return !report_.stopped_early;
  }

  /// Of pass 1: the later ones meet the same graphs again.
  void audit() {
    EnumerationConfig fresh = config_;
    fresh.seed ^= kFreshSeed;
    fresh.sample_factor *= kFreshFactor;
    Evaluator evaluator(fresh);
    for (const std::unique_ptr<Walk>& walk : walks_) {
      for (const Walk::Repetition& repetition : walk->take_repetitions()) {
        ++report_.audited;
        report_.pruned_by_chance += evaluator.repeats(record_of(repetition)) ? 0 : 1;
      }
    }
  }

  void report(const char* pass, std::size_t operators, std::uint64_t graphs, double fraction) {
    const std::unique_lock lock(reporting_, std::try_to_lock);
    if (!lock || !progress_ || (fraction > 0 && seconds_since(last_report_) < 0.1)) return;
    last_report_ = Clock::now();
    if (!progress_({pass, static_cast<int>(operators), graphs, fraction})) stop_ = true;
  }

  /// One piece of a level: how it is walked, and how its result goes to a file and comes from one.
  struct Piece {
    std::string name;
    std::span<const Unit> units;
    std::size_t before = 0;  ///< Units in the pieces before.
    std::size_t all = 0;     ///< Units in all pieces.
  };

  /// Goes through the pieces of a level: `work(piece, units)` does one, `save` and `load` are its file. Every process
  /// ends with the results of all pieces. False: stopped.
  template <class Work, class Save, class Load>
  Result<bool> for_all_pieces(const char* pass, std::size_t operators, const Scope& scope, const Work& work,
                              const Save& save, const Load& load) {
    std::vector<Unit> units;
    {
      Walk first(space_.clone(), scope, 64);
      units = first.units(operators);
    }
    std::string prefix = fmt::format("{}-{}", pass, operators);
    std::replace(prefix.begin(), prefix.end(), ' ', '-');
    const std::size_t count = std::clamp<std::size_t>(units.size(), 1, kPieces);
    const auto piece = [&](std::size_t i) {
      const std::size_t begin = units.size() * i / count, end = units.size() * (i + 1) / count;
      return Piece{fmt::format("{}.{}", prefix, i), std::span(units).subspan(begin, end - begin), begin, units.size()};
    };
    report(pass, operators, 0, 0);
    for (std::size_t i = 0; i < count && !stop_; ++i) {
      const Piece each = piece(i);
      if (!files_.is_mine(i)) continue;
      if (files_.has(each.name)) {
        REWRIGHT_CHECK(load(each.name));
        continue;
      }
      work(each);
      if (!stop_ && files_.wanted()) REWRIGHT_CHECK(save(each.name));
    }
    if (stop_) return false;
    if (files_.ranks() == 1) return true;
    REWRIGHT_TRY(const bool together, files_.barrier(prefix, [this] { return wait_is_over(); }));
    if (!together) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!files_.is_mine(i)) REWRIGHT_CHECK(load(piece(i).name));
    }
    return true;
  }

  bool wait_is_over() {
    report("waiting for the other processes", 0, 0, 0);
    return stop_;
  }

  /// Walks some units, each thread with a visitor of its own from `make(walk)`.
  template <class Make>
  void walk_units(const char* pass, std::size_t operators, const Scope& scope, const Piece& piece,
                  std::atomic<std::uint64_t>& graphs, const Make& make) {
    const std::span<const Unit> units = piece.units;
    using Visitor = decltype(make(std::declval<Walk&>()));
    tbb::enumerable_thread_specific<std::unique_ptr<Walk>>& walks = scope.inputs_in_order ? walks_ : part_walks_;
    tbb::enumerable_thread_specific<std::unique_ptr<Visitor>> visitors;
    std::atomic<std::size_t> done{0};
    arena_.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, units.size(), 1),
          [&](const tbb::blocked_range<std::size_t>& range) {
            std::unique_ptr<Walk>& walk = walks.local();
            if (walk == nullptr) walk = std::make_unique<Walk>(space_.clone(), scope, kWalkCacheSlots);
            std::unique_ptr<Visitor>& visitor = visitors.local();
            if (visitor == nullptr) visitor = std::make_unique<Visitor>(make(*walk));
            for (std::size_t unit = range.begin(); unit < range.end() && !stop_; ++unit) {
              std::uint64_t count = 0;
              walk->run(operators, units[unit], [&](const Leaf& leaf) {
                ++count;
                (*visitor)(leaf);
              });
              graphs += count;
              ++done;
              report(pass, operators, graphs,
                     static_cast<double>(piece.before + done) / static_cast<double>(piece.all));
            }
          },
          tbb::simple_partitioner());
    });
  }

  /// A pass whose results are lists of T. False: stopped.
  template <class T, class Make>
  Result<bool> gather(const char* pass, std::size_t operators, const Scope& scope, std::vector<T>& all,
                      const Make& make) {
    std::atomic<std::uint64_t> graphs{0};
    std::size_t before = 0;
    std::mutex mutex;
    return for_all_pieces(
        pass, operators, scope,
        [&](const Piece& piece) {
          before = all.size();
          walk_units(pass, operators, scope, piece, graphs, [&](Walk& walk) {
            return
                [visit = make(walk), found = Handover<T>(mutex, all)](const Leaf& leaf) mutable { visit(leaf, found); };
          });
        },
        [&](const std::string& name) { return files_.save(name, std::span<const T>(all).subspan(before)); },
        [&](const std::string& name) { return files_.load(name, all); });
  }

  /// Pass 1. False: stopped.
  Result<bool> count(std::vector<std::uint64_t>& shared) {
    FingerprintStore store(config_.memory_bytes, config_.folder);
    std::uint64_t before = 0;
    {
      const Walk walk(space_.clone(), kScope, 64);
      FingerprintStore::Writer writer(store);
      for (const Record& wire : wires(walk, true)) writer.add(wire.fingerprint);
    }
    for (std::size_t level = 1; level <= static_cast<std::size_t>(config_.max_operators); ++level) {
      const auto start = Clock::now();
      before = store.size();
      std::atomic<std::uint64_t> graphs{0};
      REWRIGHT_TRY(const bool finished, for_all_pieces(
                                            "graphs", level, kScope,
                                            [&](const Piece& piece) {
                                              store.begin_piece();
                                              walk_units("graphs", level, kScope, piece, graphs, [&](Walk&) {
                                                return [writer = std::make_shared<FingerprintStore::Writer>(store)](
                                                           const Leaf& leaf) { writer->add(leaf.fingerprint); };
                                              });
                                            },
                                            [&](const std::string& name) { return store.persist(files_.path(name)); },
                                            [&](const std::string& name) { return store.load(files_.path(name)); }));
      if (!finished) return false;
      REWRIGHT_CHECK(store.status());
      const bool last = level == static_cast<std::size_t>(config_.max_operators);
      REWRIGHT_TRY(const std::optional<std::uint64_t> classes, count_classes(store, level, last ? &shared : nullptr));
      if (!classes) return false;
      EnumerationLevel& found = report_.levels.emplace_back();
      found.operators = static_cast<int>(level);
      found.graphs = store.size() - before;
      found.classes = *classes;
      found.seconds = seconds_since(start);
    }
    return true;
  }

  /// Every process counts its share of the partitions and reads what the others counted. Nothing: stopped.
  Result<std::optional<std::uint64_t>> count_classes(FingerprintStore& store, std::size_t level,
                                                     std::vector<std::uint64_t>* shared) {
    std::vector<std::uint64_t> counted(1), mine;
    REWRIGHT_TRY(counted[0], store.count_distinct(shared == nullptr ? nullptr : &mine, config_.threads,
                                                  {files_.rank(), files_.ranks()}));
    if (files_.ranks() == 1) {
      if (shared != nullptr) *shared = std::move(mine);
      return std::optional(counted[0]);
    }
    const auto name = [&](const char* what, std::size_t rank) { return fmt::format("{}-{}.{}", what, level, rank); };
    REWRIGHT_CHECK(files_.save(name("classes", files_.rank()), std::span<const std::uint64_t>(counted)));
    if (shared != nullptr) {
      REWRIGHT_CHECK(files_.save(name("shared", files_.rank()), std::span<const std::uint64_t>(mine)));
    }
    REWRIGHT_TRY(const bool together,
                 files_.barrier(fmt::format("classes-{}", level), [this] { return wait_is_over(); }));
    if (!together) return std::optional<std::uint64_t>();
    counted.clear();
    for (std::size_t rank = 0; rank < files_.ranks(); ++rank) {
      REWRIGHT_CHECK(files_.load(name("classes", rank), counted));
      if (shared != nullptr) REWRIGHT_CHECK(files_.load(name("shared", rank), *shared));
    }
    return std::optional(std::accumulate(counted.begin(), counted.end(), std::uint64_t{0}));
  }

  /// Passes 2 and 3. False: stopped.
  Result<bool> collect(const FingerprintSet& repeated, std::vector<Record>& records, std::vector<Joined>& joined) {
    std::vector<std::vector<std::uint64_t>> by_operators(1);
    {
      const Walk walk(space_.clone(), kPartScope, 64);
      for (const TensorHash& hash : walk.input_hashes()) by_operators[0].push_back(output_hash(hash));
    }
    for (std::size_t level = 1; level < static_cast<std::size_t>(config_.max_operators); ++level) {
      REWRIGHT_TRY(const bool finished, gather("parts", level, kPartScope, by_operators.emplace_back(), [](Walk&) {
                     return [](const Leaf& leaf, Handover<std::uint64_t>& found) { found.add(leaf.fingerprint); };
                   }));
      if (!finished) return false;
    }
    const Parts parts(std::move(by_operators));
    {
      const Walk walk(space_.clone(), kScope, 64);
      for (const Record& wire : wires(walk, true)) {
        if (repeated.contains(wire.fingerprint)) records.push_back(wire);
      }
    }
    // A record with parts is one of a graph that falls apart; without, of one that has equals.
    std::vector<Joined> found;
    for (std::size_t level = 1; level <= static_cast<std::size_t>(config_.max_operators); ++level) {
      REWRIGHT_TRY(const bool finished, gather("equal graphs", level, kScope, found, [&](Walk& walk) {
                     return
                         [&, outputs = std::vector<std::uint64_t>()](const Leaf& leaf, Handover<Joined>& hand) mutable {
                           if (repeated.contains(leaf.fingerprint)) hand.add({record_of(leaf)});
                           walk.output_hashes(leaf, outputs);
                           if (outputs.size() < 2) return;
                           const auto division = divide(parts, outputs, config_.max_operators);
                           if (!division) return;
                           Joined joint{record_of(leaf)};
                           joint.part_count = division->size();
                           std::copy(division->begin(), division->end(), joint.parts.begin());
                           hand.add(joint);
                         };
                   }));
      if (!finished) return false;
      for (const Joined& each : found) {
        if (each.part_count == 0) {
          records.push_back(each.whole);
        } else {
          joined.push_back(each);
        }
      }
      found.clear();
    }
    // One graph of each class is enough: the others are its equals.
    tbb::parallel_sort(records.begin(), records.end());
    tbb::parallel_sort(joined.begin(), joined.end());
    const auto same_class = [](const Joined& a, const Joined& b) { return a.whole.fingerprint == b.whole.fingerprint; };
    joined.erase(std::unique(joined.begin(), joined.end(), same_class), joined.end());
    return true;
  }

  /// Pass 4, of the first process alone. False: stopped.
  Result<bool> find_parts(const std::vector<Joined>& joined) {
    std::vector<std::uint64_t> wanted;
    for (const Joined& each : joined)
      wanted.insert(wanted.end(), each.parts.begin(),
                    each.parts.begin() + static_cast<std::ptrdiff_t>(each.part_count));
    const bool any = !wanted.empty();
    const FingerprintSet wanted_set(std::move(wanted));
    std::vector<Record> found;
    {
      const Walk walk(space_.clone(), kPartScope, 64);
      for (const Record& wire : wires(walk, false)) {
        if (wire.wire_count == 1 && wanted_set.contains(wire.fingerprint)) found.push_back(wire);
      }
    }
    std::mutex mutex;
    for (std::size_t level = 1; level < static_cast<std::size_t>(config_.max_operators) && any; ++level) {
      std::atomic<std::uint64_t> graphs{0};
      std::vector<Unit> units;
      {
        Walk first(space_.clone(), kPartScope, 64);
        units = first.units(level);
      }
      report("parts of graphs", level, 0, 0);
      walk_units("parts of graphs", level, kPartScope, Piece{"", units, 0, units.size()}, graphs, [&](Walk&) {
        return [&, hand = Handover<Record>(mutex, found)](const Leaf& leaf) mutable {
          if (wanted_set.contains(leaf.fingerprint)) hand.add(record_of(leaf));
        };
      });
      if (stop_) return false;
    }
    tbb::parallel_sort(found.begin(), found.end());
    for (const Joined& each : joined) {
      std::vector<Record> parts;
      if (const auto all = unite(found, std::span(each.parts.data(), each.part_count), parts)) {
        apart_.push_back({each.whole, *all});
      }
    }
    return true;
  }

  /// One graph of the smallest of each part; where two of these share an application, others as small are tried.
  std::optional<Record> unite(const std::vector<Record>& found, std::span<const std::uint64_t> fingerprints,
                              std::vector<Record>& chosen) const {
    if (chosen.size() == fingerprints.size()) return union_of(chosen, space_);
    constexpr std::ptrdiff_t kMostTried = 16;
    const std::uint64_t fingerprint = fingerprints[chosen.size()];
    const auto first = std::lower_bound(found.begin(), found.end(), fingerprint,
                                        [](const Record& record, std::uint64_t f) { return record.fingerprint < f; });
    for (auto part = first; part != found.end() && part - first < kMostTried; ++part) {
      if (part->fingerprint != fingerprint || part->count != first->count) break;
      chosen.push_back(*part);
      auto all = unite(found, fingerprints, chosen);
      chosen.pop_back();
      if (all) return all;
    }
    return std::nullopt;
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

  void leave_out_instances(const std::vector<Record>& records, std::vector<Pair>& pairs) {
    tbb::enumerable_thread_specific<Evaluator> evaluators([&] { return Evaluator(config_); });
    std::vector<char> superfluous(pairs.size(), 0);
    arena_.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, pairs.size(), 256), [&](const tbb::blocked_range<std::size_t>& range) {
            Evaluator& evaluator = evaluators.local();
            for (std::size_t i = range.begin(); i < range.end() && !stop_; ++i)
              superfluous[i] = is_instance(evaluator, records[pairs[i].source], records[pairs[i].target]) ? 1 : 0;
            report("pairs", static_cast<std::size_t>(config_.max_operators), range.end(),
                   static_cast<double>(range.end()) / static_cast<double>(pairs.size()));
          });
    });
    std::size_t left = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (superfluous[i] != 0) {
        ++level_of(records[pairs[i].source]).instances;
      } else {
        pairs[left++] = pairs[i];
      }
    }
    pairs.resize(left);
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
    if (stop_) {
      report_.stopped_early = true;
      return {};
    }
    if (!config_.instances) leave_out_instances(records, pairs);
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
  WorkFiles files_;
  EnumerationReport report_;
  std::vector<Apart> apart_;
  tbb::enumerable_thread_specific<std::unique_ptr<Walk>> walks_, part_walks_;
  std::atomic<bool> stop_{false};
  std::mutex reporting_;
  Clock::time_point last_report_;
};

}  // namespace
}  // namespace enumeration

Result<EnumerationReport> enumerate(const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
                                    const std::function<bool(const EnumerationProgress&)>& progress) {
  REWRIGHT_CHECK(enumeration::check_space(config));
  return enumeration::Run(config, sink, progress).run();
}

}  // namespace rewright
