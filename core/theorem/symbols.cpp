#include "theorem/symbols.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace rewright::theorem {

Symbol SymbolTable::add(SymbolKind kind, std::string name, std::optional<std::int64_t> least) {
  const auto symbol = static_cast<Symbol>(entries_.size());
  if (kind == SymbolKind::kBound) name = fmt::format("{}{}", name, symbol);
  entries_.push_back({kind, std::move(name), least});
  entries_.back().inside = {symbol};
  entries_.back().has_bound = kind == SymbolKind::kBound;
  return symbol;
}

Symbol SymbolTable::quotient(const Polynomial& dividend, const Polynomial& divisor) {
  const auto [found, is_new] = quotients_.emplace(std::pair(dividend, divisor), static_cast<Symbol>(entries_.size()));
  if (!is_new) return found->second;
  Entry entry{SymbolKind::kQuotient, {}, std::nullopt, dividend, divisor};
  std::set<Symbol> inside;
  for (const Polynomial* part : {&dividend, &divisor}) {
    for (const Symbol symbol : part->symbols())
      inside.insert(entries_[symbol].inside.begin(), entries_[symbol].inside.end());
  }
  entry.inside.assign(inside.begin(), inside.end());
  entry.has_bound = std::ranges::any_of(entry.inside, [this](Symbol s) { return kind(s) == SymbolKind::kBound; });
  const bool is_natural = std::ranges::all_of(
      dividend.terms(), [this](const auto& term) { return term.second > 0 && at_least(term.first, 0); });
  if (is_natural) entry.least = 0;
  entries_.push_back(std::move(entry));
  return found->second;
}

void SymbolTable::raise_least(Symbol symbol, std::int64_t least) {
  auto& known = entries_[symbol].least;
  known = std::max(known.value_or(least), least);
}

bool SymbolTable::mentions(const Polynomial& p, Symbol symbol) const {
  return std::ranges::any_of(p.terms(), [&](const auto& term) {
    return std::ranges::any_of(term.first, [&](Symbol s) { return std::ranges::binary_search(inside(s), symbol); });
  });
}

bool SymbolTable::mentions_any(const Polynomial& p, const SymbolMap& map) const {
  return std::ranges::any_of(map, [&](const auto& entry) { return mentions(p, entry.first); });
}

bool SymbolTable::has_bound(const Polynomial& p) const {
  return std::ranges::any_of(p.terms(), [this](const auto& term) {
    return std::ranges::any_of(term.first, [this](Symbol s) { return entries_[s].has_bound; });
  });
}

bool SymbolTable::at_least(const Monomial& monomial, std::int64_t bound) const {
  return std::ranges::all_of(monomial, [&](Symbol s) { return least(s).value_or(bound - 1) >= bound; });
}

namespace {

template <class Name>
std::string polynomial_text(const Polynomial& p, const Name& name) {
  if (p.is_zero()) return "0";
  std::vector<std::string> parts;
  for (const auto& [monomial, coefficient] : p.terms()) {
    std::vector<std::string> factors;
    for (const Symbol symbol : monomial) factors.push_back(name(symbol));
    std::ranges::sort(factors);
    if (coefficient != 1 || factors.empty()) factors.insert(factors.begin(), std::to_string(coefficient));
    parts.push_back(fmt::format("{}", fmt::join(factors, "*")));
  }
  std::ranges::sort(parts, std::greater<>());
  return fmt::format("{}", fmt::join(parts, " + "));
}

}  // namespace

std::string SymbolTable::text(const Polynomial& p) const {
  return polynomial_text(p, [this](Symbol symbol) {
    const Entry& entry = entries_[symbol];
    if (entry.kind != SymbolKind::kQuotient) return entry.name;
    return fmt::format("floor(({})/({}))", text(entry.dividend), text(entry.divisor));
  });
}

std::string SymbolTable::text(const Fact& fact) const {
  Polynomial more, less;  // fact.value = more - less, both without negative coefficients.
  for (const auto& [monomial, coefficient] : fact.value.terms())
    (coefficient > 0 ? more : less) =
        (coefficient > 0 ? more : less) + Polynomial::term(monomial, std::abs(coefficient));
  if (fact.is_equality) return fmt::format("{} = {}", text(more), text(less));
  if (less.constant_term() == 1) return fmt::format("{} < {}", text(less - 1), text(more));
  return fmt::format("{} <= {}", text(less), text(more));
}

std::string SymbolTable::key(const Polynomial& p, const std::map<Symbol, std::string>& names) const {
  return polynomial_text(p, [&](Symbol symbol) {
    const auto named = names.find(symbol);
    if (named != names.end()) return named->second;
    const Entry& entry = entries_[symbol];
    if (entry.kind != SymbolKind::kQuotient || !entry.has_bound) return fmt::format("s{}", symbol);
    return fmt::format("[{}/{}]", key(entry.dividend, names), key(entry.divisor, names));
  });
}

}  // namespace rewright::theorem
