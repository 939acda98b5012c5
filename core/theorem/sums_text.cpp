// Sums as text: keys, which equal sums share, and what people read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "theorem/sums.h"

namespace rewright::theorem {

std::string Sums::key(std::span<const Fact> guards, const Names& names) const {
  std::vector<std::string> texts;
  for (const Fact& guard : guards)
    texts.push_back(context_.symbols().key(guard.value, names) + (guard.is_equality ? "=" : ">"));
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, "&"));
}

std::string Sums::key(const Term& term, Names names) const {
  for (const Symbol symbol : term.bound) names.emplace(symbol, fmt::format("b{}", names.size()));
  std::vector<std::string> texts;
  for (const auto& [factor, exponent] : term.factors)
    texts.push_back(fmt::format("{}^{}", names.empty() ? factor->key : key(*factor, names), exponent));
  std::ranges::sort(texts);
  return fmt::format("S{}[{}]{}", term.bound.size(), key(term.guards, names), fmt::join(texts, ";"));
}

std::string Sums::key(const Sum& sum, const Names& names) const {
  std::vector<std::string> texts;
  for (const Term& term : sum.terms)
    texts.push_back(
        fmt::format("{}/{}*{}", term.coefficient.numerator(), term.coefficient.denominator(), key(term, names)));
  std::ranges::sort(texts);
  return fmt::format("({})", fmt::join(texts, "+"));
}

std::string Sums::key(const Factor& factor, const Names& names) const {
  switch (factor.kind) {
    case Factor::Kind::kElement:
    case Factor::Kind::kInteger: {
      std::vector<std::string> at;
      for (const Polynomial& p : factor.at) at.push_back(context_.symbols().key(p, names));
      return factor.kind == Factor::Kind::kInteger ? fmt::format("i<{}>", at[0])
                                                   : fmt::format("x{}<{}>", factor.tensor, fmt::join(at, ","));
    }
    case Factor::Kind::kCall:
      return fmt::format("f{}{}", static_cast<int>(factor.function), key(factor.argument, names));
    case Factor::Kind::kInverse: return "inv" + key(factor.argument, names);
    case Factor::Kind::kMaximum: break;
  }
  std::vector<std::string> texts;
  for (const Branch& branch : factor.branches) {
    Names inner = names;
    for (const Symbol symbol : branch.bound) inner.emplace(symbol, fmt::format("b{}", inner.size()));
    texts.push_back(fmt::format("{}[{}]{}", branch.bound.size(), key(branch.guards, inner), key(branch.value, inner)));
  }
  std::ranges::sort(texts);
  return fmt::format("max{{{}}}", fmt::join(texts, ","));
}

std::string Sums::text(const Factor& factor) const {
  const SymbolTable& symbols = context_.symbols();
  switch (factor.kind) {
    case Factor::Kind::kElement:
    case Factor::Kind::kInteger: {
      std::vector<std::string> at;
      for (const Polynomial& p : factor.at) at.push_back(symbols.text(p));
      const std::string name =
          factor.tensor < tensor_names_.size() ? tensor_names_[factor.tensor] : fmt::format("t{}", factor.tensor);
      return factor.kind == Factor::Kind::kInteger ? fmt::format("({})", at[0])
                                                   : fmt::format("{}[{}]", name, fmt::join(at, ", "));
    }
    case Factor::Kind::kCall: return fmt::format("{}({})", name_of(factor.function), text(factor.argument));
    case Factor::Kind::kInverse: return fmt::format("1/({})", text(factor.argument));
    case Factor::Kind::kMaximum: break;
  }
  std::vector<std::string> branches;
  for (const Branch& branch : factor.branches) {
    std::vector<std::string> guards;
    for (const Fact& guard : branch.guards) guards.push_back(symbols.text(guard));
    branches.push_back(text(branch.value) + (guards.empty() ? "" : fmt::format(" | {}", fmt::join(guards, ", "))));
  }
  return fmt::format("max{{{}}}", fmt::join(branches, "; "));
}

std::string Sums::text(const Sum& sum) const {
  if (sum.is_zero()) return "0";
  std::vector<std::string> terms;
  for (const Term& term : sum.terms) {
    std::vector<std::string> parts;
    const Rational& c = term.coefficient;
    if (!(c == Rational(1)) || (term.factors.empty() && term.bound.empty() && term.guards.empty()))
      parts.push_back(c.denominator() == 1 ? fmt::format("{}", c.numerator())
                                           : fmt::format("{}/{}", c.numerator(), c.denominator()));
    if (!term.bound.empty()) {
      std::vector<std::string> names;
      for (const Symbol symbol : term.bound) names.push_back(context_.symbols().text(Polynomial::symbol(symbol)));
      parts.push_back(fmt::format("sum({})", fmt::join(names, ", ")));
    }
    for (const Fact& guard : term.guards) parts.push_back(fmt::format("[{}]", context_.symbols().text(guard)));
    for (const auto& [factor, exponent] : term.factors)
      parts.push_back(text(*factor) + (exponent == 1 ? "" : fmt::format("^{}", exponent)));
    terms.push_back(fmt::format("{}", fmt::join(parts, " ")));
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

}  // namespace rewright::theorem
