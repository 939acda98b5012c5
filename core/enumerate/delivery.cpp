#include "enumerate/delivery.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <numeric>
#include <optional>
#include <unordered_set>

namespace rewright::enumeration {

namespace {

constexpr std::uint64_t kFreshSeed = 0x5deece66d1ce4e5bULL;
constexpr std::uint32_t kFreshFactor = 2;

bool share(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) return true;
    ++(a[i] < b[j] ? i : j);
  }
  return false;
}

}  // namespace

/// One thread's.
struct Delivery::Tools {
  Tools(const EnumerationConfig& config, const EnumerationConfig& fresh) : first(config), again(fresh) {}

  /// What one pair has is often what the next has.
  void expand(const Delivery& delivery, const Pair& pair) {
    const auto expand_one = [&](std::uint32_t number, Expanded& expanded, std::uint32_t& of) {
      if (of != number) expanded.assign(delivery.record(number), first);
      of = number;
    };
    expand_one(pair.source, source, source_of);
    expand_one(pair.target, target, target_of);
  }

  /// Terms of what both have in common, or, `depth` steps further, of what that is made from.
  std::vector<std::uint64_t> common(std::uint32_t depth) {
    std::vector<std::uint64_t> terms;
    common_tensors(first.space(), source, target, terms);
    for (; depth > 0; --depth) terms = looked_into(first.space(), source, terms, terms);
    return terms;
  }
  std::uint64_t shape(std::span<const std::uint64_t> free) {
    return shape_of_pair(first.space(), source, target, free);
  }

  Evaluator first, again;
  Expanded source, target;
  std::uint32_t source_of = ~0U, target_of = ~0U;
  std::vector<std::vector<std::uint64_t>> terms;  ///< Of the applications of a class's members.
  // What is found:
  std::vector<Pair> pairs;
  std::array<std::uint64_t, kMaxOperators + 1> instances{}, unconfirmed{};  ///< By number of operators.
};

EnumerationConfig on_fresh_inputs(const EnumerationConfig& config) {
  EnumerationConfig fresh = config;
  fresh.seed ^= kFreshSeed;
  fresh.sample_factor *= kFreshFactor;
  return fresh;
}

Delivery::Delivery(const EnumerationConfig& config, tbb::task_arena& arena, std::vector<EnumerationLevel>& levels,
                   Progress progress)
    : config_(config),
      fresh_(on_fresh_inputs(config)),
      arena_(arena),
      levels_(levels),
      progress_(std::move(progress)) {}

template <class Action>
void Delivery::in_parallel(const char* pass, std::size_t count, std::vector<Pair>& pairs, const Action& action) {
  tbb::enumerable_thread_specific<std::unique_ptr<Tools>> all_tools;
  std::atomic<std::size_t> done{0};
  arena_.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1024),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        if (stop_) return;
                        std::unique_ptr<Tools>& tools = all_tools.local();
                        if (tools == nullptr) tools = std::make_unique<Tools>(config_, fresh_);
                        action(range.begin(), range.end(), *tools);
                        done += range.size();
                        if (!progress_(pass, done, static_cast<double>(done) / static_cast<double>(count)))
                          stop_ = true;
                      });
  });
  for (const std::unique_ptr<Tools>& tools : all_tools) {
    pairs.insert(pairs.end(), tools->pairs.begin(), tools->pairs.end());
    std::vector<Pair>().swap(tools->pairs);
    for (std::size_t operators = 0; operators < tools->instances.size(); ++operators) {
      if (tools->instances[operators] > 0) level_of(operators).instances += tools->instances[operators];
      if (tools->unconfirmed[operators] > 0) level_of(operators).unconfirmed += tools->unconfirmed[operators];
    }
  }
}

/// Of an Apart, the larger graph is the source.
const Record& Delivery::record(std::size_t number) const {
  if (number < records_.size()) return records_[number];
  const Apart& apart = apart_[(number - records_.size()) / 2];
  const bool is_source = (number - records_.size()) % 2 == 0;
  return is_source == (apart.whole.count >= apart.apart.count) ? apart.whole : apart.apart;
}

bool Delivery::before(const Pair& a, const Pair& b) const {
  const auto key = [&](const Pair& pair) {
    const Record &source = record(pair.source), &target = record(pair.target);
    return std::tuple(source.count, target.count, std::cref(source), std::cref(target));
  };
  return key(a) < key(b);
}

