// What a walk keeps beside the current graph.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "enumerate/space.h"

namespace rewright::enumeration {

// A tensor that was evaluated: its elements, and its reductions as far as they were asked for.
struct ValueData {
  std::uint64_t identity = 0;
  std::uint32_t pins = 0;
  Samples samples = Samples::kAll;  // Those of which the elements are there.
  std::vector<Word> elements;
  struct Reduction {
    std::uint32_t number = 0;
    std::uint32_t offset = 0;
    Samples samples = Samples::kAll;
  };
  std::vector<Reduction> index;
  std::vector<Word> reductions;
};

// For two types, the choices that are defined on them in this order. A table with open addressing.
struct BinaryOfTypes {
  struct Slot {
    std::uint64_t key = 0;  // 0: free
    std::uint32_t begin = 0, end = 0;
  };
  std::vector<Slot> slots = std::vector<Slot>(1024);
  std::size_t used = 0;
  std::vector<std::pair<ChoiceId, const Signature*>> lists;

  Slot& find(std::uint64_t key) {
    std::size_t at = mix(key) & (slots.size() - 1);
    while (slots[at].key != key && slots[at].key != 0) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (const Slot& slot : old) {
      if (slot.key != 0) find(slot.key) = slot;
    }
  }
};

}  // namespace rewright::enumeration
