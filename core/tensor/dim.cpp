// Arithmetic on sizes: the linear normal form, cuts, and the constraints over both.
#include <rewright/tensor/dim.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace rewright {

// --- CutDim --------------------------------------------------------------------------------------------------

bool operator==(const CutDim& a, const CutDim& b) {
  if (a.extent_ != b.extent_) return false;
  if (a.cut_ == b.cut_) return true;
  return a.cut_ && b.cut_ && *a.cut_ == *b.cut_;
}

CutDim join(const CutDim& left, const CutDim& right) {
  CutDim joined(left.extent_ + right.extent_);
  joined.cut_ = std::make_shared<const std::pair<CutDim, CutDim>>(left, right);
  return joined;
}

// --- SymbolicDim ---------------------------------------------------------------------------------------------

namespace {

using Atom = SymbolicDim::Atom;
using Atoms = SymbolicDim::Atoms;

// What is read has numbers up to 2^41 (dim_bounds.h). Shape rules that make 2^63 of them speak of no tensor that there
// can be; their arithmetic goes on modulo 2^64.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::uint64_t magnitude(std::int64_t a) {
  return a < 0 ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
}

int compare(const Atom& a, const Atom& b) { return a.is_like(b) ? 0 : a.key().compare(b.key()); }

/// Calls `visit(atom, coefficient)` for every atom of a + factor * b, in order, coefficients of 0 included; `atom` is
/// that of a or b.
template <class Visit>
void for_each_of_sum(const Atoms& a, const Atoms& b, std::int64_t factor, Visit visit) {
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : j == b.size() ? -1 : compare(a[i], b[j]);
    if (order < 0) {
      visit(a[i], a[i].coefficient);
    } else if (order > 0) {
      visit(b[j], times(factor, b[j].coefficient));
    } else {
      visit(a[i], plus(a[i].coefficient, times(factor, b[j].coefficient)));
    }
    i += order <= 0 ? 1 : 0;
    j += order >= 0 ? 1 : 0;
  }
}

Atoms sum_of(const Atoms& a, const Atoms& b, std::int64_t factor) {
  Atoms sum;
  sum.reserve(a.size() + b.size());
  for_each_of_sum(a, b, factor, [&](const Atom& atom, std::int64_t coefficient) {
    if (coefficient == 0) return;
    sum.push_back(atom);
    sum.back().coefficient = coefficient;
  });
  return sum;
}

std::string term_text(const std::string& key, std::uint64_t factor) {
  return factor == 1 ? key : fmt::format("{}*{}", factor, key);
}

/// The atoms that a product is made of, each with coefficient 1.
void collect_factors(const Atom& atom, Atoms& factors) {
  if (atom.kind != Atom::Kind::kProduct) {
    factors.push_back(atom);
    factors.back().coefficient = 1;
    return;
  }
  for (const auto& part : {atom.left, atom.right})
    for (const Atom& inner : part->atoms()) collect_factors(inner, factors);
}

}  // namespace

const SymbolicDim::Atoms& SymbolicDim::no_atoms() {
  static const Atoms kNone;
  return kNone;
}

SymbolicDim SymbolicDim::of(std::int64_t constant, Atoms atoms) {
  SymbolicDim dim(constant);
  if (!atoms.empty()) dim.atoms_ = std::make_shared<const Atoms>(std::move(atoms));
  return dim;
}

SymbolicDim SymbolicDim::variable(SizeVar variable) {
  Atom atom;
  atom.variable = variable;
  return of(0, {std::move(atom)});
}

std::optional<SizeVar> SymbolicDim::variable() const {
  if (constant_ != 0 || atoms().size() != 1 || atoms().front().coefficient != 1) return std::nullopt;
  return atoms().front().variable;
}

