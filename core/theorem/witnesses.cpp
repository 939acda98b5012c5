#include "theorem/witnesses.h"

#include <cmath>

namespace rewright::theorem {

namespace {

/// Numbers that differ by place and symbol (Steele, Lea and Flood, Fast splittable pseudorandom number generators).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

Witnesses::Values Witnesses::drawn(Symbol symbol) const {
  // Sizes above indices, so that an index lies inside more often than not.
  constexpr std::array<double, 8> kOfSizes{0, 1, 2, 3, 4, 5, 6, 8}, kOfIndices{0, 0, 0, 1, 1, 2, 3, 4};
  const bool is_size = symbols_.kind(symbol) == SymbolKind::kSize;
  Values values;
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const std::uint64_t which = mixed(symbol * kPlaces + place) % kOfSizes.size();
    values[place] =
        static_cast<double>(symbols_.least(symbol).value_or(0)) + (is_size ? kOfSizes[which] : kOfIndices[which]);
  }
  return values;
}

const Witnesses::Values& Witnesses::value(Symbol symbol) {
  if (symbol >= values_.size()) values_.resize(symbol + 1);
  if (values_[symbol]) return *values_[symbol];
  if (symbols_.kind(symbol) != SymbolKind::kQuotient) return *(values_[symbol] = drawn(symbol));
  const Values dividend = value(symbols_.dividend(symbol)), divisor = value(symbols_.divisor(symbol));
  Values quotients{};
  for (std::size_t place = 0; place < kPlaces; ++place) {
    // Where the divisor is not positive the facts do not hold.
    if (divisor[place] >= 1) quotients[place] = std::floor(dividend[place] / divisor[place]);
  }
  return *(values_[symbol] = quotients);
}

Witnesses::Values Witnesses::value(const Polynomial& p) {
  Values sum{};
  for (const auto& [monomial, coefficient] : p.terms()) {
    const auto factor = static_cast<double>(coefficient);
    if (monomial.size() == 1) {
      const Values& values = value(monomial[0]);
      for (std::size_t place = 0; place < kPlaces; ++place) sum[place] += factor * values[place];
      continue;
    }
    Values product;
    product.fill(factor);
    for (const Symbol symbol : monomial) {
      const Values& values = value(symbol);
      for (std::size_t place = 0; place < kPlaces; ++place) product[place] *= values[place];
    }
    for (std::size_t place = 0; place < kPlaces; ++place) sum[place] += product[place];
  }
  return sum;
}

Witnesses::Places Witnesses::meeting(const Fact& fact) {
  const Values values = value(fact.value);
  Places places = 0;
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const bool holds = fact.is_equality ? values[place] == 0 : values[place] >= 0;
    places |= static_cast<Places>(holds) << place;
  }
  return places;
}

}  // namespace rewright::theorem
