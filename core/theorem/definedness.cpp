#include "theorem/definedness.h"

#include <rewright/tensor/linear.h>

#include <algorithm>
#include <optional>
#include <set>

namespace rewright::theorem {

namespace {

constexpr int kMostSteps = 60;

class SizeSolver {
 public:
  SizeSolver(const TypedAxiom& axiom, const SizeCases& cases, Context& context)
      : axiom_(axiom), cases_(cases), context_(context) {}

  SizeValues run() {
    for (const auto* list : {&axiom_.left_defined, &axiom_.right_defined, &axiom_.condition})
      constraints_.insert(constraints_.end(), list->begin(), list->end());
    name_sizes();
    for (int step = 0; solve_one() || pin_one(); ++step) {
      if (step > kMostSteps) throw Unsupported{"sizes that do not come to rest"};
    }
    add_facts();
    return std::move(sizes_);
  }

 private:
  void name_sizes() {
    std::set<SizeVar> names;
    const auto note = [&](const SymbolicDim& dim) {
      for (const SizeVar name : dim.variables()) names.insert(name);
    };
    for (const TypedTerm& term : axiom_.terms) {
      for (const SymbolicDim& dim : term.shape) note(dim);
      for (const auto& value : term.params.values()) {
        if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value)) std::ranges::for_each(list->values, note);
      }
    }
    for (const Constraint& constraint : constraints_) {
      note(constraint.left);
      note(constraint.right);
    }
    const SizeOrder order(SizeOrder::Least::kOneInTensors);
    for (const SizeVar name : names) {
      const auto given = cases_.find(name.text());
      if (given != cases_.end() && given->second) {
        sizes_.emplace(name, 0);
        continue;
      }
      const std::int64_t least = given != cases_.end() ? 1 : order.least(name);
      const Symbol symbol = context_.symbols().add(SymbolKind::kSize, name.text(), least);
      sizes_.emplace(name, Polynomial::symbol(symbol));
      bounds_.emplace_back(Polynomial::symbol(symbol), least);
    }
  }

  Polynomial value(const SymbolicDim& dim) { return value_of(dim, sizes_, context_); }

  /// An equation of a constraint, that is 0; nothing for other constraints.
  std::optional<Polynomial> equation(std::size_t c) {
    const Constraint& constraint = constraints_[c];
    if (constraint.kind == Constraint::Kind::kEqual) return value(constraint.left) - value(constraint.right);
    if (constraint.kind != Constraint::Kind::kDivides) return std::nullopt;
    const Polynomial whole = value(constraint.right), part = value(constraint.left);
    const auto divisor = part.constant();
    if (!divisor || *divisor < 1) return std::nullopt;
    const bool divides =
        std::ranges::all_of(whole.terms(), [&](const auto& term) { return term.second % *divisor == 0; });
    if (divides) return Polynomial(0);
    const auto [found, is_new] = quotients_.emplace(c, 0);
    if (is_new) {
      std::optional<std::int64_t> least;
      if (context_.holds(at_least_zero(whole))) least = 0;
      if (context_.holds(at_least_zero(whole - 1))) least = 1;
      const Symbol symbol = context_.symbols().add(SymbolKind::kSize, fmt::format("q{}", c), least);
      found->second = Polynomial::symbol(symbol);
      quotient_symbols_.insert(symbol);
      if (least) bounds_.emplace_back(found->second, *least);
    }
    return whole - part * found->second;
  }

  /// Without symbols, at least 1, that are factors of every product; without a common number.
  Polynomial stripped(Polynomial p) const {
    if (p.is_zero()) return p;
    for (const Symbol symbol : p.symbols()) {
      if (context_.symbols().least(symbol).value_or(0) < 1) continue;
      while (std::ranges::all_of(
          p.terms(), [&](const auto& term) { return std::ranges::find(term.first, symbol) != term.first.end(); })) {
        Polynomial less;
        for (const auto& [monomial, coefficient] : p.terms())
          less = less + Polynomial::term(*divide(monomial, {symbol}), coefficient);
        p = less;
      }
    }
    std::int64_t content = content_without_constant(p);
    if (content > 1 && p.constant_term() % content == 0) {
      Polynomial less;
      for (const auto& [monomial, coefficient] : p.terms())
        less = less + Polynomial::term(monomial, coefficient / content);
      p = less;
    }
    return p;
  }

  bool solve_one() {
    for (std::size_t c = 0; c < constraints_.size(); ++c) {
      const auto zero = equation(c);
      if (!zero || zero->is_zero()) continue;
      const Polynomial p = stripped(*zero);
      // The sizes of the axiom go before those that stand for quotients.
      std::vector<Symbol> candidates = p.symbols();
      std::ranges::stable_partition(candidates, [&](Symbol symbol) { return !quotient_symbols_.contains(symbol); });
      for (const Symbol symbol : candidates) {
        if (context_.symbols().kind(symbol) != SymbolKind::kSize) continue;
        const auto part = linear_in(context_.symbols(), p, symbol);
        if (!part) continue;
        put_in(symbol, part->sign == 1 ? -part->rest : part->rest);
        return true;
      }
    }
    return false;
  }

  /// A size that is at most what it is at least: 1 <= w.2 <= 1.
  bool pin_one() {
    for (const Constraint& constraint : constraints_) {
      if (constraint.kind != Constraint::Kind::kAtLeast) continue;
      const Polynomial rest = value(constraint.left) - value(constraint.right);
      const auto symbols = rest.symbols();
      if (symbols.size() != 1 || context_.symbols().kind(symbols[0]) != SymbolKind::kSize) continue;
      const auto least = context_.symbols().least(symbols[0]);
      const Polynomial upper = rest + Polynomial::symbol(symbols[0]);
      if (!least || !(upper == Polynomial(*least))) continue;
      put_in(symbols[0], upper);
      return true;
    }
    return false;
  }

  void put_in(Symbol symbol, const Polynomial& value) {
    const SymbolMap one{{symbol, value}};
    for (auto& [name, size] : sizes_) size = context_.substitute(size, one);
    for (auto& [place, quotient] : quotients_) quotient = context_.substitute(quotient, one);
    for (auto& [size, least] : bounds_) size = context_.substitute(size, one);
  }

  void add(const Fact& fact) {
    if (context_.holds(fact)) return;
    context_.add(fact);
  }
  void add_facts() {
    for (const auto& [size, least] : bounds_) add(at_least_zero(size - least));
    for (std::size_t c = 0; c < constraints_.size(); ++c) {
      const Constraint& constraint = constraints_[c];
      if (const auto zero = equation(c); zero && !zero->is_zero()) add(is_zero(stripped(*zero)));
      if (constraint.kind == Constraint::Kind::kAtLeast)
        add(at_least_zero(value(constraint.left) - value(constraint.right)));
      // Not used: `a != b`. What is proved without it holds with it.
    }
    context_.raise_bounds();
    context_.keep_for_good();
  }

  const TypedAxiom& axiom_;
  const SizeCases& cases_;
  Context& context_;
  std::vector<Constraint> constraints_;
  SizeValues sizes_;
  std::map<std::size_t, Polynomial> quotients_;  ///< By constraint: what it is divided into.
  std::set<Symbol> quotient_symbols_;
  std::vector<std::pair<Polynomial, std::int64_t>>
      bounds_;  ///< What every size was at least, before it was put in for.
};

}  // namespace

SizeValues solve_sizes(const TypedAxiom& axiom, const SizeCases& cases, Context& context) {
  return SizeSolver(axiom, cases, context).run();
}

}  // namespace rewright::theorem
