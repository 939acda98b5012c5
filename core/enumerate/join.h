// Graphs that fall apart, found from connected ones.
//
// {matmul(x, v), matmul(x, w)} hangs together through no tensor that an operator makes, so the walk does not visit it;
// split(matmul(x, concat(v, w))), which is equal, it does. Every way of dividing the outputs of a connected graph is
// looked up among the connected graphs of fewer operators: where each part is there, what they are together is equal to
// the whole.
#pragma once

#include <rewright/base/visibility.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "enumerate/fingerprint_filter.h"
#include "enumerate/record.h"

namespace rewright::enumeration {

/// A set of fingerprints, ascending. They are spread evenly, so that the upper bits of one say where it would stand.
class REWRIGHT_API SortedFingerprints {
 public:
  /// `fingerprints` need not be sorted or free of repetitions.
  explicit SortedFingerprints(std::vector<std::uint64_t> fingerprints);
  [[nodiscard]] bool contains(std::uint64_t fingerprint) const { return find(fingerprint) != size(); }
  /// The position among all; size() where it is not there.
  [[nodiscard]] std::size_t find(std::uint64_t fingerprint) const {
    const std::size_t bucket = fingerprint >> shift_;
    for (std::size_t i = begins_[bucket]; i < begins_[bucket + 1]; ++i) {
      if (sorted_[i] == fingerprint) return i;
    }
    return size();
  }
  /// Fetches what find() will read, in stages 0 and 1, some time apart.
  void foresee(std::size_t stage, std::uint64_t fingerprint) const {
    const std::size_t bucket = fingerprint >> shift_;
    if (stage == 0) {
      __builtin_prefetch(begins_.data() + bucket);
    } else {
      __builtin_prefetch(sorted_.data() + begins_[bucket]);
    }
  }
  [[nodiscard]] std::size_t size() const { return sorted_.size(); }
  [[nodiscard]] std::span<const std::uint64_t> all() const { return sorted_; }

 private:
  static constexpr std::size_t kInBucket = 4;  ///< About.
  std::vector<std::uint64_t> sorted_;
  std::vector<std::uint32_t> begins_;  ///< Of buckets.
  unsigned shift_ = 63;
};

/// What an output adds to a graph's fingerprints, or all of them together.
struct TwoFingerprints {
  std::uint64_t few = 0;  ///< On few samples.
  std::uint64_t all = 0;
};

/// Fingerprints of connected graphs that use any inputs, in order or not, by their least number of operators.
class REWRIGHT_API Parts {
 public:
  /// By number of operators, from 0. Lists need not be sorted or free of repetitions. `most`: operators of several
  /// parts together.
  Parts(const std::vector<std::vector<TwoFingerprints>>& by_operators, int most);
  [[nodiscard]] std::optional<int> operators(std::uint64_t fingerprint) const;
  [[nodiscard]] int most() const { return most_; }
  /// False: what has this fingerprint on few samples is no part of so many operators or fewer. Mostly from the
  /// processor's cache, other than operators().
  [[nodiscard]] bool may_have(std::uint64_t few, int operators) const {
    return up_to_[std::min(static_cast<std::size_t>(operators), up_to_.size() - 1)].may_hold(few);
  }

 private:
  SortedFingerprints sorted_;
  std::vector<std::uint8_t> least_;       ///< Operators, by position in `sorted_`.
  std::vector<FingerprintFilter> up_to_;  ///< The i-th: parts of at most i operators.
  int most_;
};

/// False: they do not. `outputs` are what each adds to the fingerprint on few samples; at most kMostParts can.
[[nodiscard]] REWRIGHT_API bool may_fall_apart(const Parts& parts, std::span<const std::uint64_t> outputs);
inline constexpr std::size_t kMostParts = 8;

struct Division {
  int operators = 0;
  std::uint32_t part_count = 0;
  std::array<std::uint64_t, kMostParts> parts{};  ///< Their fingerprints.
};

/// The fewest operators, `parts.most()` at the most, of which the outputs fall apart into connected parts. Nothing:
/// there is no such division. `outputs` are what each adds to the fingerprint on all samples; at most kMostParts.
[[nodiscard]] REWRIGHT_API std::optional<Division> divide(const Parts& parts, std::span<const std::uint64_t> outputs);

/// A connected graph whose outputs fall apart into graphs with these fingerprints.
struct Joined {
  Joined() = default;
  Joined(const Record& graph, const Division& division)
      : whole(graph), parts(division.parts), part_count(division.part_count) {}
  Record whole;
  std::array<std::uint64_t, kMostParts> parts{};
  std::uint32_t part_count = 0;
  friend auto operator<=>(const Joined&, const Joined&) = default;
};

/// One graph of the smallest of each part, from `found`, sorted; where two of these share an application, others as
/// small are tried. Nothing: all do.
[[nodiscard]] std::optional<Record> unite(std::span<const Record> found, std::span<const std::uint64_t> fingerprints,
                                          const Space& space);

}  // namespace rewright::enumeration
