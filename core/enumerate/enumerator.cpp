// Enumeration in passes, each a walk over all graphs or a part of them; nothing is kept of a graph but 8 bytes until it
// is known to be equal to another.
//
//   1  by level: count the graphs, keep their fingerprints; then find those that occur more than once
//   2  fingerprints of connected graphs over any inputs, of fewer operators: into these graphs fall apart; of classes
//   of
//      several, which comes first
//   3  again: graphs of repeated fingerprints that no smaller equality makes superfluous, and those whose outputs
//   divide
//      into known parts, are written down
//   4  the parts are written down
//   5  pairs of graphs with one fingerprint are confirmed on inputs of a fresh seed and handed over (delivery.h)
#include "enumerate/enumerator.h"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <numeric>
#include <optional>

#include "enumerate/delivery.h"
#include "enumerate/fingerprints.h"
#include "enumerate/join.h"
#include "enumerate/passes.h"
#include "enumerate/record.h"
#include "enumerate/superseded.h"

namespace rewright {

namespace enumeration {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Run {
 public:
  Run(const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
      const std::function<bool(const EnumerationProgress&)>& progress)
      : config_(config), sink_(sink), passes_(config, progress) {}

  Result<EnumerationReport> run() {
    Result<bool> finished = all_passes();
    if (!finished) {
      passes_.files().fail(finished.error());
      return finished.error();
    }
    report_.stopped_early = !*finished;
    if (report_.stopped_early) passes_.files().fail({ErrorCode::kBudget, WorkFiles::kStopped});
    return report_;
  }

 private:
  [[nodiscard]] std::size_t operators() const { return static_cast<std::size_t>(config_.max_operators); }

  void finish_pass(const char* name, std::uint64_t results) {
    report_.passes.push_back({name, results, seconds_since(pass_start_)});
    pass_start_ = Clock::now();
  }

  /// False: stopped.
  Result<bool> all_passes() {
    std::vector<std::uint64_t> shared;
    REWRIGHT_TRY(const bool counted, count(shared));
    if (!counted) return false;
    audit();
    finish_pass("graphs", shared.size());
    std::vector<Record> records;
    std::vector<Joined> joined;
    REWRIGHT_TRY(const bool collected, collect(std::move(shared), records, joined));
    if (!collected) return false;
    // Nobody's files are taken away while another reads them.
    REWRIGHT_TRY(const bool together, passes_.barrier("collected"));
    if (!together) return false;
    if (passes_.files().rank() != 0) return true;
    std::vector<Apart> apart;
    REWRIGHT_TRY(const bool found, find_apart(joined, apart));
    if (!found) return false;
    std::vector<Joined>().swap(joined);
    finish_pass("parts of graphs", apart.size());
    Delivery delivery(config_, passes_.arena(), report_.levels,
                      [this](const char* pass, std::uint64_t done, double fraction) {
                        passes_.report(pass, operators(), done, fraction);
                        return !passes_.stopped();
                      });
    REWRIGHT_TRY(const bool delivered, delivery.run(std::move(records), apart, sink_));
    finish_pass("candidates", delivery.delivered());
    return delivered;
  }

  /// Pass 1. False: stopped.
  Result<bool> count(std::vector<std::uint64_t>& shared) {
    FingerprintStore store(config_.memory_bytes, config_.folder);
    std::uint64_t before = 0;
    {
      const auto walk = passes_.make_walk(passes_.scope());
      FingerprintStore::Writer writer(store);
      for (const Record& wire : wires(*walk, true)) writer.add(fingerprint_of(wire, *walk, passes_.scope().samples));
    }
    for (std::size_t level = 1; level <= operators(); ++level) {
      const auto start = Clock::now();
      before = store.size();
      std::atomic<std::uint64_t> graphs{0};
      REWRIGHT_TRY(const bool finished, passes_.for_all_pieces(
                                            "graphs", level, passes_.scope(),
                                            [&](const Passes::Piece& piece) {
                                              store.begin_piece();
                                              passes_.walk("graphs", level, passes_.scope(), piece, graphs, [&](Walk&) {
                                                return [writer = std::make_shared<FingerprintStore::Writer>(store)](
                                                           const Leaf& leaf) { writer->add(leaf.fingerprint); };
                                              });
                                            },
                                            [&](const std::string& name) {
                                              std::promise<Status> at_once;
                                              at_once.set_value(store.persist(file(name)));
                                              return at_once.get_future();
                                            },
                                            [&](const std::string& name) { return store.load(file(name)); }));
      if (!finished) return false;
      REWRIGHT_CHECK(store.status());
      REWRIGHT_TRY(const std::optional<std::uint64_t> classes,
                   count_classes(store, level, level == operators() ? &shared : nullptr));
      if (!classes) return false;
      EnumerationLevel& found = report_.levels.emplace_back();
      found.operators = static_cast<int>(level);
      found.graphs = store.size() - before;
      found.classes = *classes;
      found.seconds = seconds_since(start);
    }
    return true;
  }

