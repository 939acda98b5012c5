#include "theorem/certifier.h"

#include <algorithm>
#include <concepts>
#include <stdexcept>

#include "theorem/exact_rational.h"
#include "theorem/named_facts.h"
#include "theorem/refutation.h"
#include "theorem/sums.h"

namespace rewright::theorem {

namespace {

using certified::FactUse;
using certified::Member;

constexpr int kMostPairings = 5'000;

certified::Polynomial certified_of(const Polynomial& p) { return {p.terms().begin(), p.terms().end()}; }

/// What was asked, as bytes.
class KeyOf {
 public:
  explicit KeyOf(std::uint32_t state) { put(state); }
  KeyOf& add(const std::vector<certified::Term>& terms) {
    put(terms.size());
    for (const certified::Term& term : terms) {
      put(term.numerator);
      put(term.denominator);
      add(term.bound, term.guards);
      put(term.factors.size());
      for (const certified::Factor& factor : term.factors) {
        put(static_cast<std::int64_t>(factor.kind));
        put(factor.which);
        put(factor.at.size());
        for (const certified::Polynomial& p : factor.at) add(p);
        add(factor.argument);
        add(factor.branches);
      }
    }
    return *this;
  }
  KeyOf& add(std::span<const certified::Branch> branches) {
    put(branches.size());
    for (const certified::Branch& branch : branches) {
      add(branch.bound, branch.guards);
      add(branch.value);
    }
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(const std::vector<int>& bound, const std::vector<certified::Fact>& guards) {
    put(bound.size());
    for (const int s : bound) put(s);
    put(guards.size());
    for (const certified::Fact& guard : guards) {
      put(guard.is_equality);
      add(guard.value);
    }
  }
  void add(const certified::Polynomial& p) {
    put(p.size());
    for (const auto& [monomial, coefficient] : p) {
      put(coefficient);
      put(monomial.size());
      for (const int s : monomial) put(s);
    }
  }
  template <std::integral Number>
  void put(Number number) {
    const auto wide = static_cast<std::int64_t>(number);
    text_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  std::string text_;
};

bool is_alike(const certified::Factor& a, const certified::Factor& b) {
  return a.kind == b.kind && a.which == b.which && a.argument.size() == b.argument.size();
}

}  // namespace

void Certifier::mirror(const std::vector<certified::Symbol>& symbols) {
  const auto is_same = [](const certified::Symbol& a, const certified::Symbol& b) {
    return a.kind == b.kind && a.least == b.least &&
           (a.kind != certified::Symbol::Kind::kQuotient || (a.dividend == b.dividend && a.divisor == b.divisor));
  };
  // Symbols that a trial made and took back stay: no question is about them, or they are made again.
  const std::size_t both = std::min(mirrored_.size(), symbols.size());
  const auto end = symbols.begin() + static_cast<std::ptrdiff_t>(both);
  if (!std::equal(symbols.begin(), end, mirrored_.begin(), is_same)) {
    symbols_ = SymbolTable();
    mirrored_.clear();
    asked_.clear();
    given_.clear();
    witnesses_.clear();
    states_.clear();
    state_after_.clear();
    known_.clear();
    known_groups_.clear();
    known_covers_.clear();
  }
  for (std::size_t s = mirrored_.size(); s < symbols.size(); ++s) {
    const certified::Symbol& symbol = mirrored_.emplace_back(symbols[s]);
    switch (symbol.kind) {
      case certified::Symbol::Kind::kSize: (void)symbols_.add(SymbolKind::kSize, "n", symbol.least); break;
      case certified::Symbol::Kind::kIndex: (void)symbols_.add(SymbolKind::kIndex, "i", symbol.least); break;
      case certified::Symbol::Kind::kBound: (void)symbols_.add(SymbolKind::kBound, "k", symbol.least); break;
      case certified::Symbol::Kind::kQuotient:
        (void)symbols_.quotient(polynomial_of(symbol.dividend), polynomial_of(symbol.divisor));
        break;
    }
  }
}

void Certifier::mirror(const std::vector<certified::Fact>& facts) {
  const std::size_t both = std::min(asked_.size(), facts.size());
  const auto end = facts.begin() + static_cast<std::ptrdiff_t>(both);
  const auto same = static_cast<std::size_t>(std::mismatch(facts.begin(), end, asked_.begin()).first - facts.begin());
  asked_.resize(same);
  given_.resize(same);
  witnesses_.keep(same);
  states_.resize(std::min(states_.size(), same));
  for (std::size_t f = same; f < facts.size(); ++f) {
    asked_.push_back(facts[f]);
    given_.push_back({polynomial_of(facts[f].value), facts[f].is_equality});
    witnesses_.add(given_.back());
  }
}

std::uint32_t Certifier::state() {
  for (std::size_t f = states_.size(); f < given_.size(); ++f) {
    const std::pair key(states_.empty() ? 0U : states_.back(), given_[f]);
    states_.push_back(state_after_.try_emplace(key, static_cast<std::uint32_t>(state_after_.size() + 1)).first->second);
  }
  return states_.empty() ? 0U : states_.back();
}

std::optional<std::vector<FactUse>> Certifier::refutation(const std::vector<certified::Symbol>& symbols,
                                                          const std::vector<certified::Fact>& facts) {
  if (pivots_ <= 0) return std::nullopt;
  mirror(symbols);
  mirror(facts);
  if (witnesses_.any()) return std::nullopt;
  const auto [known, is_new] = known_.try_emplace(state());
  if (!is_new) return known->second;
  try {
    known->second = named_refutation(symbols_, given_, pivots_);
  } catch (const Overflow&) {
  } catch (const std::length_error&) {  // A product of more symbols than one can have.
  }
  return known->second;
}

// --- maps of variables

std::optional<Polynomial> Certifier::put(const Polynomial& p, const SymbolMap& map) const {
  Polynomial result;
  for (const auto& [monomial, coefficient] : p.terms()) {
    Polynomial product = coefficient;
    for (const Symbol symbol : monomial) {
      const auto found = map.find(symbol);
      if (found == map.end() && symbols_.mentions_any(Polynomial::symbol(symbol), map)) return std::nullopt;
      product = product * (found == map.end() ? Polynomial::symbol(symbol) : found->second);
    }
    result = result + product;
  }
  return result;
}

SymbolMap Certifier::solved(const std::vector<std::pair<Polynomial, Polynomial>>& equations,
                            const std::vector<Symbol>& unknown) {
  pivots_ -= static_cast<std::int64_t>(equations.size());
  SymbolMap map;
  std::vector<Polynomial> open;
  for (const auto& [a, b] : equations) open.push_back(a - b);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t e = 0; e < open.size() && !progress; ++e) {
      const auto equation = put(open[e], map);
      if (!equation) continue;
      for (const Symbol symbol : unknown) {
        const auto part = map.contains(symbol) ? std::nullopt : linear_in(symbols_, *equation, symbol);
        if (!part) continue;
        const SymbolMap one{{symbol, part->sign == 1 ? -part->rest : part->rest}};
        for (auto& [other, value] : map) value = put(value, one).value_or(value);
        map.insert(*one.begin());
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(e));
        progress = true;
        break;
      }
    }
  }
  return map;
}

