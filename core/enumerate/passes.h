// Passes over all graphs of a level, in pieces: by several threads and processes, stopped and gone on with.
#pragma once

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "enumerate/enumeration_config.h"
#include "enumerate/operator_space.h"
#include "enumerate/walk.h"
#include "enumerate/work_files.h"

namespace rewright::enumeration {

/// What one thread finds in a piece of work; handed over when it is done with it.
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

/// A long list that was found bit by bit: never copied as a whole while it grows.
template <class T>
using Pieces = std::deque<std::vector<T>>;

/// One list; each piece is given up as soon as it is copied.
template <class T>
std::vector<T> joined(Pieces<T>&& pieces) {
  std::size_t total = 0;
  for (const std::vector<T>& piece : pieces) total += piece.size();
  std::vector<T> all;
  all.reserve(total);
  for (std::vector<T>& piece : pieces) {
    all.insert(all.end(), piece.begin(), piece.end());
    std::vector<T>().swap(piece);
  }
  pieces.clear();
  return all;
}

class Passes {
 public:
  Passes(const EnumerationConfig& config, const std::function<bool(const EnumerationProgress&)>& progress)
      : space_(config),
        scope_{.samples = config.few_samples_first ? Samples::kFew : Samples::kAll},
        part_scope_{.inputs_in_order = false, .keep_repetitions = false, .samples = scope_.samples},
        arena_(std::max(config.threads, 1)),
        files_(config.work_folder, config.rank, config.ranks, config.token, config.checkpoint_seconds),
        progress_(progress) {}

  [[nodiscard]] const OperatorSpace& space() const { return space_; }
  /// Graphs that the enumeration is about, and those that such may fall apart into.
  [[nodiscard]] const Scope& scope() const { return scope_; }
  [[nodiscard]] const Scope& part_scope() const { return part_scope_; }
  [[nodiscard]] tbb::task_arena& arena() { return arena_; }
  [[nodiscard]] WorkFiles& files() { return files_; }
  [[nodiscard]] bool stopped() const { return stop_; }
  [[nodiscard]] std::unique_ptr<Walk> make_walk(const Scope& scope) const {
    return std::make_unique<Walk>(space_.clone(), scope, 64);
  }

  void report(const char* pass, std::size_t operators, std::uint64_t graphs, double fraction) {
    const std::unique_lock lock(reporting_, std::try_to_lock);
    const auto now = std::chrono::steady_clock::now();
    if (!lock || !progress_ || (fraction > 0 && now - last_report_ < std::chrono::milliseconds(100))) return;
    last_report_ = now;
    if (!progress_({pass, static_cast<int>(operators), graphs, fraction})) stop_ = true;
  }
  /// For barriers: goes on waiting while it is false.
  bool wait_is_over() {
    report("waiting for the other processes", 0, 0, 0);
    return stop_;
  }
  /// False: stopped.
  [[nodiscard]] Result<bool> barrier(const std::string& name) {
    return files_.barrier(name, [this] { return wait_is_over(); });
  }

  /// One piece of a level: what is walked, and the name of its file.
  struct Piece {
    std::string name;
    std::span<const Unit> units;
    std::size_t before = 0;  ///< Units in the pieces before.
    std::size_t all = 0;     ///< Units in all pieces.
  };

