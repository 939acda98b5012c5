#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace rewright::loop {
namespace {

using Kind = IndexExpr::Kind;

constexpr std::int64_t kMost = std::int64_t{1} << 40;

bool fits(Int128 number) { return -kMost <= number && number <= kMost; }

std::optional<LinearIndex> scaled(const LinearIndex& form, std::int64_t factor) { return combined({}, form, factor); }

std::optional<LinearIndex> product(const LinearIndex& a, const LinearIndex& b) {
  if (a.terms.empty()) return scaled(b, a.constant);
  return b.terms.empty() ? scaled(a, b.constant) : std::nullopt;
}

}  // namespace

void LinearIndex::add(const IndexExpr& atom, std::int64_t coefficient) {
  const auto at = std::ranges::find(terms, atom, &decltype(terms)::value_type::first);
  if (at == terms.end()) {
    if (coefficient != 0) terms.emplace_back(atom, coefficient);
  } else if ((at->second += coefficient) == 0) {
    terms.erase(at);
  }
}

std::int64_t LinearIndex::coefficient(const IndexExpr& atom) const {
  const auto at = std::ranges::find(terms, atom, &decltype(terms)::value_type::first);
  return at == terms.end() ? 0 : at->second;
}

IndexExpr LinearIndex::index() const {
  IndexExpr sum = 0;
  for (const auto& [atom, coefficient] : terms) {
    const bool subtract = coefficient < 0 && !(sum == IndexExpr(0));
    sum = subtract ? sum - atom * -coefficient : sum + atom * coefficient;
  }
  return constant < 0 && !terms.empty() ? sum - IndexExpr(-constant) : sum + IndexExpr(constant);
}

std::optional<LinearIndex> combined(const LinearIndex& a, const LinearIndex& b, std::int64_t factor) {
  LinearIndex sum = a;
  if (!fits(a.constant + Int128{factor} * b.constant)) return std::nullopt;
  sum.constant += factor * b.constant;
  for (const auto& [atom, coefficient] : b.terms) {
    if (!fits(Int128{factor} * coefficient) || !fits(sum.coefficient(atom) + Int128{factor} * coefficient)) {
      return std::nullopt;
    }
    sum.add(atom, factor * coefficient);
  }
  return sum;
}

std::optional<LinearIndex> linear(const IndexExpr& index) {
  if (const auto number = index.number()) return fits(*number) ? std::optional(LinearIndex{*number}) : std::nullopt;
  if (index.kind() == Kind::kSize) return std::nullopt;
  if (index.kind() == Kind::kAdd || index.kind() == Kind::kSubtract || index.kind() == Kind::kMultiply) {
    const auto a = linear(index.operands()[0]), b = linear(index.operands()[1]);
    if (!a || !b) return std::nullopt;
    if (index.kind() == Kind::kMultiply) return product(*a, *b);
    return combined(*a, *b, index.kind() == Kind::kAdd ? 1 : -1);
  }
  return LinearIndex{0, {{index, 1}}};
}