bool Certifier::pair_factors(std::span<const certified::Factor> a, const std::vector<certified::Factor>& b,
                             const Pairing& so_far, bool outermost, const Visit& visit) {
  if (++steps_ > kMostPairings || pivots_ <= 0) return false;
  if (so_far.factors.size() == a.size()) return visit(so_far);
  const std::size_t at = so_far.factors.size();
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (std::ranges::find(so_far.factors, j) != so_far.factors.end() || !is_alike(a[at], b[j])) continue;
    const auto next = [&](const Pairing& pairing) {
      Pairing with = pairing;
      with.factors = so_far.factors;
      with.factors.push_back(j);
      return pair_factors(a, b, with, outermost, visit);
    };
    if (pair_factor(a[at], b[j], so_far, next)) return true;
  }
  return false;
}

bool Certifier::pair_factor(const certified::Factor& a, const certified::Factor& b, const Pairing& so_far,
                            const Visit& visit) {
  Pairing next = so_far;
  for (std::size_t d = 0; d < a.at.size(); ++d)
    next.equations.emplace_back(polynomial_of(a.at[d]), polynomial_of(b.at[d]));
  if (a.kind == certified::Factor::Kind::kMaximum) return pair_branches(a.branches, b.branches, next, visit);
  if (a.argument.empty()) return visit(next);
  return pair_terms(a.argument, b.argument, std::vector<bool>(b.argument.size()), next, visit);
}

