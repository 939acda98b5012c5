#include "egraph/sizes.h"

#include <algorithm>
#include <numeric>

namespace rewright::egraph {
namespace {

using Kind = Constraint::Kind;
constexpr std::uint32_t kNone = HashIndex::kNone;

SymbolicDim quotient(const SymbolicDim& value, std::int64_t divisor) { return floor_divide(value, divisor); }

bool relation_to_zero(Kind kind, std::int64_t difference) {
  return kind == Kind::kEqual ? difference == 0 : kind == Kind::kNotEqual ? difference != 0 : difference >= 0;
}

}  // namespace

void Sizes::clear() {
  forms_.clear();
  terms_.clear();
  atoms_.clear();
  form_index_.clear();
  atom_index_.clear();
  solved_.clear();
  normal_.clear();
  rest_.clear();
  tensor_sizes_ = 0;
  any_solved_ = contradictory_ = false;
  (void)constant(0);
}

DimId Sizes::intern(std::int64_t constant, std::span<const Term> terms) {
  std::uint64_t hash = mix(0, static_cast<std::uint64_t>(constant));
  for (const Term& term : terms) hash = mix(mix(hash, term.atom), static_cast<std::uint64_t>(term.coefficient));
  const auto found = form_index_.find(hash, [&](std::uint32_t id) {
    return forms_[id].constant == constant && std::ranges::equal(this->terms(id), terms);
  });
  if (found != kNone) return found;
  const auto id = static_cast<DimId>(forms_.size());
  forms_.push_back({constant, static_cast<std::uint32_t>(terms_.size()), static_cast<std::uint32_t>(terms.size())});
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  form_index_.insert(hash, id);
  return id;
}

Sizes::AtomId Sizes::atom(const Atom& atom) {
  const std::uint64_t hash =
      mix(mix(static_cast<std::uint64_t>(atom.kind), atom.left), static_cast<std::uint64_t>(atom.right));
  const auto found = atom_index_.find(hash, [&](std::uint32_t id) { return atoms_[id] == atom; });
  if (found != kNone) return found;
  atoms_.push_back(atom);
  atom_index_.insert(hash, static_cast<AtomId>(atoms_.size() - 1));
  return static_cast<AtomId>(atoms_.size() - 1);
}

DimId Sizes::of_atom(AtomId atom, std::int64_t coefficient) {
  if (coefficient == 0) return 0;
  const Term term{atom, coefficient};
  return intern(0, {&term, 1});
}

DimId Sizes::constant(std::int64_t value) { return intern(value, {}); }
DimId Sizes::variable(std::uint32_t index) { return of_atom(atom({AtomKind::kVariable, index, 0}), 1); }

std::optional<std::int64_t> Sizes::number(DimId dim) const {
  if (forms_[dim].count > 0) return std::nullopt;
  return forms_[dim].constant;
}

DimId Sizes::combine(std::int64_t factor_a, DimId a, std::int64_t factor_b, DimId b) {
  std::vector<Term> sum;
  sum.reserve(forms_[a].count + forms_[b].count);
  const auto left = terms(a), right = terms(b);
  std::size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    Term term;
    if (j == right.size() || (i < left.size() && left[i].atom < right[j].atom)) {
      term = {left[i].atom, factor_a * left[i].coefficient};
      ++i;
    } else if (i == left.size() || right[j].atom < left[i].atom) {
      term = {right[j].atom, factor_b * right[j].coefficient};
      ++j;
    } else {
      term = {left[i].atom, factor_a * left[i].coefficient + factor_b * right[j].coefficient};
      ++i, ++j;
    }
    if (term.coefficient != 0) sum.push_back(term);
  }
  return intern(factor_a * forms_[a].constant + factor_b * forms_[b].constant, sum);
}