/// Sorts numbers so that records which begin alike come one after the other: then much of what one makes is what the
/// last ones made, and is known.
template <class RecordOf>
void Delivery::put_alike_together(std::vector<std::uint32_t>& numbers, const RecordOf& record_of) const {
  arena_.execute([&] {
    tbb::parallel_sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto left = record_of(a).all(), right = record_of(b).all();
      const auto order = std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end());
      return order != 0 ? order < 0 : a < b;
    });
  });
}

std::vector<Delivery::Pair> Delivery::pair_up() {
  std::vector<std::uint32_t> classes;  // Their first members.
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    if (i == 0 || records_[i].fingerprint != records_[i - 1].fingerprint) classes.push_back(i);
  }
  put_alike_together(classes, [&](std::uint32_t i) -> const Record& { return records_[i]; });
  std::vector<Pair> pairs;
  in_parallel("pairs", classes.size(), pairs, [&](std::size_t begin, std::size_t end, Tools& tools) {
    std::vector<std::uint32_t> members;
    for (std::size_t c = begin; c < end; ++c) {
      members.clear();
      for (std::uint32_t next = classes[c];
           next < records_.size() && records_[next].fingerprint == records_[classes[c]].fingerprint; ++next)
        members.push_back(next);
      pair_up(members, tools);
    }
  });
  in_parallel("pairs", apart_.size(), pairs, [&](std::size_t begin, std::size_t end, Tools& tools) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto number = static_cast<std::uint32_t>(records_.size() + 2 * i);
      add_pair({0, number, number + 1}, tools);
    }
  });
  return pairs;
}

/// Members of one class, the first one first.
void Delivery::pair_up(std::span<const std::uint32_t> members, Tools& tools) const {
  auto& terms = tools.terms;
  if (terms.size() < members.size()) terms.resize(members.size());
  for (std::size_t i = 0; i < members.size() && members.size() > 2; ++i)
    application_terms(record(members[i]), tools.first.space(), terms[i]);
  for (std::size_t j = 1; j < members.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (i == 0 || !share(terms[i], terms[j])) add_pair({0, members[j], members[i]}, tools);
    }
  }
}

/// Leaves out what follows from smaller equalities.
void Delivery::add_pair(Pair pair, Tools& tools) const {
  if (!config_.instances) {
    tools.expand(*this, pair);
    if (follows_from_smaller(tools.first.space(), tools.source, tools.target)) {
      ++tools.instances[record(pair.source).count];
      return;
    }
    pair.shape = tools.shape(tools.common(0));
  }
  tools.pairs.push_back(pair);
}

/// What a pair comes to on fresh inputs, with what is common at its depth taken for inputs.
Delivery::Outcome Delivery::judge(const Pair& pair, Tools& tools, Found& found) const {
  const Record &source = record(pair.source), &target = record(pair.target);
  const auto holds = [&](std::span<const std::uint64_t> free) {
    return equal_for_any(tools.again, source, target, free);
  };
  found = {pair, {source.count, target.count}, {}};
  if (config_.instances) return holds({}) ? Outcome::kHolds : Outcome::kFalls;
  tools.expand(*this, pair);
  found.free = tools.common(pair.depth);
  if (!holds(found.free)) return found.free.empty() ? Outcome::kFalls : Outcome::kNotForAny;
  if (pair.depth > 0) {
    // Perhaps not all that are common one step up must be known.
    const auto above = tools.common(pair.depth - 1);
    for (const std::uint64_t term : above) {
      if (above.size() == 1) break;
      auto fewer = looked_into(tools.first.space(), tools.source, above, {&term, 1});
      if (!holds(fewer)) continue;
      found.free = std::move(fewer);
      found.pair.shape = tools.shape(found.free);
      break;
    }
  }
  found.operators = operators_without(tools.first.space(), tools.source, tools.target, found.free);
  return Outcome::kHolds;
}

