// Values at an index as sums of guarded products: the normal form that equations are compared in.
//
//   sum    := term + ..
//   term   := c * sum over bound variables in Z^n of [guards] * factor^e * ..
//   factor := x[index, ..]                       an element of an input
//           | symbol                             an integer as a number
//           | function(sum) | 1 / sum            of a value that is no product
//           | max over branches                  branch := the values of a sum, for all bound variables that meet
//           guards
//
// Exponents are 1 or more, except of factors that are never 0. Guards keep every bound variable in its range: a range
// lies nowhere else. A variable bound inside a factor has a name that nothing outside has, so that nothing put in for
// another variable is captured; whoever opens a factor renames (renamed(), opened()).
//
// Source  Sums, guards and matching: Chu et al., Axiomatic foundations and algorithms for deciding semantic
//         equivalences of SQL queries (VLDB 2018). Guards as factors: Liu et al., Verified tensor-program optimization
//         via high-level scheduling rewrites (POPL 2022).
#pragma once

#include <rewright/tensor/scalar.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "theorem/context.h"
#include "theorem/exact_rational.h"
#include "theorem/polynomial.h"

namespace rewright::theorem {

struct Factor;
using FactorRef = std::shared_ptr<const Factor>;
using Power = std::pair<FactorRef, int>;

struct Term {
  Rational coefficient = 1;
  std::vector<Symbol> bound = {};
  std::vector<Fact> guards = {};    ///< Ascending, each once.
  std::vector<Power> factors = {};  ///< By key, each once, no exponent 0.
};

struct Sum {
  std::vector<Term> terms;
  [[nodiscard]] bool is_zero() const { return terms.empty(); }
};

struct Branch {
  std::vector<Symbol> bound = {};
  std::vector<Fact> guards = {};
  Sum value;
};

struct Factor {
  enum class Kind : std::uint8_t { kElement, kInteger, kCall, kInverse, kMaximum };
  Kind kind = Kind::kInteger;
  std::size_t tensor = 0;           ///< kElement.
  std::vector<Polynomial> at = {};  ///< kElement: index; kInteger: the one symbol.
  Function function = Function::kExp;
  Sum argument = {};                  ///< kCall, kInverse.
  std::vector<Branch> branches = {};  ///< kMaximum.
  std::string key = {};               ///< Equal keys are equal factors, up to names of their own bound variables.
};

/// What was used beyond the laws of rings, of definitions by cases and of functions that can be any.
struct LawsUsed {
  bool order = false;      ///< Of greatest values: max{a, a} = a, max{f a, f b} = f max{a, b}, ..
  bool functions = false;  ///< Of exp, log, sqrt, .. themselves: exp(a + b) = exp(a) exp(b), exp(a) > 0, ..
};

/// The arithmetic of sums. All take values that hold under the context's facts, and give such.
class Sums {
 public:
  explicit Sums(Context& context) : context_(context) {}
  [[nodiscard]] Context& context() { return context_; }
  [[nodiscard]] SymbolTable& symbols() { return context_.symbols(); }

  [[nodiscard]] const LawsUsed& laws() const { return laws_; }
  void uses_order() const { laws_.order = true; }
  void uses_functions() const { laws_.functions = true; }

  /// What inputs are called in texts, by number.
  void name_tensors(std::vector<std::string> names) { tensor_names_ = std::move(names); }

  // --- making

  [[nodiscard]] static Sum number(const Rational& number);
  [[nodiscard]] Sum element(std::size_t tensor, std::vector<Polynomial> at);
  /// An integer as a number.
  [[nodiscard]] Sum integer(const Polynomial& p);
  [[nodiscard]] Sum add(const Sum& a, const Sum& b);
  [[nodiscard]] Sum subtract(const Sum& a, const Sum& b) { return add(a, scale(b, -1)); }
  [[nodiscard]] Sum scale(const Sum& sum, const Rational& factor);
  [[nodiscard]] Sum multiply(const Sum& a, const Sum& b);
  [[nodiscard]] Sum power(const Sum& base, int exponent);
  /// sum over `bound` of [guards] * body.
  [[nodiscard]] Sum reduce(const std::vector<Symbol>& bound, std::span<const Fact> guards, const Sum& body);
  [[nodiscard]] Sum guarded(std::span<const Fact> guards, const Sum& body) { return reduce({}, guards, body); }
  [[nodiscard]] Sum inverse(const Sum& sum);
  [[nodiscard]] Sum call(Function function, const Sum& argument);
  [[nodiscard]] Sum maximum(std::vector<Branch> branches);