  std::string file(const std::string& name) { return passes_.files().path(name); }

  /// Every process counts its share of the partitions and reads what the others counted. Nothing: stopped.
  Result<std::optional<std::uint64_t>> count_classes(FingerprintStore& store, std::size_t level,
                                                     std::vector<std::uint64_t>* shared) {
    WorkFiles& files = passes_.files();
    std::vector<std::uint64_t> counted(1), mine;
    REWRIGHT_TRY(counted[0], store.count_distinct(shared == nullptr ? nullptr : &mine, config_.threads,
                                                  {files.rank(), files.ranks()}));
    if (files.ranks() == 1) {
      if (shared != nullptr) *shared = std::move(mine);
      return std::optional(counted[0]);
    }
    const auto name = [&](const char* what, std::size_t rank) { return fmt::format("{}-{}.{}", what, level, rank); };
    REWRIGHT_CHECK(files.save(name("classes", files.rank()), std::span<const std::uint64_t>(counted)));
    if (shared != nullptr) {
      REWRIGHT_CHECK(files.save(name("shared", files.rank()), std::span<const std::uint64_t>(mine)));
    }
    REWRIGHT_TRY(const bool together, passes_.barrier(fmt::format("classes-{}", level)));
    if (!together) return std::optional<std::uint64_t>();
    counted.clear();
    for (std::size_t rank = 0; rank < files.ranks(); ++rank) {
      REWRIGHT_CHECK(files.load(name("classes", rank), counted));
      if (shared != nullptr) REWRIGHT_CHECK(files.load(name("shared", rank), *shared));
    }
    return std::optional(std::accumulate(counted.begin(), counted.end(), std::uint64_t{0}));
  }

  /// Of pass 1: the later ones meet the same graphs again.
  void audit() {
    const EnumerationConfig fresh = on_fresh_inputs(config_);
    Evaluator evaluator(fresh);
    passes_.for_repetitions([&](const Walk::Repetition& repetition) {
      ++report_.audited;
      report_.pruned_by_chance += evaluator.repeats(record_of(repetition)) ? 0 : 1;
    });
  }

  /// Passes 2 and 3; `shared`: fingerprints on few samples that occur more than once. False: stopped.
  Result<bool> collect(std::vector<std::uint64_t> shared, std::vector<Record>& records, std::vector<Joined>& joined) {
    Pieces<Record> equal;
    Pieces<Joined> falling_apart;
    {
      // Large tables, which are gone before what was found is sorted.
      const SortedFingerprints repeated(std::move(shared));
      REWRIGHT_TRY(const std::optional<Smaller> smaller, find_smaller());
      if (!smaller) return false;
      finish_pass("parts", smaller->firsts.size());
      REWRIGHT_TRY(const bool found, find_equal(repeated, *smaller, equal, falling_apart));
      if (!found) return false;
    }
    drop_those_alone(equal);
    records = enumeration::joined(std::move(equal));
    joined = enumeration::joined(std::move(falling_apart));
    passes_.arena().execute([&] {
      tbb::parallel_sort(records.begin(), records.end());
      tbb::parallel_sort(joined.begin(), joined.end());
    });
    // One graph of each class is enough: the others are its equals.
    const auto same_class = [](const Joined& a, const Joined& b) { return a.whole.fingerprint == b.whole.fingerprint; };
    joined.erase(std::unique(joined.begin(), joined.end(), same_class), joined.end());
    return true;
  }

  /// What is known of connected graphs over any inputs, of fewer operators.
  struct Smaller {
    FirstGraphs firsts;
    Parts parts;
  };

