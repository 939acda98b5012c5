// What is not in a large set, from a table that stays in the processor's cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "enumerate/space.h"

namespace rewright::enumeration {

/// A set of fingerprints that may hold others, too: a few bits each, all in one word (Putze, Sanders & Singler,
/// "Cache-, hash- and space-efficient Bloom filters", JEA 14, 2009).
class FingerprintFilter {
 public:
  explicit FingerprintFilter(std::size_t count) : words_(std::bit_ceil(count * kBits / 64 + 1)) {}
  void add(std::uint64_t fingerprint) {
    const std::uint64_t hash = mix(fingerprint);
    words_[hash & (words_.size() - 1)] |= bits_of(hash);
  }
  [[nodiscard]] bool may_hold(std::uint64_t fingerprint) const {
    const std::uint64_t hash = mix(fingerprint), bits = bits_of(hash);
    return (words_[hash & (words_.size() - 1)] & bits) == bits;
  }

 private:
  static constexpr std::size_t kBits = 8;  ///< A fingerprint, at least.
  static constexpr std::uint64_t bits_of(std::uint64_t hash) {
    const auto bit = [&](unsigned at) { return std::uint64_t{1} << (hash >> at & 63); };
    return bit(40) | bit(46) | bit(52) | bit(58);
  }
  std::vector<std::uint64_t> words_;
};

}  // namespace rewright::enumeration
