// Linear arithmetic of proofs: what is granted holds at every integer tried; a combination that was changed is refused.
#include <rewright/base/mixing.h>
#include <rewright/tensor/dim.h>

#include <gtest/gtest.h>

#include <algorithm>

#include "theorem/context.h"
#include "theorem/refutation.h"

namespace rewright::theorem {
namespace {

Polynomial p(Symbol symbol) { return Polynomial::symbol(symbol); }

TEST(Refutation, AddsFactsUpToANegativeNumber) {
  // x - y - 1 >= 0, y - z >= 0, z - x >= 0
  const std::vector<Fact> facts{at_least_zero(p(0) - p(1) - 1), at_least_zero(p(1) - p(2)), at_least_zero(p(2) - p(0))};
  std::int64_t pivots = 100;
  const auto combination = refute(facts, pivots);
  ASSERT_TRUE(combination);
  EXPECT_TRUE(is_refutation(facts, *combination));
  for (std::size_t place = 0; place < combination->size(); ++place) {
    for (const Rational change : {Rational(1), Rational(-1), Rational(1, 2)}) {
      Combination changed = *combination;
      changed[place].second = changed[place].second + change;
      EXPECT_FALSE(is_refutation(facts, changed)) << "coefficient " << place;
    }
    Combination less = *combination;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(place));
    EXPECT_FALSE(is_refutation(facts, less));
  }
}

TEST(Refutation, TakesNoNegativeShareOfAnInequality) {
  const std::vector<Fact> facts{at_least_zero(p(0)), at_least_zero(p(0) - 1)};
  EXPECT_FALSE(is_refutation(facts, {{0, Rational(1)}, {1, Rational(-1)}}));
  EXPECT_TRUE(is_refutation(std::vector{is_zero(p(0)), is_zero(p(0) - 1)}, {{0, Rational(-1)}, {1, Rational(1)}}));
}

TEST(Context, DividesWithRest) {
  SymbolTable symbols;
  Context context(symbols, 100'000);
  const Symbol q = symbols.add(SymbolKind::kSize, "q", 1), i = symbols.add(SymbolKind::kIndex, "i", 0),
               j = symbols.add(SymbolKind::kIndex, "j", 0);
  context.add(at_least_zero(p(q) - p(j) - 1));
  context.keep_for_good();
  EXPECT_EQ(context.floor_divide(p(q) * p(i) + p(j), p(q)), p(i));
  EXPECT_EQ(context.floor_divide(p(q) * p(i) - 1, p(q)), p(i) - 1);
  EXPECT_EQ(context.floor_divide(Polynomial(-7), 2), Polynomial(-4));
  const Polynomial half = context.floor_divide(p(i), 2);
  EXPECT_EQ(context.floor_divide(half, 3), context.floor_divide(p(i), 6));
  EXPECT_THROW((void)context.floor_divide(p(i), p(j)), Unsupported) << "j may be 0";
  EXPECT_THROW((void)context.floor_divide(p(i), p(q) - 2), Unsupported);
}

TEST(Context, ForgetsWhatHeldInACase) {
  SymbolTable symbols;
  Context context(symbols, 100'000);
  const Symbol i = symbols.add(SymbolKind::kIndex, "i", 0);
  const Fact fact = at_least_zero(p(i) - 3);
  EXPECT_FALSE(context.holds(fact));
  {
    const Context::Scope scope(context, std::span(&fact, 1));
    EXPECT_TRUE(context.holds(at_least_zero(p(i) - 2)));
    EXPECT_FALSE(context.holds(at_least_zero(p(i) - 4)));
    EXPECT_THROW((void)context.floor_divide(Polynomial(7), p(i)), Unsupported) << "a quotient outlives its case";
  }
  EXPECT_FALSE(context.holds(at_least_zero(p(i) - 2)));
}

/// The value of a polynomial, quotients worked out; nothing where a divisor is below 1.
std::optional<std::int64_t> evaluate(const SymbolTable& symbols, const Polynomial& polynomial,
                                     const std::map<Symbol, std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    std::int64_t product = coefficient;
    for (const Symbol symbol : monomial) {
      if (symbols.kind(symbol) != SymbolKind::kQuotient) {
        product *= values.at(symbol);
        continue;
      }
      const auto dividend = evaluate(symbols, symbols.dividend(symbol), values),
                 divisor = evaluate(symbols, symbols.divisor(symbol), values);
      if (!dividend || !divisor || *divisor < 1) return std::nullopt;
      product *= floor_divide(*dividend, *divisor);
    }
    sum += product;
  }
  return sum;
}

/// Random facts over two sizes, two indices and quotients of them; whatever is granted of a random goal must hold at
/// all integers from -2 to 6 that meet the facts. Products occur in one goal of three.
TEST(Context, GrantsNothingThatFailsAtSomeIntegers) {
  Random random(20261126);
  std::size_t granted = 0, contradictions = 0;
  for (int round = 0; round < 3'000; ++round) {
    SymbolTable symbols;
    Context context(symbols, 200'000);
    std::vector<Symbol> base{symbols.add(SymbolKind::kSize, "m", 1), symbols.add(SymbolKind::kSize, "n", 1),
                             symbols.add(SymbolKind::kIndex, "i", 0), symbols.add_bound()};
    std::vector<Polynomial> atoms;
    for (const Symbol symbol : base) atoms.push_back(p(symbol));
    const auto draw = [&] {
      Polynomial sum = random.between(-3, 3);
      for (int t = 0; t < 2; ++t) {
        Polynomial product = random.between(-2, 2);
        product = product * atoms[random.below(atoms.size())];
        if (random.below(3) == 0) product = product * atoms[random.below(atoms.size())];
        sum = sum + product;
      }
      return sum;
    };
    try {
      atoms.push_back(context.floor_divide(p(base[2]) * Polynomial(random.between(1, 2)) + random.between(-2, 2),
                                           random.between(2, 3)));
      atoms.push_back(context.floor_divide(p(base[3]) + random.between(-1, 1), p(base[0])));
      for (std::size_t f = random.below(4); f > 0; --f) context.add({draw(), random.below(4) == 0});
      const Fact goal{draw(), random.below(4) == 0};
      const bool holds = context.holds(goal), fails = context.fails(goal);
      granted += holds || fails;
      contradictions += holds && fails;
      if (!holds && !fails) continue;
      for (std::int64_t m = 1; m <= 5; ++m) {
        for (std::int64_t n = 1; n <= 5; ++n) {
          for (std::int64_t i = 0; i <= 6; ++i) {
            for (std::int64_t k = -3; k <= 6; ++k) {
              const std::map<Symbol, std::int64_t> values{{base[0], m}, {base[1], n}, {base[2], i}, {base[3], k}};
              const auto is_met = [&](const Fact& fact) {
                const std::int64_t value = *evaluate(symbols, fact.value, values);
                return fact.is_equality ? value == 0 : value >= 0;
              };
              if (!std::ranges::all_of(context.facts(), is_met)) continue;
              ASSERT_FALSE(holds && !is_met(goal)) << symbols.text(goal) << " at " << m << n << i << k;
              ASSERT_FALSE(fails && is_met(goal)) << symbols.text(goal) << " at " << m << n << i << k;
            }
          }
        }
      }
    } catch (const Unsupported&) {
      continue;  // The work that one question may take.
    }
  }
  EXPECT_GT(granted, 400U);
  EXPECT_LT(contradictions, granted / 2);
}

}  // namespace
}  // namespace rewright::theorem
