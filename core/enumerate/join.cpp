#include "enumerate/join.h"

#include <tbb/parallel_sort.h>

namespace rewright::enumeration {

SortedFingerprints::SortedFingerprints(std::vector<std::uint64_t> fingerprints) : sorted_(std::move(fingerprints)) {
  tbb::parallel_sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  sorted_.shrink_to_fit();
  while ((std::size_t{1} << (64 - shift_)) * kInBucket < sorted_.size()) --shift_;
  begins_.resize((std::size_t{1} << (64 - shift_)) + 1);
  for (const std::uint64_t fingerprint : sorted_) ++begins_[(fingerprint >> shift_) + 1];
  for (std::size_t bucket = 1; bucket < begins_.size(); ++bucket) begins_[bucket] += begins_[bucket - 1];
}

namespace {
std::vector<std::uint64_t> on_all_samples(const std::vector<std::vector<TwoFingerprints>>& lists) {
  std::vector<std::uint64_t> all;
  std::size_t total = 0;
  for (const auto& list : lists) total += list.size();
  all.reserve(total);
  for (const auto& list : lists) {
    for (const TwoFingerprints& each : list) all.push_back(each.all);
  }
  return all;
}
}  // namespace

Parts::Parts(const std::vector<std::vector<TwoFingerprints>>& by_operators, int most)
    : sorted_(on_all_samples(by_operators)), least_(sorted_.size()), most_(most) {
  for (std::size_t count = by_operators.size(); count-- > 0;) {
    for (const TwoFingerprints& each : by_operators[count])
      least_[sorted_.find(each.all)] = static_cast<std::uint8_t>(count);
  }
  std::size_t total = 0;
  for (std::size_t limit = 0; limit < by_operators.size(); ++limit) {
    total += by_operators[limit].size();
    FingerprintFilter& filter = up_to_.emplace_back(total);
    for (std::size_t count = 0; count <= limit; ++count) {
      for (const TwoFingerprints& each : by_operators[count]) filter.add(each.few);
    }
  }
}

std::optional<int> Parts::operators(std::uint64_t fingerprint) const {
  const std::size_t at = sorted_.find(fingerprint);
  return at == sorted_.size() ? std::nullopt : std::optional<int>(least_[at]);
}

namespace {

std::uint64_t sum_of(std::span<const std::uint64_t> outputs, unsigned mask) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) sum += (mask >> i & 1) != 0 ? outputs[i] : 0;
  return sum;
}

}  // namespace

// Asks whether some outputs are the smallest of the parts, which has at most half of the operators, and some part that
// holds the first of the others has no more than it leaves.
bool may_fall_apart(const Parts& parts, std::span<const std::uint64_t> outputs) {
  if (outputs.size() < 2 || outputs.size() > kMostParts) return false;
  const unsigned all = (1U << outputs.size()) - 1;
  const int half = parts.most() / 2;
  for (unsigned smallest = 1; smallest < all; ++smallest) {
    const std::uint64_t sum = sum_of(outputs, smallest);
    if (!parts.may_have(sum, half)) continue;
    int operators = 0;
    while (operators < half && !parts.may_have(sum, operators)) ++operators;
    const unsigned rest = all & ~smallest, lowest = rest & -rest, others = rest & ~lowest;
    for (unsigned chosen = others;; chosen = (chosen - 1) & others) {
      if (parts.may_have(sum_of(outputs, chosen | lowest), parts.most() - operators)) return true;
      if (chosen == 0) break;
    }
  }
  return false;
}

namespace {

/// Divides the outputs of `mask`, all of them connected parts; `whole`: not as one part.
std::optional<Division> best_division(const Parts& parts, std::span<const std::uint64_t> outputs, unsigned mask,
                                      bool whole, int most) {
  std::optional<Division> best;
  const unsigned lowest = mask & -mask;
  const unsigned others = mask & ~lowest;
  // The part that holds the lowest output: that one and any of the others.
  for (unsigned chosen = others;; chosen = (chosen - 1) & others) {
    const unsigned part = chosen | lowest;
    if (part != mask || whole) {
      const std::uint64_t sum = sum_of(outputs, part);
      const std::optional<int> operators = parts.operators(sum);
      if (operators && *operators <= most) {
        // Only what takes fewer operators than the best so far.
        const int left = (best ? best->operators - 1 : most) - *operators;
        std::optional<Division> division = Division{};
        if (part != mask) division = best_division(parts, outputs, mask & ~part, true, left);
        if (division && division->operators <= left) {
          division->operators += *operators;
          division->parts[division->part_count++] = sum;
          best = division;
        }
      }
    }
    if (chosen == 0) break;
  }
  return best;
}

}  // namespace

std::optional<Division> divide(const Parts& parts, std::span<const std::uint64_t> outputs) {
  if (outputs.size() < 2 || outputs.size() > kMostParts) return std::nullopt;
  const unsigned all = (1U << outputs.size()) - 1;
  auto best = best_division(parts, outputs, all, false, parts.most());
  // Inputs alone are no graphs to be joined: the walk has them.
  if (!best || best->operators == 0) return std::nullopt;
  std::reverse(best->parts.begin(), best->parts.begin() + best->part_count);
  return best;
}

namespace {

std::optional<Record> unite_rest(std::span<const Record> found, std::span<const std::uint64_t> fingerprints,
                                 const Space& space, std::vector<Record>& chosen) {
  if (chosen.size() == fingerprints.size()) return union_of(chosen, space);
  constexpr std::ptrdiff_t kMostTried = 16;
  const std::uint64_t fingerprint = fingerprints[chosen.size()];
  const auto first = std::lower_bound(found.begin(), found.end(), fingerprint,
                                      [](const Record& record, std::uint64_t f) { return record.fingerprint < f; });
  for (auto part = first; part != found.end() && part - first < kMostTried; ++part) {
    if (part->fingerprint != fingerprint || part->count != first->count) break;
    chosen.push_back(*part);
    auto all = unite_rest(found, fingerprints, space, chosen);
    chosen.pop_back();
    if (all) return all;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Record> unite(std::span<const Record> found, std::span<const std::uint64_t> fingerprints,
                            const Space& space) {
  std::vector<Record> chosen;
  return unite_rest(found, fingerprints, space, chosen);
}

}  // namespace rewright::enumeration