bool Certifier::pair_terms(std::span<const certified::Term> a, const std::vector<certified::Term>& b,
                           const std::vector<bool>& used, const Pairing& so_far, const Visit& visit) {
  if (++steps_ > kMostPairings) return false;
  if (a.empty()) return visit(so_far);
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (used[j] || a[0].numerator != b[j].numerator || a[0].denominator != b[j].denominator ||
        a[0].factors.size() != b[j].factors.size() || a[0].bound.size() != b[j].bound.size())
      continue;
    Pairing inside = so_far;
    inside.factors.clear();
    for (const int s : b[j].bound) inside.unknown.push_back(static_cast<Symbol>(s));
    const auto next = [&](const Pairing& pairing) {
      std::vector<bool> taken = used;
      taken[j] = true;
      return pair_terms(a.subspan(1), b, taken, pairing, visit);
    };
    if (pair_factors(a[0].factors, b[j].factors, inside, false, next)) return true;
  }
  return false;
}

/// Each branch beside one of the other's: what it is covered by is looked for anew.
bool Certifier::pair_branches(std::span<const certified::Branch> a, std::span<const certified::Branch> b,
                              const Pairing& so_far, const Visit& visit) {
  if (++steps_ > kMostPairings) return false;
  if (a.empty()) return visit(so_far);
  for (const certified::Branch& other : b) {
    if (a[0].value.size() != other.value.size()) continue;
    Pairing inside = so_far;
    for (const int s : other.bound) inside.unknown.push_back(static_cast<Symbol>(s));
    if (pair_terms(a[0].value, other.value, std::vector<bool>(other.value.size()), inside,
                   [&](const Pairing& next) { return pair_branches(a.subspan(1), b, next, visit); }))
      return true;
  }
  return false;
}

std::optional<Member> Certifier::member_for(const certified::Term& first, const certified::Term& term,
                                            std::size_t place, certified::Trial& trial) {
  if (first.bound.size() != term.bound.size() || first.factors.size() != term.factors.size()) return std::nullopt;
  const std::vector<Symbol> from_bound(first.bound.begin(), first.bound.end()),
      to_bound(term.bound.begin(), term.bound.end());
  std::optional<Member> result;
  const auto attempt = [&](const Pairing& pairing) {
    SymbolMap map = solved(pairing.equations, pairing.unknown);
    std::vector<Symbol> missing, unused;
    for (const Symbol s : to_bound) {
      if (!map.contains(s)) missing.push_back(s);
    }
    for (const Symbol s : from_bound) {
      const bool is_used =
          std::ranges::any_of(to_bound, [&](Symbol t) { return map.contains(t) && symbols_.mentions(map.at(t), s); });
      if (!is_used) unused.push_back(s);
    }
    if (missing.size() > unused.size()) return false;
    SymbolMap more;
    for (std::size_t m = 0; m < missing.size(); ++m) more.emplace(missing[m], Polynomial::symbol(unused[m]));
    Member member{place, {}, {}, pairing.factors};
    std::vector<std::pair<Polynomial, Polynomial>> back;
    for (const Symbol t : to_bound) {
      const auto value = more.contains(t) ? std::optional(more.at(t)) : put(map.at(t), more);
      if (!value) return false;
      member.map.push_back(certified_of(*value));
      back.emplace_back(*value, Polynomial::symbol(t));
    }
    const SymbolMap inverse = solved(back, from_bound);
    for (const Symbol f : from_bound) {
      if (!inverse.contains(f)) return false;
      member.inverse.push_back(certified_of(inverse.at(f)));
    }
    if (!trial.fits(first, term, member)) return false;
    result = std::move(member);
    return true;
  };
  Pairing start;
  start.unknown = to_bound;
  steps_ = 0;
  if (!pair_factors(first.factors, term.factors, start, true, attempt)) return std::nullopt;
  return result;
}

certified::Groups Certifier::groups(const std::vector<certified::Symbol>& symbols,
                                    const std::vector<certified::Fact>& facts,
                                    const std::vector<certified::Term>& terms, certified::Trial& trial) {
  mirror(symbols);
  mirror(facts);
  const std::string key = KeyOf(state()).add(terms).text();
  if (const auto known = known_groups_.find(key); known != known_groups_.end()) return known->second;
  certified::Groups found = found_groups(symbols, terms, trial);
  known_groups_.emplace(key, found);
  return found;
}

