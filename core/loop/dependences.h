// Which accesses depend on each other, and how much of a buffer some loops touch: affine analysis, sound for what it
// grants. Sizes are numbers.
//
//   c l + r(inner) = c l' + r'(inner')  for l != l'   has no solution where r - r' lies within -(|c| - 1) .. |c| - 1
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "loop/accesses.h"

namespace rewright::loop {

/// Two accesses of which one writes, that may touch one element in different iterations of a loop around both, in one
/// iteration of the loops around that.
struct Dependence {
  Access first;   ///< In the order of the program.
  Access second;  ///< The same access for what an access has to do with itself.
  const Loop* carrier = nullptr;
  /// Both update by one operation that may be carried out in any order: iterations may be exchanged, not run at once.
  bool is_reduction = false;
};

/// Of a program, those that wanted loops carry, of elements that outlive an iteration (buffer_owners.h).
[[nodiscard]] REWRIGHT_API std::vector<Dependence> dependences(
    const Program& program, const std::function<bool(const Loop&)>& is_wanted = [](const Loop&) { return true; });

/// How many elements along each dimension are touched while the loops from the `from`-th on run and those around them
/// stand still; the whole dimension where the index is not affine.
[[nodiscard]] REWRIGHT_API std::vector<std::int64_t> footprint(const Program& program, const Access& access,
                                                               std::size_t from);

}  // namespace rewright::loop
