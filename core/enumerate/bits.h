// Small sets as masks.
#pragma once

#include <bit>
#include <cstddef>

namespace rewright::enumeration {

/// Calls `action` with each member, ascending.
template <class Action>
void for_bits(unsigned mask, const Action& action) {
  for (; mask != 0; mask &= mask - 1) action(static_cast<std::size_t>(std::countr_zero(mask)));
}

}  // namespace rewright::enumeration
