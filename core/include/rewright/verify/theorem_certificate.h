// Certificates of theorems: equations between definitions at symbolic sizes, replayed without search and without a
// solver.
//
// The checker expands both sides of an equation from the operators' definitions and simplifies their difference by
// fixed rules. Wherever it would have to find something it asks an oracle, and checks the answer:
//
//   Do these facts exclude each other?       a combination of facts that is a negative number (Farkas)
//   Which terms cancel, in whose variables?  groups of terms, each with a map of its variables and one that undoes it
//
// A certificate is the answers, in order. certify() asks an oracle and writes them down; check_theorem() reads them. An
// answer that is wrong is refused; "no" is always allowed, and proves nothing. The checker shares no code with the
// prover (core/theorem/).
// An answer has one form, and every field of it is read: what a fact or a group's first term does not need is 0 or
// empty, shares are in lowest terms and not 0, polynomials name a product once.
//
// Rules   what the facts decide goes; sum over k of [k = e] f(k) = f(e); sum of [a <= k <= b] = b - a + 1; sum over
//         k of [k >= e] f(k) = sum over k of [k >= 0] f(k + e); what is left of sums over 0 to c, for a number c < 8,
//         is written out;
//         k = q a + b for floor(k / q); f([g] x + [not g] y) = [g] f(x) + [not g] f(y); max{c max{a, b} + d, e} =
//         max{c a + d, c b + d, e} for c >= 0; max{0, a} = a for a >= 0; max{c a, c b} = c max{a, b}; functions and
//         quotients of equal values are equal, and maxima of which each branch has one that is as great; of what is
//         left a maximum of free values is each of its branches in turn, where that one is the greatest;
//         exp(a + b) = exp(a) exp(b), exp(a) exp(-a) = 1, 1/(exp(a) b) = exp(-a)/b, log(exp(a)) = a,
//         sqrt(a a) = |a|, tanh, erf and sigmoid of -a; max{f(a), f(b)} = f(max{a, b}) for f = exp, tanh, erf,
//         sigmoid; a a >= 0.
// Trusted definitions keep what core/theorem/expansion.h says; sizes of tensors are at least 1.
// Errors  kUnsupported: outside of these rules; kMismatch: a certificate that does not fit, with the line.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/result.h>
#include <rewright/base/short_list.h>
#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <boost/container/flat_map.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright::certified {

using Product = ShortList<std::uint16_t, 15>;                          ///< Symbols, ascending.
using Polynomial = boost::container::flat_map<Product, std::int64_t>;  ///< No coefficient 0.

struct Fact {
  Polynomial value;  ///< >= 0, or = 0.
  bool is_equality = false;
  friend bool operator==(const Fact&, const Fact&) = default;
};

struct Symbol {
  enum class Kind : std::uint8_t { kSize, kIndex, kBound, kQuotient };
  Kind kind = Kind::kSize;
  std::optional<std::int64_t> least;
  Polynomial dividend = {}, divisor = {};  ///< kQuotient: floor(dividend / divisor), divisor >= 1.
};

/// weight * fact * times, where the fact is
///
/// | source | fact                                                                        |
/// |--------|-----------------------------------------------------------------------------|
/// | F      | the fact `at`                                                               |
/// | L      | symbol `at` >= its least                                                    |
/// | P      | times >= the product of the leasts of its symbols                           |
/// | D, E   | of the quotient `at`: the rest >= 0; divisor - 1 - the rest >= 0            |
/// | U, W   | quotient `at` < c, or >= c, as the fact `second` says of dividend, divisor c |
/// | M, O   | of floor(p / q), `at`, and floor(p / (q r)), `second`: the rest by r >= 0;  |
/// |        | r - 1 - that >= 0                                                           |
struct FactUse {
  char source = 'F';
  std::size_t at = 0, second = 0;
  Product times = {};
  std::int64_t numerator = 1, denominator = 1;
};

struct Factor;
struct Term {
  std::int64_t numerator = 1, denominator = 1;
  std::vector<int> bound = {};
  std::vector<Fact> guards = {};
  std::vector<Factor> factors = {};
};
struct Branch {
  std::vector<int> bound = {};
  std::vector<Fact> guards = {};
  std::vector<Term> value = {};
};
struct Factor {
  enum class Kind : std::uint8_t { kElement, kInteger, kCall, kInverse, kMaximum };
  Kind kind = Kind::kInteger;
  std::size_t which = 0;              ///< Input or function.
  std::vector<Polynomial> at = {};    ///< kElement; kInteger: the one.
  std::vector<Term> argument = {};    ///< kCall, kInverse.
  std::vector<Branch> branches = {};  ///< kMaximum.
};

/// A term put in terms of its group's first one.
struct Member {
  std::size_t term = 0;
  std::vector<Polynomial> map = {};       ///< Each of its variables by those of the first.
  std::vector<Polynomial> inverse = {};   ///< Each of the first one's variables by its own.
  std::vector<std::size_t> factors = {};  ///< For each factor of the first: which of its own is equal.
};
using Groups = std::vector<std::vector<Member>>;

/// Of two maxima: a branch of the other that is as great, its variables by those of the one.
struct Cover {
  std::size_t branch = 0;
  std::vector<Polynomial> map = {};
};

/// Where an oracle may try what it will say.
class REWRIGHT_API Trial {
 public:
  virtual ~Trial();
  /// Would this member be taken, beside the first term?
  [[nodiscard]] virtual bool fits(const Term& first, const Term& term, const Member& member) = 0;
  /// Is the branch covered by the other with this map of the other's variables?
  [[nodiscard]] virtual bool covers(const Branch& branch, const Branch& other, const std::vector<Polynomial>& map) = 0;
  /// Does the sum of these, put in the first one's variables, vanish?
  [[nodiscard]] virtual bool cancels(const std::vector<Term>& terms, const std::vector<Member>& group) = 0;
};

class REWRIGHT_API Oracle {
 public:
  virtual ~Oracle();
  [[nodiscard]] virtual std::optional<std::vector<FactUse>> refutation(const std::vector<Symbol>& symbols,
                                                                       const std::vector<Fact>& facts) = 0;
  /// Terms that are left out are left over.
  [[nodiscard]] virtual Groups groups(const std::vector<Symbol>& symbols, const std::vector<Fact>& facts,
                                      const std::vector<Term>& terms, Trial& trial) = 0;
  [[nodiscard]] virtual std::optional<Cover> cover(const std::vector<Symbol>& symbols, const std::vector<Fact>& facts,
                                                   const Branch& branch, const std::vector<Branch>& others,
                                                   Trial& trial) = 0;
  /// Of facts over the reals, whose unknowns are products of values: sources F alone.
  [[nodiscard]] virtual std::optional<std::vector<FactUse>> combination(const std::vector<Fact>& facts) = 0;
};

/// A rule as equations between definitions, one for each output, at its own parameters.
struct RuleEquations {
  std::unique_ptr<const Axiom> inputs;  ///< Their names; outputs refer to it.
  std::vector<TypedAxiom> outputs;
};
/// Errors: kShape where a side can never be defined; kMismatch where the sides have different numbers of outputs.
[[nodiscard]] REWRIGHT_API Result<RuleEquations> equations_of(const Rule& rule);

/// The certificate, if the oracle's answers prove the equation. Errors: kNotFound with what is left.
[[nodiscard]] REWRIGHT_API Result<std::string> certify(const TypedAxiom& equation, Oracle& oracle);
/// Done if the certificate proves that both sides are equal.
[[nodiscard]] REWRIGHT_API Status check_theorem(const TypedAxiom& equation, std::string_view certificate);

}  // namespace rewright::certified
