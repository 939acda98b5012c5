// Sums as core/theorem writes them, as mathematics in MathML.
//
//   sum(k0) [k0 < x.1] [0 <= k0] x[i0, k0] y[k0, i1]     a sum sign with 0 <= k0 < x.1 below it, then the product
//   [i0 < x.0], max{a; b | k0 < 3}, 1/(a), floor((a)/(b))
#pragma once

#include <rewright/base/visibility.h>

#include <string>
#include <string_view>

namespace rewright {

/// A formula that may break between its factors. What is no such sum stands as it is.
[[nodiscard]] REWRIGHT_API std::string sum_html(std::string_view sum);
/// "x.0 = y.1", "i0 < x.0", "k1 + 2": as one piece.
[[nodiscard]] REWRIGHT_API std::string condition_html(std::string_view condition);

}  // namespace rewright