/// Sorts pairs by shape; `groups` are those of one shape, of which the first is the first of all. Ends with the number
/// of pairs.
void Delivery::choose(std::vector<Pair>& pairs, std::vector<std::size_t>& groups) {
  arena_.execute([&] {
    tbb::parallel_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return std::tie(a.shape, a.source, a.target) < std::tie(b.shape, b.source, b.target);
    });
  });
  groups.clear();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (config_.instances || i == 0 || pairs[i].shape != pairs[i - 1].shape) groups.push_back(i);
  }
  groups.push_back(pairs.size());
  arena_.execute([&] {
    tbb::parallel_for(std::size_t{0}, groups.size() - 1, [&](std::size_t g) {
      const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(groups[g]);
      const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(groups[g + 1]);
      std::iter_swap(begin, std::min_element(begin, end, [&](const Pair& a, const Pair& b) { return before(a, b); }));
    });
  });
}

/// Finds candidates among the pairs, one of each shape, the first; leaves pairs that are to be looked at again.
void Delivery::confirm(std::vector<Pair>& pairs, std::unordered_set<std::uint64_t>& settled,
                       std::vector<Found>& found) {
  if (!settled.empty()) std::erase_if(pairs, [&](const Pair& pair) { return settled.contains(pair.shape); });
  std::vector<std::size_t> groups;
  choose(pairs, groups);
  std::vector<Outcome> outcomes(groups.size() - 1);
  std::vector<Found> judged(groups.size() - 1);
  std::vector<Pair> left;
  std::vector<std::uint32_t> order(outcomes.size());
  std::iota(order.begin(), order.end(), 0U);
  put_alike_together(order, [&](std::uint32_t g) -> const Record& { return record(pairs[groups[g]].source); });
  in_parallel("confirming", order.size(), left, [&](std::size_t begin, std::size_t end, Tools& tools) {
    for (std::size_t i = begin; i < end; ++i)
      outcomes[order[i]] = judge(pairs[groups[order[i]]], tools, judged[order[i]]);
  });
  if (stop_) return;
  std::vector<std::uint64_t> fallen;
  std::vector<Pair> deeper;
  for (std::size_t g = 0; g < outcomes.size(); ++g) {
    const Pair& first = pairs[groups[g]];
    const std::span<const Pair> rest(pairs.data() + groups[g] + 1, groups[g + 1] - groups[g] - 1);
    switch (outcomes[g]) {
      case Outcome::kHolds:
        if (!config_.instances) settled.insert(first.shape);
        found.push_back(std::move(judged[g]));
        break;
      case Outcome::kFalls:
        if (first.source < records_.size()) {
          fallen.push_back(records_[first.source].fingerprint);
        } else {
          ++level_of(record(first.source).count).unconfirmed;
        }
        left.insert(left.end(), rest.begin(), rest.end());
        break;
      case Outcome::kNotForAny:
        deeper.push_back(first);
        deeper.insert(deeper.end(), rest.begin(), rest.end());
        break;
    }
  }
  pairs = std::move(left);
  in_parallel("pairs", deeper.size(), pairs, [&](std::size_t begin, std::size_t end, Tools& tools) {
    for (std::size_t i = begin; i < end; ++i) {
      Pair pair = deeper[i];
      ++pair.depth;
      tools.expand(*this, pair);
      pair.shape = tools.shape(tools.common(pair.depth));
      tools.pairs.push_back(pair);
    }
  });
  if (!fallen.empty()) split_classes(std::move(fallen), pairs, found);
}

/// Takes the fingerprints of these classes again, on inputs of a fresh seed and more of them, and pairs anew.
void Delivery::split_classes(std::vector<std::uint64_t> fingerprints, std::vector<Pair>& pairs,
                             std::vector<Found>& found) {
  std::sort(fingerprints.begin(), fingerprints.end());
  fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
  const auto is_split = [&](const Pair& pair) {
    return pair.source < records_.size() &&
           std::binary_search(fingerprints.begin(), fingerprints.end(), records_[pair.source].fingerprint);
  };
  std::erase_if(pairs, is_split);
  // Without instances, what was found stands for other pairs, too, and is not found again.
  if (config_.instances) std::erase_if(found, [&](const Found& each) { return is_split(each.pair); });
  in_parallel("pairs", fingerprints.size(), pairs, [&](std::size_t begin, std::size_t end, Tools& tools) {
    for (std::size_t i = begin; i < end; ++i) split_class(fingerprints[i], tools);
  });
}

