// Pseudo-random numbers for inputs.
//
// Every kind of draw is one fixed sequence for each seed; a point takes the stretch of it that begins at its own place,
// and the inputs of an evaluation lie one after the other in it. So no input is copied, and the same point gives the
// same numbers in every algebra.
#pragma once

#include <rewright/base/mixing.h>
#include <rewright/tensor/scalar.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace evaluate_verifier {

enum class Draw : std::uint8_t {
  kWhole,     ///< Field: any residue. Other algebras: as kSmall.
  kSmall,     ///< Integers from -9 to 9.
  kQuarters,  ///< The same over 4: laws that hold for integers alone, as relu(x + x * x) = x + x * x, fail here.
  kNegative,  ///< Quarters from -19/4 to -1/4: the greatest of many is seldom negative otherwise.
  kPeaks,     ///< -1, and 1 at one of eight or so: pooled, they have negative parts beside positive ones.
  kSigns,     ///< -1, 0 and 1: where something is divided, 0 is not rare.
  kZeros,     ///< 0.
};
inline constexpr std::size_t kDraws = 7;

struct Point {
  Draw kind = Draw::kSmall;
  std::size_t place = 0;  ///< In the sequence.
};

template <class Scalar>
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  /// `count` numbers; valid until the next call.
  [[nodiscard]] const Scalar* at(Point point, std::int64_t count) {
    std::vector<Scalar>& numbers = numbers_[static_cast<std::size_t>(point.kind)];
    const std::size_t needed = point.place + static_cast<std::size_t>(count);
    if (numbers.size() < needed) {
      numbers.reserve(needed + needed / 2);
      while (numbers.size() < needed) numbers.push_back(draw(point.kind, numbers.size()));
    }
    return numbers.data() + point.place;
  }

 private:
  [[nodiscard]] Scalar draw(Draw kind, std::uint64_t index) const {
    const std::uint64_t bits = rewright::mix(rewright::mix(seed_) + index);
    if constexpr (std::is_same_v<Scalar, rewright::Field>) {
      if (kind == Draw::kWhole) return rewright::Field::from_residue((bits >> 3) % rewright::Field::kPrime);
    }
    if (kind == Draw::kPeaks) return Scalar::from_integer(bits % 8 == 0 ? 1 : -1);
    if (kind == Draw::kZeros) return Scalar::from_integer(0);
    if (kind == Draw::kSigns) return Scalar::from_integer(static_cast<std::int64_t>(bits % 3) - 1);
    const auto number = static_cast<std::int64_t>(bits % 19);
    const Scalar whole = Scalar::from_integer(kind == Draw::kNegative ? -1 - number : number - 9);
    if (kind == Draw::kWhole || kind == Draw::kSmall) return whole;
    return whole / Scalar::from_integer(4);
  }

  std::uint64_t seed_;
  std::array<std::vector<Scalar>, kDraws> numbers_;
};

}  // namespace evaluate_verifier
