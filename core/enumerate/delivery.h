// The last pass: pairs of equal graphs, confirmed on fresh inputs, become candidates.
#pragma once

#include <rewright/base/result.h>
#include <rewright/rule/pruner.h>

#include <tbb/task_arena.h>

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "enumerate/enumeration_config.h"
#include "enumerate/pairs.h"
#include "enumerate/record.h"

namespace rewright::enumeration {

/// A connected graph and one of the same outputs that falls apart.
struct Apart {
  Record whole;
  Record apart;
};

/// The configuration with a fresh seed and more samples.
[[nodiscard]] EnumerationConfig on_fresh_inputs(const EnumerationConfig& config);

class Delivery {
 public:
  /// Of `levels`, what is found out here is filled in. `progress(pass, graphs, fraction)` returns false to stop.
  using Progress = std::function<bool(const char*, std::uint64_t, double)>;
  Delivery(const EnumerationConfig& config, tbb::task_arena& arena, std::vector<EnumerationLevel>& levels,
           Progress progress);

  /// Pairs each record with the first of its fingerprint and with those that it shares no application with, and each
  /// whole with what falls apart; calls `sink` with the candidates. False: stopped. `records` are sorted.
  [[nodiscard]] Result<bool> run(std::vector<Record> records, std::span<const Apart> apart,
                                 const std::function<Status(Candidate)>& sink);
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }

 private:
  struct Pair {
    std::uint64_t shape = 0;  ///< Pairs of one shape are one candidate.
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint32_t depth = 0;  ///< How far what both have in common is looked into.
  };
  struct Found {
    Pair pair;
    std::array<int, 2> operators{};
    std::vector<std::uint64_t> free;
  };
  struct Tools;

  [[nodiscard]] const Record& record(std::size_t number) const;
  template <class RecordOf>
  void put_alike_together(std::vector<std::uint32_t>& numbers, const RecordOf& record_of) const;
  [[nodiscard]] std::vector<Pair> pair_up();
  void pair_up(std::span<const std::uint32_t> members, Tools& tools) const;
  void add_pair(Pair pair, Tools& tools) const;
  void choose(std::vector<Pair>& pairs, std::vector<std::size_t>& groups);
  void confirm(std::vector<Pair>& pairs, std::unordered_set<std::uint64_t>& settled, std::vector<Found>& found);
  void split_classes(std::vector<std::uint64_t> fingerprints, std::vector<Pair>& pairs, std::vector<Found>& found);
  void split_class(std::uint64_t fingerprint, Tools& tools);
  [[nodiscard]] bool before(const Pair& a, const Pair& b) const;
  enum class Outcome : std::uint8_t { kHolds, kFalls, kNotForAny };
  [[nodiscard]] Outcome judge(const Pair& pair, Tools& tools, Found& found) const;
  Result<bool> hand_over(std::vector<Found>& found, const std::function<Status(Candidate)>& sink);
  EnumerationLevel& level_of(std::size_t operators) { return levels_[std::max<std::size_t>(operators, 1) - 1]; }
  /// `action(begin, end, tools)` for ranges that make up 0 to `count`; then `pairs` has what the tools have collected.
  template <class Action>
  void in_parallel(const char* pass, std::size_t count, std::vector<Pair>& pairs, const Action& action);

  const EnumerationConfig& config_;
  EnumerationConfig fresh_;
  tbb::task_arena& arena_;
  std::vector<EnumerationLevel>& levels_;
  Progress progress_;
  std::atomic<bool> stop_{false};
  std::vector<Record> records_;   ///< Members of classes, sorted: the records of the lowest numbers.
  std::span<const Apart> apart_;  ///< Two records each, of the numbers that follow.
  std::uint64_t delivered_ = 0;
};

}  // namespace rewright::enumeration