  /// Guards decided or split on, variables that equations determine put in for, unused ones counted, floor(k / q) of a
  /// bound variable taken apart. Errors: Split, Unsupported.
  [[nodiscard]] Sum simplified(const Sum& sum);

  /// Sums over a few numbers, 0 to kFew - 1 at most, as that many terms; nothing where there is none.
  [[nodiscard]] std::optional<Sum> written_out(const Sum& sum);
  static constexpr std::int64_t kFew = 8;

  // --- names

  [[nodiscard]] Term renamed(const Term& term);
  [[nodiscard]] Sum renamed(const Sum& sum);
  [[nodiscard]] Branch renamed(const Branch& branch);
  [[nodiscard]] Term substitute(const Term& term, const SymbolMap& map);
  [[nodiscard]] Sum substitute(const Sum& sum, const SymbolMap& map);
  [[nodiscard]] Power substitute(const Power& power, const SymbolMap& map);
  [[nodiscard]] std::vector<Fact> substitute(std::span<const Fact> guards, const SymbolMap& map);

  // --- looking

  [[nodiscard]] bool mentions(const Factor& factor, Symbol symbol) const;
  [[nodiscard]] bool mentions(const Sum& sum, Symbol symbol) const;
  [[nodiscard]] bool mentions_any(const Factor& factor, std::span<const Symbol> symbols) const;
  [[nodiscard]] bool is_natural(const Sum& sum) const;  ///< Never negative.
  [[nodiscard]] bool is_natural(const Factor& factor) const;
  [[nodiscard]] bool is_at_least_one(const Sum& sum) const;
  [[nodiscard]] bool is_positive(const Sum& sum) const;  ///< Above 0 wherever a term is there at all.
  [[nodiscard]] bool is_positive(const Factor& factor) const;
  [[nodiscard]] std::string text(const Sum& sum) const;
  [[nodiscard]] std::string text(const Factor& factor) const;

  /// Factors with exponents; those that become 1 go.
  [[nodiscard]] static std::vector<Power> merged(std::span<const Power> a, std::span<const Power> b);
  [[nodiscard]] FactorRef make(Factor factor);
  /// One factor as a sum.
  [[nodiscard]] static Sum single(const FactorRef& factor, int exponent = 1);

 private:
  using Names = std::map<Symbol, std::string>;
  [[nodiscard]] std::string key(const Term& term, Names names) const;
  [[nodiscard]] std::string key(const Sum& sum, const Names& names) const;
  [[nodiscard]] std::string key(const Factor& factor, const Names& names) const;
  [[nodiscard]] std::string key(std::span<const Fact> guards, const Names& names) const;
  [[nodiscard]] Sum collected(std::vector<Term> terms) const;

  /// function(sum) where no guard of the sum is about variables outside alone: others become cases.
  template <class Apply>
  [[nodiscard]] Sum by_cases(const Sum& sum, const Apply& apply, int depth = 0);
  [[nodiscard]] Sum exponential(const Sum& argument);
  [[nodiscard]] Sum logarithm(const Sum& argument);
  [[nodiscard]] std::optional<Sum> root_of_square(const Sum& argument);
  [[nodiscard]] Sum plain_inverse(const Sum& sum);
  [[nodiscard]] Sum maximum_by_cases(std::vector<Branch> branches, int depth);
  [[nodiscard]] Sum plain_maximum(std::vector<Branch> branches);
  [[nodiscard]] std::optional<Sum> increasing_head(const std::vector<Branch>& branches);
  void flatten(std::vector<Branch>& branches);
  [[nodiscard]] bool simplify_branch(Branch& branch);

  /// Of guards with the context's facts: false where they cannot hold; what follows from the others goes.
  [[nodiscard]] bool reduce_guards(std::vector<Fact>& guards);
  /// A variable that the guards determine, and its value.
  [[nodiscard]] std::optional<std::pair<Symbol, Polynomial>> determined(std::span<const Symbol> bound,
                                                                        std::span<const Fact> guards) const;
  [[nodiscard]] std::optional<Sum> counted(const Term& term);
  [[nodiscard]] std::optional<Term> taken_apart(const Term& term);
  [[nodiscard]] std::optional<Term> moved_to_zero(const Term& term);

  Context& context_;
  std::vector<std::string> tensor_names_;
  mutable LawsUsed laws_;  ///< That exp is positive is found out by who asks.
};

/// c * symbol + rest = p with c = 1 or -1, the symbol nowhere else.
struct LinearPart {
  int sign = 1;
  Polynomial rest;
};
[[nodiscard]] std::optional<LinearPart> linear_in(const SymbolTable& symbols, const Polynomial& p, Symbol symbol);

}  // namespace rewright::theorem
