// A hash table of numbers that is emptied in constant time: what hash-consing needs when thousands of small e-graphs
// follow one another.
#pragma once

#include <rewright/base/mixing.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rewright::egraph {

/// Open addressing with linear probing; the owner keeps the keys and tells which of them are equal.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The value of an entry of this hash for which equal(value) holds, or kNone.
  template <class Equal>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, Equal equal) const {
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::size_t at = tag & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.generation != generation_) return kNone;
      if (slot.tag == tag && equal(slot.value)) return slot.value;
    }
  }
  void insert(std::uint64_t hash, std::uint32_t value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    place(static_cast<std::uint32_t>(hash), value);
    ++used_;
  }
  void clear() {
    ++generation_;
    used_ = 0;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t value = 0;
    std::uint64_t generation = 0;
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void place(std::uint32_t tag, std::uint32_t value) {
    std::size_t at = tag & mask();
    while (slots_[at].generation == generation_) at = (at + 1) & mask();
    slots_[at] = {tag, value, generation_};
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.generation == generation_) place(slot.tag, slot.value);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(256);
  std::uint64_t generation_ = 1;
  std::size_t used_ = 0;
};

}  // namespace rewright::egraph
