#include "enumerate/delivery.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <bit>
#include <mutex>
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

  /// The target of one pair is often that of the next.
  void expand(const std::vector<Record>& records, const Pair& pair) {
    source.assign(records[pair.source], first);
    if (target_of != &records[pair.target]) target.assign(records[pair.target], first);
    target_of = &records[pair.target];
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
  const Record* target_of = nullptr;
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
void Delivery::in_parallel(const char* pass, std::size_t count, const Action& action) {
  tbb::enumerable_thread_specific<std::unique_ptr<Tools>> tools;
  std::atomic<std::size_t> done{0};
  arena_.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1024),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        if (tools.local() == nullptr) tools.local() = std::make_unique<Tools>(config_, fresh_);
                        for (std::size_t i = range.begin(); i < range.end() && !stop_; ++i) action(i, *tools.local());
                        done += range.size();
                        if (!progress_(pass, done, static_cast<double>(done) / static_cast<double>(count)))
                          stop_ = true;
                      });
  });
}

bool Delivery::before(const Pair& a, const Pair& b) const {
  const auto key = [&](const Pair& pair) {
    return std::tuple(records_[pair.source].count, records_[pair.target].count, std::cref(records_[pair.source]),
                      std::cref(records_[pair.target]));
  };
  return key(a) < key(b);
}

/// `at(0)`, `at(1)`, ... `at(count - 1)` are records, those of one class next to each other, the first one first.
template <class At>
void Delivery::pair_up(std::size_t count, const At& at, std::vector<Pair>& pairs) const {
  if (count < 2) return;
  const OperatorSpace space(config_);
  std::vector<std::vector<std::uint64_t>> terms;
  const auto same_class = [&](std::size_t a, std::size_t b) {
    const Record &first = records_[at(a)], &second = records_[at(b)];
    return first.fingerprint == second.fingerprint && first.confirmed == second.confirmed;
  };
  for (std::size_t first = 0, next = 0; first < count; first = next) {
    while (next < count && same_class(first, next)) ++next;
    if (terms.size() < next - first) terms.resize(next - first);
    for (std::size_t i = first; i < next && next - first > 2; ++i)
      application_terms(records_[at(i)], space, terms[i - first]);
    for (std::size_t j = first + 1; j < next; ++j) {
      for (std::size_t i = first; i < j; ++i) {
        if (i > first && share(terms[i - first], terms[j - first])) continue;
        pairs.push_back({0, static_cast<std::uint32_t>(at(j)), static_cast<std::uint32_t>(at(i))});
      }
    }
  }
}

/// Leaves out what follows from smaller equalities.
void Delivery::drop_instances(std::vector<Pair>& pairs) {
  std::vector<char> follows(pairs.size(), 0);
  in_parallel("pairs", pairs.size(), [&](std::size_t i, Tools& tools) {
    tools.expand(records_, pairs[i]);
    follows[i] = follows_from_smaller(tools.first.space(), tools.source, tools.target) ? 1 : 0;
    if (follows[i] == 0) pairs[i].shape = tools.shape(tools.common(0));
  });
  std::size_t left = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (follows[i] != 0) {
      ++level_of(records_[pairs[i].source].count).instances;
    } else {
      pairs[left++] = pairs[i];
    }
  }
  pairs.resize(left);
}

/// What a pair comes to on fresh inputs, with what is common at its depth taken for inputs.
Delivery::Outcome Delivery::judge(const Pair& pair, Tools& tools, Found& found) const {
  const Record &source = records_[pair.source], &target = records_[pair.target];
  const auto holds = [&](std::span<const std::uint64_t> free) {
    return equal_for_any(tools.again, source, target, free);
  };
  found = {pair, {source.count, target.count}, {}};
  if (config_.instances) return holds({}) ? Outcome::kHolds : Outcome::kFalls;
  tools.expand(records_, pair);
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

/// Finds candidates among the pairs, one of each shape, the first; leaves pairs that are to be looked at again.
void Delivery::confirm(std::vector<Pair>& pairs, std::unordered_set<std::uint64_t>& settled,
                       std::vector<Found>& found) {
  arena_.execute([&] {
    tbb::parallel_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
      return a.shape != b.shape ? a.shape < b.shape : before(a, b);
    });
  });
  std::erase_if(pairs, [&](const Pair& pair) { return settled.contains(pair.shape); });
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (config_.instances || i == 0 || pairs[i].shape != pairs[i - 1].shape) chosen.push_back(i);
  }
  std::vector<Outcome> outcomes(chosen.size());
  std::vector<Found> judged(chosen.size());
  in_parallel("confirming", chosen.size(),
              [&](std::size_t c, Tools& tools) { outcomes[c] = judge(pairs[chosen[c]], tools, judged[c]); });
  if (stop_) return;
  std::vector<std::uint64_t> fallen;
  std::vector<Pair> left;
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    const std::size_t end = c + 1 < chosen.size() ? chosen[c + 1] : pairs.size();
    switch (outcomes[c]) {
      case Outcome::kHolds:
        if (!config_.instances) settled.insert(pairs[chosen[c]].shape);
        found.push_back(std::move(judged[c]));
        break;
      case Outcome::kFalls:
        if (pairs[chosen[c]].source < of_classes_) {
          fallen.push_back(records_[pairs[chosen[c]].source].fingerprint);
        } else {
          ++level_of(records_[pairs[chosen[c]].source].count).unconfirmed;
        }
        left.insert(left.end(), pairs.begin() + static_cast<std::ptrdiff_t>(chosen[c] + 1),
                    pairs.begin() + static_cast<std::ptrdiff_t>(end));
        break;
      case Outcome::kNotForAny:
        for (std::size_t i = chosen[c]; i < end; ++i) {
          left.push_back(pairs[i]);
          ++left.back().depth;
          left.back().shape = 0;
        }
        break;
    }
  }
  pairs = std::move(left);
  in_parallel("pairs", pairs.size(), [&](std::size_t i, Tools& tools) {
    if (pairs[i].shape != 0) return;
    tools.expand(records_, pairs[i]);
    pairs[i].shape = tools.shape(tools.common(pairs[i].depth));
  });
  if (!fallen.empty()) split_classes(std::move(fallen), pairs, found);
}

