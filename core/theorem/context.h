// What is known of integers at one place of a proof, and what follows from it.
//
//   facts   of the sizes; of the free indices; of the case at hand; guards around the place
//   holds   the negation, the facts and these have no solution in fractions (refutation.h):
//             s >= least(s)                     of every symbol, and of products of such symbols
//             0 <= p - q floor(p / q) <= q - 1  of every quotient
//             floor(p / q) < c, where p < q c; >= c, where p >= q c
//             0 <= floor(p / q) - r floor(p / (q r)) <= r - 1
//             f * s >= 0                        of a fact f and a symbol s >= 0, where that meets a product that occurs
//           Facts are tightened to integers first: 2x - 1 >= 0 says x - 1 >= 0.
//
// Sound, not complete: what is not granted may hold all the same. Every refutation is checked before it is believed.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "theorem/polynomial.h"
#include "theorem/symbols.h"
#include "theorem/witnesses.h"

namespace rewright::theorem {

/// A condition on free symbols that is not decided: what to prove must be proved where it holds and where it does not.
/// Thrown by whatever meets one, caught where cases are made (theorem_prover.cpp).
struct Split {
  Fact guard;
};
/// The prover has no way to go on: the reason. Caught where a proof begins.
struct Unsupported {
  std::string reason;
};

/// A size that may be 0 divides: what to prove is proved where it is 0, and where it is not.
struct UnclearSize {
  std::string name;
};

class REWRIGHT_API Context {
 public:
  explicit Context(SymbolTable& symbols, std::int64_t pivots)
      : symbols_(symbols), pivots_(pivots), witnesses_(symbols) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] SymbolTable& symbols() { return symbols_; }

  /// Facts that hold until it ends.
  class Scope {
   public:
    Scope(Context& context, std::span<const Fact> facts) : context_(context), before_(context.facts_.size()) {
      for (const Fact& fact : facts) context.add(fact);
    }
    ~Scope() { context_.remove_from(before_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Context& context_;
    std::size_t before_;
  };

  void add(const Fact& fact);
  /// What is known now holds in the whole proof: divisors of quotients must be positive by it, since a quotient
  /// outlives the case that it was met in. Facts of one symbol alone become its lower bound.
  void raise_bounds();
  void keep_for_good() { kept_ = facts_.size(); }
  [[nodiscard]] bool holds(const Fact& fact);
  /// Does it hold nowhere?
  [[nodiscard]] bool fails(const Fact& fact);
  [[nodiscard]] bool is_contradictory();
  [[nodiscard]] bool equal(const Polynomial& a, const Polynomial& b) { return a == b || holds(is_zero(a - b)); }

  /// floor(dividend / divisor), with what divides taken out. Errors: Unsupported unless the divisor is at least 1.
  [[nodiscard]] Polynomial floor_divide(const Polynomial& dividend, const Polynomial& divisor);
  /// Quotients are formed anew.
  [[nodiscard]] Polynomial substitute(const Polynomial& p, const SymbolMap& map);
  [[nodiscard]] Fact substitute(const Fact& fact, const SymbolMap& map) {
    return {substitute(fact.value, map), fact.is_equality};
  }

  [[nodiscard]] std::span<const Fact> facts() const { return facts_; }
  /// Work elsewhere, of the same budget. Errors: Unsupported where it is spent.
  void spend(std::size_t steps) {
    pivots_ -= static_cast<std::int64_t>(steps);
    if (pivots_ <= 0) throw Unsupported{"the work that one proof may take is spent"};
  }
  [[nodiscard]] std::uint64_t queries() const { return queries_; }

 private:
  void remove_from(std::size_t size);
  [[nodiscard]] bool holds_for_good(const Fact& fact);
  [[nodiscard]] bool holds_by_bounds(const Polynomial& p) const;
  [[nodiscard]] bool holds_by_one_fact(const Polynomial& p) const;
  [[nodiscard]] bool refuted(const std::vector<Fact>& negated);
  [[nodiscard]] std::vector<Fact> relevant(const std::vector<Fact>& negated) const;
  void add_quotient_bounds(std::vector<Fact>& facts, std::span<const Symbol> quotients) const;
  void add_products(std::vector<Fact>& facts) const;

  SymbolTable& symbols_;
  std::int64_t pivots_;
  std::uint64_t queries_ = 0;
  std::vector<Fact> facts_;
  Witnesses witnesses_;  ///< Of these.
  std::size_t kept_ = 0;
  /// One number for each list of facts that there was.
  std::vector<std::uint32_t> states_{0};
  std::map<std::pair<std::uint32_t, Fact>, std::uint32_t> state_after_;
  std::map<std::pair<std::uint32_t, Fact>, bool> known_;
};

}  // namespace rewright::theorem
