// Numbers for sequences: each gets one, counted from 0 in the order in which they are added.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rewright {

template <class Element>
class Interner {
 public:
  [[nodiscard]] std::optional<std::uint32_t> find(std::span<const Element> sequence) const {
    const std::uint64_t hash = hash_of(sequence);
    for (std::size_t at = hash & mask(); slots_[at].next_id != 0; at = (at + 1) & mask()) {
      const std::uint32_t id = slots_[at].next_id - 1;
      if (slots_[at].hash == static_cast<std::uint32_t>(hash) && std::ranges::equal((*this)[id], sequence)) return id;
    }
    return std::nullopt;
  }
  /// The sequence must not be there.
  std::uint32_t add(std::span<const Element> sequence) {
    if (2 * (ends_.size() + 1) > slots_.size()) grow();
    elements_.insert(elements_.end(), sequence.begin(), sequence.end());
    ends_.push_back(elements_.size());
    place({static_cast<std::uint32_t>(hash_of(sequence)), static_cast<std::uint32_t>(ends_.size())});
    return static_cast<std::uint32_t>(ends_.size() - 1);
  }
  [[nodiscard]] std::uint32_t number(std::span<const Element> sequence) {
    const auto known = find(sequence);
    return known ? *known : add(sequence);
  }

  /// Until the next one is added.
  [[nodiscard]] std::span<const Element> operator[](std::uint32_t id) const {
    const std::size_t begin = id == 0 ? 0 : ends_[id - 1];
    return std::span(elements_).subspan(begin, ends_[id] - begin);
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next_id = 0;  ///< One more than the number; 0: nothing is here.
  };

  static std::uint64_t hash_of(std::span<const Element> sequence) {
    return XXH3_64bits(sequence.data(), sequence.size_bytes());
  }
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void place(Slot slot) {
    std::size_t at = slot.hash & mask();
    while (slots_[at].next_id != 0) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.next_id != 0) place(slot);
    }
  }

  std::vector<Element> elements_;  ///< Of all sequences, one after the other.
  std::vector<std::size_t> ends_;  ///< In elements_, by number.
  std::vector<Slot> slots_ = std::vector<Slot>(64);
};

/// Numbers that are marked.
class Marks {
 public:
  [[nodiscard]] bool has(std::uint32_t number) const { return number < marked_.size() && marked_[number]; }
  void add(std::uint32_t number) {
    if (marked_.size() <= number) marked_.resize(number + 1);
    marked_[number] = true;
  }

 private:
  std::vector<bool> marked_;
};

}  // namespace rewright
