// The integers that a proof speaks of.
//
//   size      of a tensor, at least what its rule says (1)
//   index     free: of the element that both sides are compared at
//   bound     of a sum or a maximum; it runs over all integers, guards keep it in its range
//   quotient  floor(dividend / divisor), divisor >= 1
#pragma once

#include <rewright/base/visibility.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "theorem/polynomial.h"

namespace rewright::theorem {

enum class SymbolKind : std::uint8_t { kSize, kIndex, kBound, kQuotient };

class REWRIGHT_API SymbolTable {
 public:
  [[nodiscard]] Symbol add(SymbolKind kind, std::string name, std::optional<std::int64_t> least);
  /// A new bound variable.
  [[nodiscard]] Symbol add_bound() { return add(SymbolKind::kBound, "k", std::nullopt); }
  /// The one symbol of this quotient, whose divisor is known to be at least 1.
  [[nodiscard]] Symbol quotient(const Polynomial& dividend, const Polynomial& divisor);

  [[nodiscard]] SymbolKind kind(Symbol symbol) const { return entries_[symbol].kind; }
  /// A lower bound that holds wherever the symbol occurs.
  [[nodiscard]] std::optional<std::int64_t> least(Symbol symbol) const { return entries_[symbol].least; }
  void raise_least(Symbol symbol, std::int64_t least);
  [[nodiscard]] const Polynomial& dividend(Symbol quotient) const { return entries_[quotient].dividend; }
  [[nodiscard]] const Polynomial& divisor(Symbol quotient) const { return entries_[quotient].divisor; }

  /// Symbols that are no quotients, of this and, where it is a quotient, inside of it. Ascending.
  [[nodiscard]] const std::vector<Symbol>& inside(Symbol symbol) const { return entries_[symbol].inside; }
  [[nodiscard]] bool mentions(const Polynomial& p, Symbol symbol) const;
  [[nodiscard]] bool mentions_any(const Polynomial& p, const SymbolMap& map) const;
  /// Does a bound variable occur, inside of quotients too?
  [[nodiscard]] bool has_bound(const Polynomial& p) const;
  /// Is every symbol known to be at least 1 (at least 0), so that p with coefficients of one sign has that sign?
  [[nodiscard]] bool at_least(const Monomial& monomial, std::int64_t bound) const;

  [[nodiscard]] std::string text(const Polynomial& p) const;
  /// As a comparison: "k < n".
  [[nodiscard]] std::string text(const Fact& fact) const;
  /// The same for all names of bound variables that `names` has.
  [[nodiscard]] std::string key(const Polynomial& p, const std::map<Symbol, std::string>& names) const;

 private:
  struct Entry {
    SymbolKind kind = SymbolKind::kSize;
    std::string name;
    std::optional<std::int64_t> least;
    Polynomial dividend = {}, divisor = {};
    std::vector<Symbol> inside = {};
    bool has_bound = false;
  };
  std::vector<Entry> entries_;
  std::map<std::pair<Polynomial, Polynomial>, Symbol> quotients_;
};

}  // namespace rewright::theorem