void Delivery::split_class(std::uint64_t fingerprint, Tools& tools) {
  const auto first = std::lower_bound(records_.begin(), records_.end(), fingerprint,
                                      [](const Record& record, std::uint64_t f) { return record.fingerprint < f; });
  if (first->confirmed != 0) return;  // Split before.
  std::vector<std::uint32_t> members;
  for (auto member = first; member != records_.end() && member->fingerprint == fingerprint; ++member) {
    member->confirmed = tools.again.fingerprint(*member);
    members.push_back(static_cast<std::uint32_t>(member - records_.begin()));
  }
  std::sort(members.begin(), members.end(),
            [&](std::uint32_t a, std::uint32_t b) { return records_[a] < records_[b]; });
  const std::span<const std::uint32_t> all(members);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    if (begin > 0) ++tools.unconfirmed[records_[all[begin]].count];
    while (end < all.size() && records_[all[end]].confirmed == records_[all[begin]].confirmed) ++end;
    pair_up(all.subspan(begin, end - begin), tools);
  }
}

Result<bool> Delivery::run(std::vector<Record> records, std::span<const Apart> apart,
                           const std::function<Status(Candidate)>& sink) {
  records_ = std::move(records);
  apart_ = apart;
  std::vector<Pair> pairs = pair_up();
  std::vector<Found> found;
  std::unordered_set<std::uint64_t> settled;
  while (!stop_ && !pairs.empty()) confirm(pairs, settled, found);
  if (stop_) return false;
  return hand_over(found, sink);
}

Result<bool> Delivery::hand_over(std::vector<Found>& found, const std::function<Status(Candidate)>& sink) {
  // Small ones first, so that they make larger ones superfluous.
  arena_.execute([&] {
    tbb::parallel_sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
      return a.operators != b.operators ? a.operators < b.operators : before(a.pair, b.pair);
    });
  });
  // Blocks are made side by side while others, in their order, go to the sink.
  using Block = std::pair<std::size_t, std::vector<Result<Candidate>>>;  // Where it begins.
  using tbb::filter_mode;
  constexpr std::size_t kBlock = 256, kOnTheWay = 8;
  std::unordered_set<std::string> ids;
  tbb::enumerable_thread_specific<Evaluator> evaluators([&] { return Evaluator(config_); });
  std::size_t next = 0;
  Status status;  // Of the last filter, as `stopped`.
  bool stopped = false;
  std::atomic<bool> ended = false;
  const auto take = [&](tbb::flow_control& control) {
    const std::size_t start = next;
    if (start >= found.size() || ended) control.stop();
    next += kBlock;
    return start;
  };
  const auto make = [&](std::size_t start) {
    Block block{start, {}};
    for (std::size_t i = start; i < std::min(start + kBlock, found.size()); ++i) {
      const Found& each = found[i];
      block.second.push_back(
          make_candidate(config_, evaluators.local(), record(each.pair.source), record(each.pair.target), each.free));
    }
    return block;
  };
  const auto deliver = [&](Block block) -> Status {
    for (std::size_t i = 0; i < block.second.size(); ++i) {
      REWRIGHT_TRY(Candidate candidate, std::move(block.second[i]));
      // Tensors in common that differ in their further shapes only are the same input of a candidate.
      if (!config_.instances && !ids.insert(candidate.id).second) continue;
      ++level_of(static_cast<std::size_t>(found[block.first + i].operators[0])).candidates;
      REWRIGHT_CHECK(sink(std::move(candidate)));
      ++delivered_;
    }
    const std::size_t done = block.first + block.second.size();
    stopped = !progress_("candidates", done, static_cast<double>(done) / static_cast<double>(found.size()));
    return {};
  };
  arena_.execute([&] {
    tbb::parallel_pipeline(kOnTheWay, tbb::make_filter<void, std::size_t>(filter_mode::serial_in_order, take) &
                                          tbb::make_filter<std::size_t, Block>(filter_mode::parallel, make) &
                                          tbb::make_filter<Block, void>(filter_mode::serial_in_order, [&](Block block) {
                                            if (ended) return;
                                            status = deliver(std::move(block));
                                            ended = !status || stopped;
                                          }));
  });
  if (!status) return status.error();
  return !stopped;
}

}  // namespace rewright::enumeration
