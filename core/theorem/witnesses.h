// Places at which facts hold: what fails at one of them does not follow, without asking the simplex (context.h).
//
// 64 assignments of small numbers to symbols, drawn by a fixed rule; quotients have the value that they mean. Each fact
// keeps those that meet it. Nothing is concluded where none is left.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "theorem/polynomial.h"
#include "theorem/symbols.h"

namespace rewright::theorem {

class Witnesses {
 public:
  explicit Witnesses(const SymbolTable& symbols) : symbols_(symbols) {}

  void add(const Fact& fact) { alive_.push_back(alive() & meeting(fact)); }
  /// The first ones alone.
  void keep(std::size_t facts) { alive_.resize(facts + 1); }
  /// Forgets everything, symbols too.
  void clear() {
    values_.clear();
    alive_.assign(1, ~Places{0});
  }
  [[nodiscard]] bool any() const { return alive() != 0; }
  /// Is there a place at which all facts hold, and this one (does not)?
  [[nodiscard]] bool allow(const Fact& fact) { return any() && (alive() & meeting(fact)) != 0; }
  [[nodiscard]] bool refute(const Fact& fact) { return any() && (alive() & ~meeting(fact)) != 0; }

 private:
  using Places = std::uint64_t;  ///< One bit each.
  static constexpr std::size_t kPlaces = 64;
  /// Whole numbers; what passes 53 bits is a wrong witness at worst, and then too little is concluded.
  using Values = std::array<double, kPlaces>;

  [[nodiscard]] Places alive() const { return alive_.back(); }
  [[nodiscard]] Places meeting(const Fact& fact);
  [[nodiscard]] Values value(const Polynomial& p);
  const Values& value(Symbol symbol);
  [[nodiscard]] Values drawn(Symbol symbol) const;

  const SymbolTable& symbols_;
  std::deque<std::optional<Values>> values_;  ///< By symbol, once it is asked for.
  std::vector<Places> alive_{~Places{0}};     ///< Before all facts, and after each.
};

}  // namespace rewright::theorem
