// The one number that a double means, its text, and the double that a number of another format means.
//
//   meaning(x) = the first of these, where "rounds to x" is to the nearest, in the format that holds x:
//     1. a decimal of few digits that rounds to x                    0.1, 1e-5, 3e38
//     2. x itself, if it is a whole number                           16777217, 2^60, the greatest float32
//     3. the fraction p/q that rounds to x, if |p| q is small        1/6, 2/3, 2^-20
//     4. the shortest decimal that rounds to x                       1.4142135623730951
//
//            few digits   |p| q at most
//   float64       9          2^40        9 and not 15: in 14 digits a decimal could come before 1/6
//   float32       6          2^20
//   float16       3          2^7
//   bfloat16      2          2^4
//
// There is at most one p/q: two that differ are further apart than what rounds to one x.
// Why so: <rewright/operator/params.h>.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace rewright {

/// numerator / denominator * 10^ten * 2^two.
struct RealMeaning {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;  ///< Above 1 only for a fraction that no decimal of rule 4 equals.
  int ten = 0;
  int two = 0;  ///< > 0 for whole numbers of 2^63 and more, else 0.
};

/// A binary format whose numbers are doubles.
struct RealFormat {
  int precision = 53;                   ///< Bits, the hidden one included.
  double least = 0;                     ///< What is smaller has fewer bits, and means itself.
  double (*rounded)(double) = nullptr;  ///< The nearest number of the format; null: the number itself.
};

/// `value` must be finite.
[[nodiscard]] REWRIGHT_API RealMeaning meaning_of(double value);

/// The double of the same meaning as `value` in its format: 1.0 / 6 for the float32 nearest to 1/6. Rounded to the
/// format it is `value` again. Infinities, NaN and subnormal numbers stay.
[[nodiscard]] REWRIGHT_API double meant_in(const RealFormat& format, double value);
[[nodiscard]] REWRIGHT_API double meant_by(float value);

/// Does a rule's parameter match a program's? They are equal, or the program's is the one that the rule's, rounded to
/// float32, means: 0.16666667 matches 1/6.
[[nodiscard]] REWRIGHT_API bool is_same_real(double rule, double program);

/// "0.5", "1/6", "inf": the meaning, except that whole numbers beyond 2^53 have the fewest digits that read back.
[[nodiscard]] REWRIGHT_API std::string real_text(double value);
/// The meaning as SMT-LIB writes it: "0.5", "(/ 1 6)", "(- 0.5)". `value` must be finite.
[[nodiscard]] REWRIGHT_API std::string smt_real(double value);

/// Reads what real_text wrote. Errors: kParse for what is no number, and for a fraction that no double means.
[[nodiscard]] REWRIGHT_API Result<double> parse_real(std::string_view text);
/// The double that means numerator / denominator. Errors: kParse, if there is none, with the nearest.
[[nodiscard]] REWRIGHT_API Result<double> real_of_fraction(std::string_view numerator, std::string_view denominator);
/// The double that means this decimal without sign and exponent. Errors: kParse, if there is none, with the nearest.
[[nodiscard]] REWRIGHT_API Result<double> real_of_decimal(std::string_view digits);

}  // namespace rewright