std::optional<std::int64_t> SymbolicDim::evaluate(const DimBinding& binding) const {
  std::int64_t sum = constant_;
  for (const Atom& atom : atoms()) {
    std::optional<std::int64_t> value;
    switch (atom.kind) {
      case Atom::Kind::kVariable:
        if (binding) value = binding(*atom.variable);
        break;
      case Atom::Kind::kQuotient:
        value = atom.left->evaluate(binding);
        if (value) value = rewright::floor_divide(*value, atom.divisor);
        break;
      case Atom::Kind::kProduct: {
        const auto left = atom.left->evaluate(binding);
        const auto right = atom.right->evaluate(binding);
        std::int64_t product = 0;
        if (left && right && !__builtin_mul_overflow(*left, *right, &product)) value = product;
        break;
      }
    }
    std::int64_t scaled = 0;
    if (!value || __builtin_mul_overflow(*value, atom.coefficient, &scaled) ||
        __builtin_add_overflow(sum, scaled, &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

SymbolicDim SymbolicDim::substitute(const std::function<std::optional<SymbolicDim>(SizeVar)>& replace) const {
  SymbolicDim result(constant_);
  Atoms kept;
  for (const Atom& atom : atoms()) {
    std::optional<SymbolicDim> value;
    switch (atom.kind) {
      case Atom::Kind::kVariable: value = replace(*atom.variable); break;
      case Atom::Kind::kQuotient: value = floor_divide(atom.left->substitute(replace), atom.divisor); break;
      case Atom::Kind::kProduct: value = atom.left->substitute(replace) * atom.right->substitute(replace); break;
    }
    if (value)
      result = result + SymbolicDim(atom.coefficient) * *value;
    else
      kept.push_back(atom);
  }
  if (kept.size() == atoms().size() && !cut_) return *this;
  if (!kept.empty()) result = result + of(0, std::move(kept));
  if (cut_) {
    result.cut_ = std::make_shared<const std::pair<SymbolicDim, SymbolicDim>>(cut_->first.substitute(replace),
                                                                              cut_->second.substitute(replace));
  }
  return result;
}

std::vector<SizeVar> SymbolicDim::variables() const {
  std::set<SizeVar> all;
  for (const Atom& atom : atoms()) {
    if (atom.variable) all.insert(*atom.variable);
    for (const auto& part : {atom.left, atom.right}) {
      if (!part) continue;
      for (const SizeVar variable : part->variables()) all.insert(variable);
    }
  }
  return {all.begin(), all.end()};
}

SymbolicDim operator+(const SymbolicDim& a, const SymbolicDim& b) {
  if (a.atoms_ && b.atoms_) return SymbolicDim::of(plus(a.constant_, b.constant_), sum_of(*a.atoms_, *b.atoms_, 1));
  SymbolicDim sum(plus(a.constant_, b.constant_));
  sum.atoms_ = a.atoms_ ? a.atoms_ : b.atoms_;
  return sum;
}

SymbolicDim operator-(const SymbolicDim& a, const SymbolicDim& b) {
  SymbolicDim difference(minus(a.constant_, b.constant_));
  if (a.atoms_ == b.atoms_) return difference;
  if (b.atoms_) return SymbolicDim::of(difference.constant_, sum_of(a.atoms(), *b.atoms_, -1));
  difference.atoms_ = a.atoms_;
  return difference;
}

SymbolicDim operator*(const SymbolicDim& a, const SymbolicDim& b) {
  if (const auto factor = a.constant()) {
    SymbolicDim product(times(b.constant_, *factor));
    if (*factor == 0 || !b.atoms_) return product;
    if (*factor == 1) {
      product.atoms_ = b.atoms_;
      return product;
    }
    SymbolicDim::Atoms atoms = *b.atoms_;
    for (Atom& atom : atoms) atom.coefficient = times(atom.coefficient, *factor);
    return SymbolicDim::of(product.constant_, std::move(atoms));
  }
  if (b.constant()) return b * a;
  // Neither is a number: multiply out, so that equal products compare equal. A product of atoms becomes one atom,
  // its factors in the order of their text.
  SymbolicDim product = SymbolicDim(a.constant_) * (b - SymbolicDim(b.constant_)) +
                        SymbolicDim(b.constant_) * (a - SymbolicDim(a.constant_)) +
                        SymbolicDim(times(a.constant_, b.constant_));
  for (const Atom& left : a.atoms()) {
    for (const Atom& right : b.atoms()) {
      Atoms factors;
      collect_factors(left, factors);
      collect_factors(right, factors);
      std::ranges::sort(factors, {}, &Atom::key);
      std::string text = factors.front().key();
      SymbolicDim chain = SymbolicDim::of(0, {factors.front()});
      for (std::size_t i = 1; i < factors.size(); ++i) {
        text += "*" + factors[i].key();
        Atom atom;
        atom.kind = Atom::Kind::kProduct;
        atom.left = std::make_shared<const SymbolicDim>(std::move(chain));
        atom.right = std::make_shared<const SymbolicDim>(SymbolicDim::of(0, {factors[i]}));
        atom.text = text;
        chain = SymbolicDim::of(0, {std::move(atom)});
      }
      product = product + SymbolicDim(times(left.coefficient, right.coefficient)) * chain;
    }
  }
  return product;
}

bool operator==(const SymbolicDim& a, const SymbolicDim& b) {
  return a.constant_ == b.constant_ &&
         (a.atoms_ == b.atoms_ || std::ranges::equal(a.atoms(), b.atoms(), [](const Atom& x, const Atom& y) {
            return x.coefficient == y.coefficient && x.is_like(y);
          }));
}

SymbolicDim join(const SymbolicDim& left, const SymbolicDim& right) {
  SymbolicDim joined = left + right;
  joined.cut_ = std::make_shared<const std::pair<SymbolicDim, SymbolicDim>>(left, right);
  return joined;
}

SymbolicDim floor_divide(const SymbolicDim& value, std::int64_t divisor) {
  // floor((k*q + r) / k) = q + floor(r / k): what is divisible leaves the quotient.
  const std::int64_t constant = rewright::floor_divide(value.constant_, divisor);
  Atoms whole, rest;
  for (const SymbolicDim::Atom& atom : value.atoms()) {
    Atom outside = atom;
    outside.coefficient = rewright::floor_divide(atom.coefficient, divisor);
    Atom inside = atom;
    inside.coefficient = minus(atom.coefficient, times(divisor, outside.coefficient));
    if (outside.coefficient != 0) whole.push_back(std::move(outside));
    if (inside.coefficient != 0) rest.push_back(std::move(inside));
  }
  const SymbolicDim quotient = SymbolicDim::of(constant, std::move(whole));
  if (rest.empty()) return quotient;
  const SymbolicDim dividend = SymbolicDim::of(minus(value.constant_, times(divisor, constant)), std::move(rest));
  Atom atom;
  atom.kind = Atom::Kind::kQuotient;
  atom.left = std::make_shared<const SymbolicDim>(dividend);
  atom.divisor = divisor;
  atom.text = fmt::format("floor(({}) / {})", to_string(dividend), divisor);
  return quotient + SymbolicDim::of(0, {std::move(atom)});
}

std::string to_string(const SymbolicDim& dim) {
  std::string text;
  for (const SymbolicDim::Atom& atom : dim.atoms()) {
    const bool negative = atom.coefficient < 0;
    const std::string term = term_text(atom.key(), magnitude(atom.coefficient));
    if (text.empty()) {
      text = negative ? "-" + term : term;
    } else {
      text += (negative ? " - " : " + ") + term;
    }
  }
  const std::int64_t constant = dim.constant_term();
  if (text.empty()) return std::to_string(constant);
  if (constant > 0) text += fmt::format(" + {}", constant);
  if (constant < 0) text += fmt::format(" - {}", magnitude(constant));
  return text;
}

// --- constraints -------------------------------------------------------------------------------------------------

namespace {

bool relation_holds(Constraint::Kind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case Constraint::Kind::kEqual: return a == b;
    case Constraint::Kind::kNotEqual: return a != b;
    case Constraint::Kind::kAtLeast: return a >= b;
    case Constraint::Kind::kDivides: break;
  }
  return a > 0 && b % a == 0;
}

const char* sign_of(Constraint::Kind kind) {
  switch (kind) {
    case Constraint::Kind::kEqual: return "=";
    case Constraint::Kind::kNotEqual: return "!=";
    case Constraint::Kind::kAtLeast: return ">=";
    case Constraint::Kind::kDivides: break;
  }
  return "|";
}

}  // namespace

std::optional<bool> Constraint::holds(const DimBinding& binding) const {
  const auto a = left.evaluate(binding);
  const auto b = right.evaluate(binding);
  if (!a || !b) return std::nullopt;
  return relation_holds(kind, *a, *b);
}

std::optional<bool> Constraint::decided() const {
  if (kind == Kind::kDivides) {
    const auto divisor = left.constant();
    if (!divisor) return std::nullopt;
    for (const SymbolicDim::Atom& atom : right.atoms()) {
      if (atom.coefficient % *divisor != 0) return std::nullopt;
    }
    return right.constant_term() % *divisor == 0;
  }
  // a*x + b*y + ... = c has no integer solution where the greatest common divisor of a, b, ... does not divide c.
  const std::int64_t constant = minus(left.constant_term(), right.constant_term());
  std::uint64_t divisor = 0;
  for_each_of_sum(left.atoms(), right.atoms(), -1,
                  [&](const auto&, std::int64_t coefficient) { divisor = std::gcd(divisor, magnitude(coefficient)); });
  if (divisor == 0) return relation_holds(kind, constant, 0);
  if ((kind == Kind::kEqual || kind == Kind::kNotEqual) && magnitude(constant) % divisor != 0)
    return kind == Kind::kNotEqual;
  return std::nullopt;
}

std::string to_string(const Constraint& constraint) {
  return fmt::format("{} {} {}", to_string(constraint.left), sign_of(constraint.kind), to_string(constraint.right));
}

Result<Constraint> Constraint::parse(std::string_view text) {
  struct Relation {
    std::string_view sign;
    Kind kind;
    bool turned;
  };
  static constexpr Relation kRelations[] = {{"!=", Kind::kNotEqual, false},
                                            {">=", Kind::kAtLeast, false},
                                            {"<=", Kind::kAtLeast, true},
                                            {"|", Kind::kDivides, false},
                                            {"=", Kind::kEqual, false}};
  for (const Relation& relation : kRelations) {
    const std::size_t place = text.find(relation.sign);
    if (place == std::string_view::npos) continue;
    REWRIGHT_TRY(SymbolicDim left, SymbolicDim::parse(text.substr(0, place)));
    REWRIGHT_TRY(SymbolicDim right, SymbolicDim::parse(text.substr(place + relation.sign.size())));
    if (relation.turned) std::swap(left, right);
    if (relation.kind == Kind::kDivides && left.constant().value_or(0) <= 0) {
      return make_error(ErrorCode::kParse, "condition '{}': the divisor must be a positive number", text);
    }
    return Constraint{relation.kind, std::move(left), std::move(right)};
  }
  return make_error(ErrorCode::kParse, "condition '{}': expected one of =, !=, >=, <= or | between two sizes", text);
}

namespace detail {

std::optional<Error> check_constraint(Constraint::Kind kind, std::int64_t a, std::int64_t b, std::string_view what) {
  if (relation_holds(kind, a, b)) return std::nullopt;
  switch (kind) {
    case Constraint::Kind::kEqual: return shape_error("{} must be equal, but are {} and {}", what, a, b);
    case Constraint::Kind::kNotEqual: return shape_error("{} must differ, but are both {}", what, a);
    case Constraint::Kind::kAtLeast: return shape_error("{}: {} must be at least {}", what, a, b);
    case Constraint::Kind::kDivides: break;
  }
  return shape_error("{}: {} must divide {}", what, a, b);
}

}  // namespace detail
}  // namespace rewright