/// Takes the fingerprints of these classes again, on inputs of a fresh seed and more of them, and pairs anew.
void Delivery::split_classes(std::vector<std::uint64_t> fingerprints, std::vector<Pair>& pairs,
                             std::vector<Found>& found) {
  std::sort(fingerprints.begin(), fingerprints.end());
  const auto is_split = [&](const Pair& pair) {
    return pair.source < of_classes_ &&
           std::binary_search(fingerprints.begin(), fingerprints.end(), records_[pair.source].fingerprint);
  };
  std::erase_if(pairs, is_split);
  // Without instances, what was found stands for other pairs, too, and is not found again.
  if (config_.instances) std::erase_if(found, [&](const Found& each) { return is_split(each.pair); });
  Evaluator evaluator(fresh_);
  const auto end_of_classes = records_.begin() + static_cast<std::ptrdiff_t>(of_classes_);
  for (const std::uint64_t fingerprint : fingerprints) {
    const auto first = std::lower_bound(records_.begin(), end_of_classes, fingerprint,
                                        [](const Record& record, std::uint64_t f) { return record.fingerprint < f; });
    std::vector<std::size_t> members;
    bool is_new = false;
    for (auto member = first; member != end_of_classes && member->fingerprint == fingerprint; ++member) {
      is_new = is_new || member->confirmed == 0;
      member->confirmed = evaluator.fingerprint(*member);
      members.push_back(static_cast<std::size_t>(member - records_.begin()));
    }
    if (!is_new) continue;
    std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) { return records_[a] < records_[b]; });
    for (std::size_t i = 1; i < members.size(); ++i) {
      const Record &one = records_[members[i - 1]], &next = records_[members[i]];
      if (one.confirmed != next.confirmed) ++level_of(next.count).unconfirmed;
    }
    std::vector<Pair> anew;
    pair_up(
        members.size(), [&](std::size_t i) { return members[i]; }, anew);
    if (!config_.instances) drop_instances(anew);
    pairs.insert(pairs.end(), anew.begin(), anew.end());
  }
}

Result<bool> Delivery::run(std::vector<Record> records, std::span<const Apart> apart,
                           const std::function<Status(Candidate)>& sink) {
  records_ = std::move(records);
  of_classes_ = records_.size();
  std::vector<Pair> pairs;
  pair_up(
      of_classes_, [](std::size_t i) { return i; }, pairs);
  for (const Apart& each : apart) {
    const auto at = static_cast<std::uint32_t>(records_.size());
    const bool whole_first = each.whole.count >= each.apart.count;
    records_.push_back(whole_first ? each.whole : each.apart);
    records_.push_back(whole_first ? each.apart : each.whole);
    pairs.push_back({0, at, at + 1});
  }
  if (!config_.instances) drop_instances(pairs);
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
  constexpr std::size_t kBlock = 4096;
  std::unordered_set<std::string> ids;
  tbb::enumerable_thread_specific<Evaluator> evaluators([&] { return Evaluator(config_); });
  for (std::size_t start = 0; start < found.size(); start += kBlock) {
    const std::size_t count = std::min(kBlock, found.size() - start);
    std::vector<std::optional<Result<Candidate>>> block(count);
    arena_.execute([&] {
      tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
        const Found& each = found[start + i];
        block[i] = make_candidate(config_, evaluators.local(), records_[each.pair.source], records_[each.pair.target],
                                  each.free);
      });
    });
    for (std::size_t i = 0; i < count; ++i) {
      if (!*block[i]) return block[i]->error();
      // Tensors in common that differ in their further shapes only are the same input of a candidate.
      if (!config_.instances && !ids.insert((*block[i])->id).second) continue;
      ++level_of(static_cast<std::size_t>(found[start + i].operators[0])).candidates;
      REWRIGHT_CHECK(sink(*std::move(*block[i])));
      ++delivered_;
    }
    const std::size_t done = start + count;
    if (!progress_("candidates", done, static_cast<double>(done) / static_cast<double>(found.size()))) return false;
  }
  return true;
}

}  // namespace rewright::enumeration
