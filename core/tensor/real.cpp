#include "tensor/real.h"

#include <rewright/tensor/scalar.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace rewright {
namespace {

constexpr int kMostDigits = 17;       ///< That a shortest decimal of a double has.
constexpr int kMostProductBits = 40;  ///< Of a fraction's numerator times denominator.

/// digits * 10^ten, without trailing zeros.
struct Decimal {
  std::int64_t digits = 0;
  int ten = 0;
  int length = 1;
};

Decimal read_decimal(std::string_view scientific) {
  Decimal decimal;
  const std::size_t mark = scientific.find('e');
  bool after_point = false;
  std::string digits;
  for (const char c : scientific.substr(0, mark)) {
    if (c == '.')
      after_point = true;
    else
      digits += c;
    if (c != '.' && after_point) --decimal.ten;
  }
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++decimal.ten;
  }
  int exponent = 0;
  std::string_view power = scientific.substr(mark + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  decimal.ten += exponent;
  decimal.length = static_cast<int>(digits.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), decimal.digits);
  return decimal;
}

double to_double(const Decimal& decimal) {
  const std::string text = fmt::format("{}e{}", decimal.digits, decimal.ten);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    return decimal.ten < 0 ? 0.0 : std::numeric_limits<double>::infinity();
  return value;
}

/// The shortest that rounds to `value` > 0, and of these the nearest.
Decimal shortest_decimal(const RealFormat& format, double value) {
  std::array<char, 64> text{};
  if (format.rounded == nullptr) {
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
    return read_decimal({text.data(), end});
  }
  Decimal decimal;
  for (int digits = 1; digits <= kMostDigits; ++digits) {
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, digits - 1).ptr;
    decimal = read_decimal({text.data(), end});
    if (format.rounded(to_double(decimal)) == value) break;
  }
  return decimal;
}

struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
};

/// The simplest that rounds to `value` > 0, if numerator * denominator < 2^bits. It is closer to the value than
/// 1 / (2 denominator^2), and so one of the convergents of the value's continued fraction (Legendre).
std::optional<Fraction> simplest_fraction(const RealFormat& format, double value, int bits) {
  if (value < std::ldexp(1.0, -bits - 1) || value > std::ldexp(1.0, bits + 1)) return std::nullopt;
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  Int128 a = mantissa, b = 1;
  (exponent < 0 ? b : a) <<= std::abs(exponent);  // At most 2^(53 + 53 + 41).
  Int128 p = 1, q = 0, last_p = 0, last_q = 1;
  const Int128 most = Int128{1} << bits;
  while (b != 0) {
    const Int128 whole = a / b;
    if (whole > most) return std::nullopt;
    last_p = std::exchange(p, whole * p + last_p);
    last_q = std::exchange(q, whole * q + last_q);
    if (p > most || q > most || p * q > most) return std::nullopt;
    const double near = static_cast<double>(p) / static_cast<double>(q);
    if (p != 0 && (format.rounded == nullptr ? near : format.rounded(near)) == value)
      return Fraction{static_cast<std::int64_t>(p), static_cast<std::int64_t>(q)};
    a = std::exchange(b, a % b);
  }
  return std::nullopt;
}

/// A double has at most 17 digits and a denominator below 2^41, so that nothing overflows.
bool equal(const Decimal& decimal, const Fraction& fraction) {
  if (decimal.ten > 0 || decimal.ten < -25) return false;
  Int128 scaled = fraction.numerator;
  for (int i = 0; i < -decimal.ten; ++i) scaled *= 10;
  return scaled == static_cast<Int128>(decimal.digits) * fraction.denominator;
}

RealMeaning meaning_in(const RealFormat& format, double value) {
  const std::int64_t sign = std::signbit(value) ? -1 : 1;
  const double size = std::abs(value);
  if (size == 0) return {};
  if (format.rounded == nullptr && size < 0x1p20 &&
      size * 64 == std::floor(size * 64)) {  // Quickly: its decimal is exact and has 13 digits.
    if (size == std::floor(size)) return {static_cast<std::int64_t>(value)};
    return {static_cast<std::int64_t>(value * 1e6), 1, -6};
  }
  const Decimal decimal = shortest_decimal(format, size);
  const RealMeaning shortest{sign * decimal.digits, 1, decimal.ten, 0};
  const int few = std::min(9, (format.precision - 1) * 30103 / 100000);
  if (decimal.length <= few) return shortest;
  if (size == std::floor(size)) {
    if (size < 0x1p63) return {sign * static_cast<std::int64_t>(size)};
    int exponent = 0;
    const double mantissa = std::frexp(size, &exponent);
    return {sign * static_cast<std::int64_t>(std::ldexp(mantissa, 53)), 1, 0, exponent - 53};
  }
  const int bits = std::min(format.precision - 4, kMostProductBits);
  if (const auto fraction = simplest_fraction(format, size, bits); fraction && !equal(decimal, *fraction))
    return {sign * fraction->numerator, fraction->denominator};
  return shortest;
}

