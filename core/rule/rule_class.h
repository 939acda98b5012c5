// What a rule does to floating-point numbers, which are not the reals that it was proved for.
//
//   exact           both sides give the same numbers, whatever the inputs: they compute the same sums and products in
//                   the same order, up to a + b = b + a and laws that every IEEE number obeys (max(x, x) = x).
//   reassociating   the same sums and products in another order or shape: results differ by rounding while no value
//                   on the way leaves the range of its type.
//   range-changing  a law of a function or of a quotient (log(exp(x)) = x, x / y * y = x, 1 / (1 / x) = x) is used, so
//                   that one side may be infinite, 0 or NaN where the other is an ordinary number.
//
// The class is derived by evaluation at a few small sizes (small_sizes), in two algebras.
//
// Exact           Double precision, on ordinary numbers, mixed magnitudes, huge and tiny ones, and with a zero, an
//                 infinity or a NaN here and there. One element that differs in a bit, the sign of zero aside, and
//                 the rule is not exact: two orders of a sum round alike on one draw in two or so, never on all.
// Reassociating   Doubles with + - * and max as they are, all else uninterpreted: each function is a smooth one of its
//                 own that shares only signs, zeros and monotony with the real one. A quotient by a constant is a
//                 product; a / b is a * q(b), and c / b for a constant c is c * r(b): q is not r, as 1 / b overflows
//                 where a / b need not.
// Limits          What is seen is the operators' definition: a runtime may sum one side in another order than the other
//                 although the rule is exact. A rule that is false of ordinary numbers has no class; it is called
//                 reassociating, so that whoever uses it all the same has its results compared.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rewright {

/// From the safest on.
enum class RuleClass : std::uint8_t { kExact, kReassociating, kRangeChanging };
/// "exact", "reassociating", "range-changing".
[[nodiscard]] REWRIGHT_API std::string_view name_of(RuleClass rule_class);

/// About a quarter of a millisecond for most rules. Where no small sizes are found the operators decide: multilinear
/// ones and those of order alone are reassociating, all else is range-changing. Thread-safe; the same rule has the same
/// class.
[[nodiscard]] REWRIGHT_API RuleClass classify(const Rule& rule);
/// classify(rule) == kRangeChanging; at once where no operator of the rule computes a function or a quotient, which the
/// operators' definitions are asked once for all rules.
[[nodiscard]] REWRIGHT_API bool is_range_changing(const Rule& rule);
/// By rule: 1 or 0. In parallel.
[[nodiscard]] REWRIGHT_API std::vector<char> are_range_changing(std::span<const Rule> rules);

}  // namespace rewright