void Sizes::factors_of(AtomId atom, std::vector<AtomId>& factors) const {
  if (atoms_[atom].kind != AtomKind::kProduct) {
    factors.push_back(atom);
    return;
  }
  factors_of(atoms_[atom].left, factors);
  factors_of(static_cast<AtomId>(atoms_[atom].right), factors);
}

DimId Sizes::multiply_atoms(AtomId a, AtomId b) {
  std::vector<AtomId> factors;
  factors_of(a, factors);
  factors_of(b, factors);
  std::ranges::sort(factors);
  AtomId chain = factors.front();
  for (std::size_t i = 1; i < factors.size(); ++i) chain = atom({AtomKind::kProduct, chain, factors[i]});
  return of_atom(chain, 1);
}

DimId Sizes::multiply(DimId a, DimId b) {
  if (const auto factor = number(a)) return combine(*factor, b, 0, 0);
  if (const auto factor = number(b)) return combine(*factor, a, 0, 0);
  const std::vector<Term> left(terms(a).begin(), terms(a).end()), right(terms(b).begin(), terms(b).end());
  const std::int64_t constant_a = forms_[a].constant, constant_b = forms_[b].constant;
  // (A + a)(B + b) = AB + a(B + b) + b(A + a) - ab
  DimId product = combine(1, combine(constant_a, b, constant_b, a), -1, constant(constant_a * constant_b));
  for (const Term& x : left) {
    for (const Term& y : right)
      product = combine(1, product, x.coefficient * y.coefficient, multiply_atoms(x.atom, y.atom));
  }
  return product;
}

DimId Sizes::floor_divide(DimId value, std::int64_t divisor) {
  // floor((k*q + r) / k) = q + floor(r / k): what is divisible leaves the quotient.
  std::vector<Term> whole, rest;
  for (const Term& term : terms(value)) {
    const std::int64_t outside = rewright::floor_divide(term.coefficient, divisor);
    if (outside != 0) whole.push_back({term.atom, outside});
    if (const std::int64_t inside = term.coefficient - divisor * outside; inside != 0)
      rest.push_back({term.atom, inside});
  }
  const std::int64_t number = forms_[value].constant, outside = rewright::floor_divide(number, divisor);
  const DimId quotient = intern(outside, whole);
  if (rest.empty()) return quotient;
  const DimId dividend = intern(number - divisor * outside, rest);
  return combine(1, quotient, 1, of_atom(atom({AtomKind::kQuotient, dividend, divisor}), 1));
}

// --- what follows --------------------------------------------------------------------------------------------------

DimId Sizes::normalise(DimId dim) {
  if (!any_solved_) return dim;
  if (dim < normal_.size() && normal_[dim] != kNone) return normal_[dim];
  DimId sum = constant(forms_[dim].constant);
  for (std::size_t i = 0; i < forms_[dim].count; ++i) {
    const Term term = terms(dim)[i];
    const Atom atom = atoms_[term.atom];
    DimId value = 0;
    switch (atom.kind) {
      case AtomKind::kVariable:
        value = atom.left < solved_.size() && solved_[atom.left] ? *solved_[atom.left] : of_atom(term.atom, 1);
        break;
      case AtomKind::kQuotient: value = floor_divide(normalise(atom.left), atom.right); break;
      case AtomKind::kProduct:
        value = multiply(normalise(of_atom(atom.left, 1)), normalise(of_atom(static_cast<AtomId>(atom.right), 1)));
        break;
    }
    sum = combine(1, sum, term.coefficient, value);
  }
  if (normal_.size() <= dim) normal_.resize(forms_.size(), kNone);
  return normal_[dim] = sum;
}

bool Sizes::occurs_inside(std::uint32_t variable, const Atom& atom) const {
  switch (atom.kind) {
    case AtomKind::kVariable: return atom.left == variable;
    case AtomKind::kQuotient:
      return std::ranges::any_of(terms(atom.left),
                                 [&](const Term& term) { return occurs_inside(variable, atoms_[term.atom]); });
    case AtomKind::kProduct:
      return occurs_inside(variable, atoms_[atom.left]) ||
             occurs_inside(variable, atoms_[static_cast<AtomId>(atom.right)]);
  }
  return false;
}