certified::Groups Certifier::found_groups(const std::vector<certified::Symbol>& symbols,
                                          const std::vector<certified::Term>& terms, certified::Trial& trial) {
  certified::Groups result;
  std::vector<bool> gone(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (gone[i]) continue;
    std::vector<Member> group(1);
    group[0].term = i;
    bool is_done = trial.cancels(terms, group);
    for (std::size_t j = i + 1; j < terms.size() && !is_done; ++j) {
      if (gone[j]) continue;
      mirror(symbols);  // A trial asks too, with symbols of its own.
      auto member = member_for(terms[i], terms[j], j, trial);
      if (!member) continue;
      const bool is_opposite =
          terms[i].numerator == -terms[j].numerator && terms[i].denominator == terms[j].denominator;
      if (is_opposite && trial.cancels(terms, {group[0], *member})) {
        group = {group[0], *std::move(member)};
        is_done = true;
        break;
      }
      group.push_back(*std::move(member));
    }
    if (!is_done) is_done = group.size() > 1 && trial.cancels(terms, group);
    if (!is_done) return result;
    for (const Member& member : group) gone[member.term] = true;
    result.push_back(std::move(group));
  }
  return result;
}

std::optional<certified::Cover> Certifier::cover(const std::vector<certified::Symbol>& symbols,
                                                 const std::vector<certified::Fact>& facts,
                                                 const certified::Branch& branch,
                                                 const std::vector<certified::Branch>& others,
                                                 certified::Trial& trial) {
  mirror(symbols);
  mirror(facts);
  const std::string key = KeyOf(state()).add(std::span(&branch, 1)).add(others).text();
  if (const auto known = known_covers_.find(key); known != known_covers_.end()) return known->second;
  auto found = found_cover(symbols, branch, others, trial);
  known_covers_.emplace(key, found);
  return found;
}

std::optional<certified::Cover> Certifier::found_cover(const std::vector<certified::Symbol>& symbols,
                                                       const certified::Branch& branch,
                                                       const std::vector<certified::Branch>& others,
                                                       certified::Trial& trial) {
  for (std::size_t o = 0; o < others.size(); ++o) {
    const certified::Branch& other = others[o];
    if (other.value.size() != branch.value.size()) continue;
    mirror(symbols);
    const std::vector<Symbol> unknown(other.bound.begin(), other.bound.end());
    std::optional<certified::Cover> result;
    const auto attempt = [&](const Pairing& pairing) {
      SymbolMap map = solved(pairing.equations, pairing.unknown);
      std::erase_if(map, [&](const auto& entry) { return std::ranges::find(unknown, entry.first) == unknown.end(); });
      // What the value does not determine: a bound that the guards give.
      for (const Symbol symbol : unknown) {
        for (const certified::Fact& guard : other.guards) {
          if (map.contains(symbol)) break;
          const auto value = put(polynomial_of(guard.value), map);
          const auto part = value ? linear_in(symbols_, *value, symbol) : std::nullopt;
          if (part && part->sign == 1) map.emplace(symbol, -part->rest);
        }
        if (!map.contains(symbol)) return false;
      }
      certified::Cover cover{o, {}};
      for (const Symbol symbol : unknown) {
        const auto value = put(map.at(symbol), map);
        if (!value) return false;
        cover.map.push_back(certified_of(*value));
      }
      if (!trial.covers(branch, other, cover.map)) return false;
      result = std::move(cover);
      return true;
    };
    Pairing start;
    start.unknown = unknown;
    steps_ = 0;
    if (pair_terms(branch.value, other.value, std::vector<bool>(other.value.size()), start, attempt)) return result;
  }
  return std::nullopt;
}

std::optional<std::vector<FactUse>> Certifier::combination(const std::vector<certified::Fact>& facts) {
  std::vector<Fact> given;
  for (const certified::Fact& fact : facts) given.push_back({polynomial_of(fact.value), fact.is_equality});
  try {
    const auto found = refute(given, pivots_);
    if (!found) return std::nullopt;
    std::vector<FactUse> uses;
    for (const auto& [place, weight] : *found)
      uses.push_back(
          {.source = 'F', .at = place, .numerator = weight.numerator(), .denominator = weight.denominator()});
    return uses;
  } catch (const Overflow&) {
    return std::nullopt;
  }
}

}  // namespace rewright::theorem