  /// Goes through the pieces of a level: `work(piece)` does one, `save(name)` and `load(name)` are its file; what save
  /// begins may end during the next piece. Every process ends with the results of all pieces. False: stopped.
  template <class Work, class Save, class Load>
  Result<bool> for_all_pieces(const char* pass, std::size_t operators, const Scope& scope, const Work& work,
                              const Save& save, const Load& load) {
    const std::vector<Unit> units = make_walk(scope)->units(operators);
    std::string prefix = fmt::format("{}-{}", pass, operators);
    std::replace(prefix.begin(), prefix.end(), ' ', '-');
    const std::size_t count = std::clamp<std::size_t>(units.size(), 1, kPieces);
    const auto piece = [&](std::size_t i) {
      const std::size_t begin = units.size() * i / count, end = units.size() * (i + 1) / count;
      return Piece{fmt::format("{}.{}", prefix, i), std::span(units).subspan(begin, end - begin), begin, units.size()};
    };
    report(pass, operators, 0, 0);
    std::future<Status> saving;
    const auto saved = [&] { return saving.valid() ? saving.get() : Status(); };
    for (std::size_t i = 0; i < count && !stop_; ++i) {
      const Piece each = piece(i);
      if (!files_.is_mine(i)) continue;
      if (files_.has(each.name)) {
        REWRIGHT_CHECK(load(each.name));
        continue;
      }
      work(each);
      if (stop_ || !files_.wanted()) continue;
      REWRIGHT_CHECK(saved());
      saving = save(each.name);
    }
    REWRIGHT_CHECK(saved());
    if (stop_) return false;
    if (files_.ranks() == 1) return true;
    REWRIGHT_TRY(const bool together, barrier(prefix));
    if (!together) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!files_.is_mine(i)) REWRIGHT_CHECK(load(piece(i).name));
    }
    return true;
  }

  /// Walks the units of a piece, each thread with a visitor of its own from `make(walk)`.
  template <class Make, class Foresee = NoForesight>
  void walk(const char* pass, std::size_t operators, const Scope& scope, const Piece& piece,
            std::atomic<std::uint64_t>& graphs, const Make& make, const Foresee& foresee = {}) {
    using Visitor = decltype(make(std::declval<Walk&>()));
    const std::span<const Unit> units = piece.units;
    auto& walks = scope.inputs_in_order ? walks_ : part_walks_;
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
              const auto visit = [&](const Leaf& leaf) {
                ++count;
                (*visitor)(leaf);
              };
              walk->run(operators, units[unit], visit, foresee);
              graphs += count;
              ++done;
              report(pass, operators, graphs,
                     static_cast<double>(piece.before + done) / static_cast<double>(piece.all));
            }
          },
          tbb::simple_partitioner());
    });
  }

  /// A pass whose results are lists, in pieces added to `all`: `make(walk)` gives visitors (leaf, Handover<T>&...).
  /// False: stopped.
  template <class Make, class Foresee, class... T>
  Result<bool> gather(const char* pass, std::size_t operators, const Scope& scope, const Make& make,
                      const Foresee& foresee, Pieces<T>&... all) {
    std::atomic<std::uint64_t> graphs{0};
    std::mutex mutex;
    // The file of the first list is written last: where it is, they all are.
    const auto file_of = [](const std::string& name, std::size_t list) {
      return list == 0 ? name : fmt::format("{}.{}", name, list);
    };
    return for_all_pieces(
        pass, operators, scope,
        [&](const Piece& piece) {
          const auto mine = std::tie(all.emplace_back()...);
          const auto handing_over = [&](Walk& walk) {
            return [visit = make(walk),
                    found = std::apply([&](auto&... list) { return std::tuple(Handover<T>(mutex, list)...); }, mine)](
                       const Leaf& leaf) mutable { std::apply([&](auto&... lists) { visit(leaf, lists...); }, found); };
          };
          walk(pass, operators, scope, piece, graphs, handing_over, foresee);
        },
        [&](const std::string& name) {
          return std::async(std::launch::async, [&, name, mine = std::tuple(&std::as_const(all.back())...)] {
            Status status;
            for_each_of<T...>([&](auto list) {
              constexpr std::size_t kList = sizeof...(T) - 1 - list;
              if (status) status = files_.save(file_of(name, kList), std::span(*std::get<kList>(mine)));
            });
            return status;
          });
        },
        [&](const std::string& name) {
          const auto mine = std::tie(all.emplace_back()...);
          Status status;
          for_each_of<T...>([&](auto list) {
            if (status) status = files_.load(file_of(name, list), std::get<list>(mine));
          });
          return status;
        });
  }

  /// Of work done by this process.
  template <class Action>
  void for_repetitions(const Action& action) {
    for (const std::unique_ptr<Walk>& walk : walks_) {
      for (const Walk::Repetition& repetition : walk->take_repetitions()) action(repetition);
    }
  }

 private:
  /// Calls `action` with a constant 0, 1, ... for each type.
  template <class... T, class Action>
  static void for_each_of(const Action& action) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (action(std::integral_constant<std::size_t, I>()), ...); }
    (std::index_sequence_for<T...>());
  }

  static constexpr std::size_t kPieces = 64;  ///< Of a level.
  static constexpr std::size_t kWalkCacheSlots = 2048;

  OperatorSpace space_;
  Scope scope_, part_scope_;
  tbb::task_arena arena_;
  WorkFiles files_;
  const std::function<bool(const EnumerationProgress&)>& progress_;
  tbb::enumerable_thread_specific<std::unique_ptr<Walk>> walks_, part_walks_;
  std::atomic<bool> stop_{false};
  std::mutex reporting_;
  std::chrono::steady_clock::time_point last_report_;
};

}  // namespace rewright::enumeration