  /// Pass 2. Nothing: stopped.
  Result<std::optional<Smaller>> find_smaller() {
    const std::optional<Smaller> stopped;
    std::vector<std::vector<TwoFingerprints>> by_operators(1);
    const auto walk_of_parts = passes_.make_walk(passes_.part_scope());
    for (std::size_t i = 0; i < walk_of_parts->input_hashes().size(); ++i) {
      by_operators[0].push_back({output_hash(walk_of_parts->input_hashes(passes_.part_scope().samples)[i]),
                                 output_hash(walk_of_parts->input_hashes(Samples::kAll)[i])});
    }
    const auto make = [](Walk& walk) {
      return [&](const Leaf& leaf, Handover<TwoFingerprints>& found) {
        found.add({leaf.fingerprint, walk.complete(leaf).fingerprint});
      };
    };
    for (std::size_t level = 1; level < operators(); ++level) {
      Pieces<TwoFingerprints> pieces;
      REWRIGHT_TRY(const bool finished,
                   passes_.gather("parts", level, passes_.part_scope(), make, NoForesight(), pieces));
      if (!finished) return stopped;
      by_operators.push_back(joined(std::move(pieces)));
    }
    std::vector<PartGraph> part_graphs;
    REWRIGHT_TRY(const bool described, describe_parts(by_operators, part_graphs));
    if (!described) return stopped;
    return std::optional(Smaller{FirstGraphs(std::move(part_graphs), on_fresh_inputs(config_), passes_.arena()),
                                 Parts(by_operators, config_.max_operators)});
  }

  /// Pass 3. False: stopped.
  Result<bool> find_equal(const SortedFingerprints& repeated, const Smaller& smaller, Pieces<Record>& equal,
                          Pieces<Joined>& falling_apart) {
    const auto walk_of_wires = passes_.make_walk(passes_.scope());
    auto& equal_wires = equal.emplace_back();
    for (const Record& wire : wires(*walk_of_wires, true)) {
      if (repeated.contains(fingerprint_of(wire, *walk_of_wires, passes_.scope().samples))) equal_wires.push_back(wire);
    }
    for (std::size_t level = 1; level <= operators(); ++level) {
      const auto make = [&](Walk& walk) {
        return [&, is_superseded = SupersededTest(smaller.firsts, config_), outputs = std::vector<std::uint64_t>()](
                   const Leaf& leaf, Handover<Record>& found, Handover<Joined>& apart) mutable {
          const bool repeats = repeated.contains(leaf.fingerprint);
          walk.output_hashes(leaf, outputs);
          const bool divides = may_fall_apart(smaller.parts, outputs);
          if (!repeats && !divides) return;
          const Leaf all = walk.complete(leaf);
          const auto superfluous = [&] { return !config_.instances && is_superseded(walk, all); };
          if (repeats) {
            if (superfluous()) return;
            found.add(record_of(all));
          }
          if (!divides) return;
          walk.output_hashes(all, outputs);
          const auto division = divide(smaller.parts, outputs);
          if (division && (repeats || !superfluous())) apart.add(Joined(record_of(all), *division));
        };
      };
      const auto foresee = [&](std::size_t stage, const Leaf& leaf) { repeated.foresee(stage, leaf.fingerprint); };
      REWRIGHT_TRY(const bool finished,
                   passes_.gather("equal graphs", level, passes_.scope(), make, foresee, equal, falling_apart));
      if (!finished) return false;
    }
    std::uint64_t found = 0;
    for (const auto& piece : equal) found += piece.size();
    finish_pass("equal graphs", found);
    return true;
  }

  /// Most graphs of fingerprints that repeat have lost their equals to smaller equalities.
  void drop_those_alone(Pieces<Record>& pieces) {
    std::vector<std::uint64_t> all;
    for (const auto& piece : pieces) {
      for (const Record& record : piece) all.push_back(record.fingerprint);
    }
    const SortedFingerprints several(more_than_once(std::move(all)));
    passes_.arena().execute([&] {
      tbb::parallel_for(std::size_t{0}, pieces.size(), [&](std::size_t i) {
        std::erase_if(pieces[i], [&](const Record& record) { return !several.contains(record.fingerprint); });
        pieces[i].shrink_to_fit();
      });
    });
  }