/// 2*x - 2*y = 0 says x - y = 0.
DimId Sizes::without_common_factor(DimId difference) {
  std::int64_t divisor = forms_[difference].constant;
  for (const Term& term : terms(difference)) divisor = std::gcd(divisor, term.coefficient);
  return divisor > 1 ? floor_divide(difference, divisor) : difference;
}

/// difference = 0, solved for the last variable that stands in it once, with coefficient 1 or -1.
void Sizes::solve(DimId difference) {
  const Term* chosen = nullptr;
  std::uint32_t variable = 0;
  for (const Term& term : terms(difference)) {
    const Atom& candidate = atoms_[term.atom];
    if (candidate.kind != AtomKind::kVariable || (term.coefficient != 1 && term.coefficient != -1)) continue;
    if (chosen && candidate.left < variable) continue;
    const bool alone = std::ranges::none_of(terms(difference), [&](const Term& other) {
      return other.atom != term.atom && occurs_inside(candidate.left, atoms_[other.atom]);
    });
    if (!alone) continue;
    chosen = &term;
    variable = candidate.left;
  }
  if (!chosen) return;
  const std::int64_t sign = chosen->coefficient;
  const DimId value = combine(-sign, difference, 1, of_atom(chosen->atom, 1));  // -sign * (d - sign*v) = v - sign*d
  if (solved_.size() <= variable) solved_.resize(variable + 1);
  // Earlier solutions that mention the variable are put right by normalising them with this one alone.
  std::vector<std::optional<DimId>> earlier(variable + 1);
  earlier[variable] = value;
  std::swap(earlier, solved_);
  any_solved_ = true;
  normal_.clear();
  for (auto& solution : earlier) {
    if (solution) solution = normalise(*solution);
  }
  std::swap(earlier, solved_);
  if (solved_.size() <= variable) solved_.resize(variable + 1);
  solved_[variable] = value;
  normal_.clear();
}

void Sizes::assume(std::span<const Condition> known) {
  for (const Condition& condition : known) {
    if (condition.kind != Kind::kEqual || condition.left == condition.right) continue;
    const DimId left = normalise(condition.left), right = normalise(condition.right);
    if (left != right) solve(without_common_factor(combine(1, left, -1, right)));
  }
  for (const Condition& condition : known) {
    const Condition normal{condition.kind, normalise(condition.left), normalise(condition.right)};
    const auto truth = decided(normal);
    if (truth && !*truth) contradictory_ = true;
    if (!truth && std::ranges::find(rest_, normal) == rest_.end()) rest_.push_back(normal);
  }
}

std::optional<bool> Sizes::decided(const Condition& condition) {
  if (condition.kind == Kind::kDivides) {
    const auto divisor = number(condition.left);
    if (!divisor || *divisor <= 0) return std::nullopt;
    for (const Term& term : terms(condition.right)) {
      if (term.coefficient % *divisor != 0) return std::nullopt;
    }
    return forms_[condition.right].constant % *divisor == 0;
  }
  if (condition.left == condition.right) return condition.kind != Kind::kNotEqual;
  const DimId difference = combine(1, condition.left, -1, condition.right);
  if (const auto value = number(difference)) return relation_to_zero(condition.kind, *value);
  if (condition.kind == Kind::kAtLeast) return std::nullopt;
  // a*x + b*y + ... = c has no integer solution where the greatest common divisor of a, b, ... does not divide c.
  std::int64_t divisor = 0;
  for (const Term& term : terms(difference)) divisor = std::gcd(divisor, term.coefficient);
  if (forms_[difference].constant % divisor != 0) return condition.kind == Kind::kNotEqual;
  return std::nullopt;
}