/// Of a number > 0 written in full: its digits without zeros at either end, and the power of ten of the last.
struct Digits {
  std::string digits;
  std::ptrdiff_t ten = 0;
  friend bool operator==(const Digits&, const Digits&) = default;
};

Digits digits_of(std::string_view text) {
  Digits number;
  bool after_point = false;
  for (const char c : text) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    if (after_point) --number.ten;
    if (c != '0' || !number.digits.empty()) number.digits += c;
  }
  while (!number.digits.empty() && number.digits.back() == '0') {
    number.digits.pop_back();
    ++number.ten;
  }
  if (number.digits.empty()) number.ten = 0;
  return number;
}

/// The meaning of a number >= 0 as a decimal; nothing for a fraction that has none.
std::string decimal_of(double value) {
  const RealMeaning meaning = meaning_of(value);
  if (meaning.denominator > 1) {
    const auto bits = static_cast<std::uint64_t>(meaning.denominator);
    return std::has_single_bit(bits) ? fmt::format("{:.{}f}", value, std::countr_zero(bits)) : std::string();
  }
  if (meaning.two > 0) return fmt::format("{:.1f}", value);
  std::string digits = std::to_string(meaning.numerator);
  if (meaning.ten >= 0) return digits + std::string(static_cast<std::size_t>(meaning.ten), '0') + ".0";
  const auto places = static_cast<std::size_t>(-meaning.ten);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  const std::string_view all = digits;
  const std::string_view whole = all.substr(0, all.size() - places), rest = all.substr(all.size() - places);
  return fmt::format("{}.{}", whole, rest.substr(0, std::max<std::size_t>(1, rest.find_last_not_of('0') + 1)));
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

RealMeaning meaning_of(double value) { return meaning_in({}, value); }

double meant_in(const RealFormat& format, double value) {
  if (!std::isfinite(value) || format.rounded == nullptr || format.rounded(value) != value) return value;
  if (std::abs(value) < format.least) return value;
  const RealMeaning meaning = meaning_in(format, value);
  if (meaning.two > 0) return value;
  const double size = meaning.denominator > 1
                          ? static_cast<double>(std::abs(meaning.numerator)) / static_cast<double>(meaning.denominator)
                          : to_double({std::abs(meaning.numerator), meaning.ten, 0});
  const double meant = std::copysign(size, value);
  return format.rounded(meant) == value ? meant : value;
}

double meant_by(float value) {
  return meant_in({24, 0x1p-126, [](double x) { return static_cast<double>(static_cast<float>(x)); }},
                  static_cast<double>(value));
}

bool is_same_real(double rule, double program) {
  return rule == program ||
         (static_cast<float>(rule) == static_cast<float>(program) && meant_by(static_cast<float>(rule)) == program);
}

std::string real_text(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const RealMeaning meaning = meaning_of(value);
  return meaning.denominator > 1 ? fmt::format("{}/{}", meaning.numerator, meaning.denominator)
                                 : fmt::format("{}", value);
}

std::string smt_real(double value) {
  const RealMeaning meaning = meaning_of(value);
  const std::string text = meaning.denominator > 1
                               ? fmt::format("(/ {} {})", std::abs(meaning.numerator), meaning.denominator)
                               : decimal_of(std::abs(value));
  return value < 0 ? fmt::format("(- {})", text) : text;
}

Result<double> parse_real(std::string_view text) {
  if (const std::size_t line = text.find('/'); line != std::string_view::npos) {
    const bool negative = text.starts_with('-');
    REWRIGHT_TRY(const double value, real_of_fraction(text.substr(negative, line - negative), text.substr(line + 1)));
    return negative ? -value : value;
  }
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return make_error(ErrorCode::kParse, "'{}' is no number; expected one such as 0.5, 1e-5 or 1/6", text);
  return value;
}

Result<double> real_of_fraction(std::string_view numerator, std::string_view denominator) {
  const auto p = all_digits(numerator) ? to_integer(numerator) : std::nullopt;
  const auto q = all_digits(denominator) ? to_integer(denominator) : std::nullopt;
  if (!p || !q || *q == 0)
    return make_error(ErrorCode::kParse, "'{}/{}' is no fraction of two whole numbers below 2^63", numerator,
                      denominator);
  const double value = static_cast<double>(*p) / static_cast<double>(*q);
  const Exact meant = Exact::from_double(value);
  if (!meant.defined() || meant != Exact::ratio(*p, *q))
    return make_error(ErrorCode::kParse,
                      "the fraction {}/{} is too long for a parameter, which would be {}; write a simpler one", *p, *q,
                      real_text(value));
  return value;
}

Result<double> real_of_decimal(std::string_view digits) {
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || end != digits.data() + digits.size())
    return make_error(ErrorCode::kParse, "'{}' is no number in the range of double precision", digits);
  if (digits_of(digits) != digits_of(decimal_of(value)))
    return make_error(ErrorCode::kParse, "the decimal {} is too long for a parameter, which would be {}; write that",
                      digits, smt_real(value));
  return value;
}

}  // namespace rewright
