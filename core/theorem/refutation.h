// Linear arithmetic with exact fractions: no numbers meet these facts, and the combination that shows it.
//
//   facts   p1 >= 0, .., q1 = 0, ..         monomials stand for themselves: x*y is one unknown
//   answer  l1 p1 + .. + m1 q1 + .. = -1    with every l >= 0 (Farkas, 1902)
//
// Method  The general simplex of Dutertre & de Moura (A fast linear-arithmetic solver for DPLL(T), CAV 2006) with
//         Bland's rule, on a dense tableau. The row in which it fails is the combination.
#pragma once

#include <rewright/base/visibility.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "theorem/exact_rational.h"
#include "theorem/polynomial.h"

namespace rewright::theorem {

/// A sum of coefficient * fact that is a negative number.
using Combination = std::vector<std::pair<std::size_t, Rational>>;  ///< Place among the facts, and coefficient.

/// Nothing where some fractions meet all facts. `pivots` is what may be spent, and what is left of it; where it runs
/// out there is no answer. Errors: Overflow.
[[nodiscard]] REWRIGHT_API std::optional<Combination> refute(std::span<const Fact> facts, std::int64_t& pivots);

/// Is that so? Needs nothing of how it was found.
[[nodiscard]] REWRIGHT_API bool is_refutation(std::span<const Fact> facts, const Combination& combination);

}  // namespace rewright::theorem