/// The least value that it can be shown to have, never below 0: floor_divide() leaves nothing negative in a dividend.
std::int64_t Sizes::least(const Atom& atom) const {
  switch (atom.kind) {
    case AtomKind::kVariable: return atom.left < tensor_sizes_ ? 1 : 0;
    case AtomKind::kQuotient: return rewright::floor_divide(least(atom.left).value_or(0), atom.right);
    case AtomKind::kProduct: break;
  }
  std::int64_t product = 0;
  const bool overflow =
      __builtin_mul_overflow(least(atoms_[atom.left]), least(atoms_[static_cast<AtomId>(atom.right)]), &product);
  return overflow ? 0 : product;
}

/// The least value that it can be shown to have; nothing if it may be arbitrarily small.
std::optional<std::int64_t> Sizes::least(DimId dim) const {
  std::int64_t sum = forms_[dim].constant;
  for (const Term& term : terms(dim)) {
    std::int64_t product = 0;
    if (term.coefficient < 0 || __builtin_mul_overflow(term.coefficient, least(atoms_[term.atom]), &product) ||
        __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

bool Sizes::one_implies(const Condition& known, const Condition& wanted) {
  const DimId have = combine(1, known.left, -1, known.right), want = combine(1, wanted.left, -1, wanted.right);
  const auto same_up_to_sign = [&] { return want == have || want == combine(-1, have, 0, 0); };
  switch (wanted.kind) {
    case Kind::kEqual: return known.kind == Kind::kEqual && same_up_to_sign();
    case Kind::kNotEqual:
      if (known.kind == Kind::kAtLeast) {
        const DimId one = constant(1);
        if (never_negative(combine(1, combine(1, want, -1, have), -1, one)) ||
            never_negative(combine(-1, combine(1, want, 1, have), -1, one)))
          return true;
      }
      return known.kind == Kind::kNotEqual && same_up_to_sign();
    case Kind::kAtLeast:
      if (known.kind == Kind::kEqual)
        return never_negative(combine(1, want, -1, have)) || never_negative(combine(1, want, 1, have));
      return known.kind == Kind::kAtLeast && never_negative(combine(1, want, -1, have));
    case Kind::kDivides: {
      const auto from = number(known.left), to = number(wanted.left);
      if (known.kind != Kind::kDivides || !from || !to || *to <= 0 || *from % *to != 0) return false;
      return decided({Kind::kDivides, wanted.left, combine(1, wanted.right, -1, known.right)}).value_or(false);
    }
  }
  return false;
}

bool Sizes::implies(const Condition& condition) {
  if (contradictory_) return true;
  if (condition.kind == Kind::kAtLeast && never_negative(combine(1, condition.left, -1, condition.right))) return true;
  const Condition wanted{condition.kind, normalise(condition.left), normalise(condition.right)};
  if (const auto truth = decided(wanted)) return *truth;
  if (wanted.kind == Kind::kAtLeast && never_negative(combine(1, wanted.left, -1, wanted.right))) return true;
  return std::ranges::any_of(rest_, [&](const Condition& known) { return one_implies(known, wanted); });
}

SymbolicDim Sizes::symbolic(DimId dim, std::span<const SizeVar> names) const {
  SymbolicDim sum(forms_[dim].constant);
  const auto of_atom = [&](const auto& self, AtomId id) -> SymbolicDim {
    const Atom& atom = atoms_[id];
    switch (atom.kind) {
      case AtomKind::kVariable: return SymbolicDim::variable(names[atom.left]);
      case AtomKind::kQuotient: return quotient(symbolic(atom.left, names), atom.right);
      case AtomKind::kProduct: break;
    }
    return self(self, atom.left) * self(self, static_cast<AtomId>(atom.right));
  };
  for (const Term& term : terms(dim)) sum = sum + SymbolicDim(term.coefficient) * of_atom(of_atom, term.atom);
  return sum;
}

}  // namespace rewright::egraph