  /// Those that occur more than once.
  std::vector<std::uint64_t> more_than_once(std::vector<std::uint64_t> all) {
    std::vector<std::uint64_t> often;
    passes_.arena().execute([&] { tbb::parallel_sort(all.begin(), all.end()); });
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i] == all[i - 1] && (often.empty() || often.back() != all[i])) often.push_back(all[i]);
    }
    return often;
  }

  /// Of classes of several graphs over any inputs, all graphs. False: stopped.
  Result<bool> describe_parts(const std::vector<std::vector<TwoFingerprints>>& by_operators,
                              std::vector<PartGraph>& graphs) {
    if (config_.instances) return true;
    Pieces<PartGraph> pieces;
    const auto repeated = [&](std::uint64_t TwoFingerprints::*samples) {
      std::vector<std::uint64_t> fingerprints;
      for (const auto& list : by_operators) {
        for (const TwoFingerprints& each : list) fingerprints.push_back(each.*samples);
      }
      return SortedFingerprints(more_than_once(std::move(fingerprints)));
    };
    const SortedFingerprints few = repeated(&TwoFingerprints::few), several = repeated(&TwoFingerprints::all);
    for (std::size_t level = 1; level < operators(); ++level) {
      const auto make = [&](Walk& walk) {
        return [&](const Leaf& leaf, Handover<PartGraph>& found) {
          if (!few.contains(leaf.fingerprint)) return;
          PartGraph graph;
          const Leaf all = walk.complete(leaf);
          if (several.contains(all.fingerprint) && SupersededTest::describe(walk, all, graph)) found.add(graph);
        };
      };
      const auto foresee = [&](std::size_t stage, const Leaf& leaf) { few.foresee(stage, leaf.fingerprint); };
      REWRIGHT_TRY(const bool finished,
                   passes_.gather("first graphs", level, passes_.part_scope(), make, foresee, pieces));
      if (!finished) return false;
    }
    graphs = joined(std::move(pieces));
    return true;
  }

  /// Pass 4, of the first process alone: the wholes that fall apart, with what they fall apart into. False: stopped.
  Result<bool> find_apart(const std::vector<Joined>& joined, std::vector<Apart>& apart) {
    std::vector<std::uint64_t> wanted;
    for (const Joined& each : joined)
      wanted.insert(wanted.end(), each.parts.begin(), each.parts.begin() + each.part_count);
    const SortedFingerprints wanted_set(wanted);
    std::vector<Record> found;
    for (const Record& wire : wires(*passes_.make_walk(passes_.part_scope()), false)) {
      if (wire.wire_count == 1 && wanted_set.contains(wire.fingerprint)) found.push_back(wire);
    }
    std::mutex mutex;
    for (std::size_t level = 1; level < operators() && !wanted.empty(); ++level) {
      std::atomic<std::uint64_t> graphs{0};
      const std::vector<Unit> units = passes_.make_walk(passes_.part_scope())->units(level);
      passes_.report("parts of graphs", level, 0, 0);
      passes_.walk("parts of graphs", level, passes_.part_scope(), Passes::Piece{"", units, 0, units.size()}, graphs,
                   [&](Walk& walk) {
                     return [&, hand = Handover<Record>(mutex, found)](const Leaf& leaf) mutable {
                       const Leaf all = walk.complete(leaf);
                       if (wanted_set.contains(all.fingerprint)) hand.add(record_of(all));
                     };
                   });
      if (passes_.stopped()) return false;
    }
    std::vector<std::optional<Record>> united(joined.size());
    passes_.arena().execute([&] {
      tbb::parallel_sort(found.begin(), found.end());
      tbb::parallel_for(std::size_t{0}, joined.size(), [&](std::size_t i) {
        united[i] = unite(found, std::span(joined[i].parts.data(), joined[i].part_count), passes_.space());
      });
    });
    for (std::size_t i = 0; i < joined.size(); ++i) {
      if (united[i]) apart.push_back({joined[i].whole, *united[i]});
    }
    return true;
  }

  const EnumerationConfig& config_;
  const std::function<Status(Candidate)>& sink_;
  Passes passes_;
  EnumerationReport report_;
  Clock::time_point pass_start_ = Clock::now();
};

}  // namespace
}  // namespace enumeration

Result<EnumerationReport> enumerate(const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
                                    const std::function<bool(const EnumerationProgress&)>& progress) {
  REWRIGHT_CHECK(enumeration::check_space(config));
  return enumeration::Run(config, sink, progress).run();
}

}  // namespace rewright