std::optional<IndexRange> range_of(const LinearIndex& form, const AxisRanges& axes) {
  IndexRange sum{form.constant, form.constant};
  for (const auto& [atom, coefficient] : form.terms) {
    const auto range = rewright::range_of(atom, axes);
    if (!range) return std::nullopt;
    const Int128 a = Int128{range->low} * coefficient, b = Int128{range->high} * coefficient;
    const Int128 low = sum.low + std::min(a, b), high = sum.high + std::max(a, b);
    constexpr Int128 kGreatest = Int128{1} << 62;
    if (low < -kGreatest || high > kGreatest) return std::nullopt;
    sum = {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
  }
  return sum;
}

// --- simplification --------------------------------------------------------------------------------------------

namespace {

/// form = n * quotient + rest, the rest without a term that n divides, its constant in 0 .. n - 1.
struct Division {
  LinearIndex quotient;
  LinearIndex rest;
};

Division divided(const LinearIndex& form, std::int64_t n) {
  Division result;
  result.quotient.constant = floor_divide(form.constant, n);
  result.rest.constant = form.constant - result.quotient.constant * n;
  for (const auto& [atom, coefficient] : form.terms) {
    LinearIndex& part = coefficient % n == 0 ? result.quotient : result.rest;
    part.terms.emplace_back(atom, coefficient % n == 0 ? coefficient / n : coefficient);
  }
  return result;
}

bool lies_within(const LinearIndex& form, std::int64_t n, const AxisRanges& axes) {
  const auto range = range_of(form, axes);
  return range && range->low >= 0 && range->high < n;
}

class Simplification {
 public:
  explicit Simplification(const AxisRanges& axes) : axes_(axes) {}

  /// Nothing where there is no linear form.
  std::optional<LinearIndex> form(const IndexExpr& index) const {
    const auto outer = linear(index);
    if (!outer) return std::nullopt;
    std::optional<LinearIndex> sum = LinearIndex{outer->constant};
    for (const auto& [atom, coefficient] : outer->terms) {
      const auto part = atom_form(atom);
      sum = part && sum ? combined(*sum, *part, coefficient) : std::nullopt;
    }
    if (sum) join_remainders(*sum);
    return sum;
  }

 private:
  std::optional<LinearIndex> atom_form(const IndexExpr& atom) const {
    if (atom.kind() == Kind::kData) return data(atom);
    if (atom.kind() != Kind::kFloor && atom.kind() != Kind::kModulo) return LinearIndex{0, {{atom, 1}}};
    const auto dividend = form(atom.operands()[0]);
    const auto divisor = form(atom.operands()[1]);
    if (!dividend || !divisor || !divisor->terms.empty() || divisor->constant <= 0) return std::nullopt;
    return atom.kind() == Kind::kFloor ? quotient(*dividend, divisor->constant) : rest(*dividend, divisor->constant);
  }
  std::optional<LinearIndex> data(const IndexExpr& atom) const {
    std::vector<IndexExpr> parts;
    for (const IndexExpr& part : atom.operands()) parts.push_back(simplified(part, axes_));
    const IndexExpr low = parts[0], high = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
    return LinearIndex{0, {{IndexExpr::data(atom.buffer(), std::move(parts), low, high), 1}}};
  }
  std::optional<LinearIndex> quotient(const LinearIndex& dividend, std::int64_t n) const {
    auto [whole, rest] = divided(dividend, n);
    if (lies_within(rest, n, axes_)) return whole;
    std::int64_t common = n;
    for (const auto& [atom, coefficient] : rest.terms) common = std::gcd(common, coefficient);
    for (auto& [atom, coefficient] : rest.terms) coefficient /= common;
    rest.constant = floor_divide(rest.constant, common);
    n /= common;
    const auto& terms = rest.terms;
    if (terms.size() == 1 && rest.constant == 0 && terms[0].second == 1 && terms[0].first.kind() == Kind::kFloor) {
      const auto inner = linear(terms[0].first.operands()[1]);  // floor(floor(x / m) / n) = floor(x / (m n))
      if (inner && inner->terms.empty() && inner->constant > 0 && fits(Int128{inner->constant} * n)) {
        return combined(whole, LinearIndex{0, {{floor_divide(terms[0].first.operands()[0], inner->constant * n), 1}}},
                        1);
      }
    }
    return combined(whole, LinearIndex{0, {{floor_divide(rest.index(), n), 1}}}, 1);
  }
  std::optional<LinearIndex> rest(const LinearIndex& dividend, std::int64_t n) const {
    const LinearIndex rest = divided(dividend, n).rest;
    if (lies_within(rest, n, axes_)) return rest;
    return LinearIndex{0, {{modulo(rest.index(), n), 1}}};
  }

  /// c (x mod n) with c n floor(x / n) is c x.
  void join_remainders(LinearIndex& form) const {
    for (std::size_t i = 0; i < form.terms.size(); ++i) {
      const auto [atom, coefficient] = form.terms[i];
      if (atom.kind() != Kind::kModulo) continue;
      const auto n = atom.operands()[1].number();
      const auto dividend = linear(atom.operands()[0]);
      const IndexExpr floor = floor_divide(atom.operands()[0], atom.operands()[1]);
      if (!n || !dividend || floor.kind() != Kind::kFloor || form.coefficient(floor) != coefficient * *n) continue;
      form.add(floor, -coefficient * *n);
      form.add(atom, -coefficient);
      if (auto sum = combined(form, *dividend, coefficient)) form = *std::move(sum);
      i = static_cast<std::size_t>(-1);
    }
  }

  const AxisRanges& axes_;
};

}  // namespace

IndexExpr simplified(const IndexExpr& index, const AxisRanges& axes) {
  const auto form = Simplification(axes).form(index);
  return form ? form->index() : index;
}

}  // namespace rewright::loop
