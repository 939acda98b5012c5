// Sums of products, the inner loop of linear operators.
//
//     SumOfProducts<Scalar> sum;
//     for (...) sum.add(a, b);
//     out = sum.value();                          // 0 + a*b + a*b + ..., in this order
//
// Over Field the reduction modulo p is put off: products of two residues are below 2^122, so 32 of them fit 127 bits.
//
// Quotients<Scalar> divides by whole numbers, which over Field asks for an inverse: those of small numbers are known.
#pragma once

#include <rewright/tensor/scalar.h>

#include <array>
#include <cstdint>

namespace rewright {

template <class Scalar>
class SumOfProducts {
 public:
  void add(const Scalar& a, const Scalar& b) { sum_ += a * b; }
  [[nodiscard]] const Scalar& value() const { return sum_; }

 private:
  Scalar sum_{};
};

template <>
class SumOfProducts<Field> {
 public:
  void add(Field a, Field b) {
    sum_ += static_cast<Uint128>(a.residue()) * b.residue();
    if (++pending_ == 32) fold();
  }
  [[nodiscard]] Field value() const {
    SumOfProducts folded = *this;
    folded.fold();
    folded.fold();
    const auto sum = static_cast<std::uint64_t>(folded.sum_);
    return Field::from_residue(sum >= Field::kPrime ? sum - Field::kPrime : sum);
  }

 private:
  /// 2^61 = 1 modulo p: adds the upper bits to the lower ones. Leaves a sum below 2^67, after a second fold at most
  /// p + 2^6 (< 2 p).
  void fold() {
    sum_ = (sum_ & Field::kPrime) + (sum_ >> 61);
    pending_ = 0;
  }

  Uint128 sum_ = 0;
  int pending_ = 0;
};

template <class Scalar>
class Quotients {
 public:
  /// value / divisor.
  [[nodiscard]] Scalar operator()(const Scalar& value, std::int64_t divisor) {
    return value / Scalar::from_integer(divisor);
  }
};

template <>
class Quotients<Field> {
 public:
  [[nodiscard]] Field operator()(Field value, std::int64_t divisor) {
    if (0 < divisor && divisor < kKnown) return value * kInverses[static_cast<std::size_t>(divisor)];
    if (divisor != divisor_) inverse_ = Field::from_integer(divisor_ = divisor).inverse();
    return value * inverse_;
  }

 private:
  static constexpr std::int64_t kKnown = 64;
  /// p = (p / n) n + p % n, so 1 / n = -(p / n) / (p % n).
  static constexpr std::array<Field, kKnown> kInverses = [] {
    std::array<Field, kKnown> inverses{Field(), Field::from_integer(1)};
    for (std::uint64_t n = 2; n < kKnown; ++n)
      inverses[n] = (Field() - Field::from_residue(Field::kPrime / n)) * inverses[Field::kPrime % n];
    return inverses;
  }();

  std::int64_t divisor_ = 0;
  Field inverse_{};
};

}  // namespace rewright
