// Quotients and functions of sums, by the laws that hold wherever both sides are defined:
//
//   1 / (c f^e g ..) = 1/c * f^-e * (1/g) ..     f never 0; of another factor the quotient stays as it is
//   1 / (f s) = f^-1 * (1/s)                     f never 0, in every term of the sum
//   exp(a + b) = exp(a) exp(b), exp(p/q t) = exp(t/q)^p, exp(log s) = s where s > 0
//   log(f s) = log(f) + log(s)                   f > 0; log(exp(a)) = a, log(1/s) = -log(s)
//   sqrt(f^2) = |f|
//   tanh(-a) = -tanh(a), erf(-a) = -erf(a)
//
// A factor that can be 0 is never cancelled: x * (1/x) is not 1.
#include <algorithm>
#include <map>

#include "theorem/sums.h"

namespace rewright::theorem {

namespace {

/// A guard of a term that does not speak of the term's own variables.
std::optional<Fact> outer_guard(const SymbolTable& symbols, const Sum& sum) {
  for (const Term& term : sum.terms) {
    for (const Fact& guard : term.guards) {
      if (std::ranges::none_of(term.bound, [&](Symbol s) { return symbols.mentions(guard.value, s); })) return guard;
    }
  }
  return std::nullopt;
}

/// The sum where the guard holds, or where it does not.
Sum assuming(const Sum& sum, const Fact& guard, bool holds) {
  Sum result;
  for (Term term : sum.terms) {
    if (std::erase(term.guards, guard) > 0 && !holds) continue;
    if (!guard.is_equality && std::erase(term.guards, negation(guard)) > 0 && holds) continue;
    result.terms.push_back(std::move(term));
  }
  return result;
}

constexpr int kMostCasesOfFunction = 6;

}  // namespace

template <class Apply>
Sum Sums::by_cases(const Sum& sum, const Apply& apply, int depth) {
  const std::optional<Fact> guard = outer_guard(symbols(), sum);
  if (!guard) return apply(sum);
  if (depth >= kMostCasesOfFunction) throw Unsupported{"a function of a value with too many cases"};
  const auto in_case = [&](const Fact& fact, bool holds) {
    const std::vector<Fact> facts{fact};
    const Context::Scope scope(context_, facts);
    return reduce({}, facts, by_cases(simplified(assuming(sum, *guard, holds)), apply, depth + 1));
  };
  if (!guard->is_equality) return add(in_case(*guard, true), in_case(negation(*guard), false));
  return add(in_case(*guard, true), add(in_case(at_least_zero(guard->value - 1), false),
                                        in_case(at_least_zero(Polynomial(-1) - guard->value), false)));
}

// --- quotients

Sum Sums::inverse(const Sum& sum) {
  return by_cases(simplified(sum), [this](const Sum& plain) { return plain_inverse(plain); });
}

Sum Sums::plain_inverse(const Sum& sum) {
  if (sum.is_zero()) throw Unsupported{"a division by 0"};
  const auto opaque = [this](const Sum& argument) {
    return make({.kind = Factor::Kind::kInverse, .argument = renamed(argument)});
  };
  const Rational scale_of_first = sum.terms[0].coefficient;
  Sum result = number(Rational(1) / scale_of_first);
  if (sum.terms.size() == 1 && sum.terms[0].bound.empty() && sum.terms[0].guards.empty()) {
    for (const auto& [factor, exponent] : sum.terms[0].factors) {
      const bool is_never_zero = is_positive(*factor);
      result = multiply(result, is_never_zero ? single(factor, -exponent) : single(opaque(single(factor)), exponent));
    }
    return result;
  }
  // What is in every term, is never 0 and does not change with the terms' variables.
  Sum rest = scale(sum, Rational(1) / scale_of_first);
  std::vector<Power> common;
  for (const Power& power : rest.terms[0].factors) {
    if (!is_positive(*power.first)) continue;
    std::optional<int> least;
    for (const Term& term : rest.terms) {
      const auto found =
          std::ranges::find_if(term.factors, [&](const Power& p) { return p.first->key == power.first->key; });
      const int exponent = found == term.factors.end() || mentions_any(*power.first, term.bound) ? 0 : found->second;
      const bool same_sign = exponent != 0 && (exponent > 0) == (power.second > 0);
      least = !same_sign                                                ? 0
              : std::abs(exponent) < std::abs(least.value_or(exponent)) ? exponent
                                                                        : least.value_or(exponent);
      if (*least == 0) break;
    }
    if (least.value_or(0) != 0) common.emplace_back(power.first, *least);
  }
  if (common.empty()) {
    // 1 + f^-1 = f^-1 (f + 1): negative powers go out.
    for (const Term& term : rest.terms) {
      for (const auto& [factor, exponent] : term.factors) {
        if (exponent < 0 && is_positive(*factor) && factor->kind != Factor::Kind::kInteger &&
            std::ranges::none_of(rest.terms, [&](const Term& t) { return mentions_any(*factor, t.bound); }) &&
            std::ranges::none_of(common, [&](const Power& p) { return p.first->key == factor->key; }))
          common.emplace_back(factor, exponent);
      }
    }
  }
  for (const auto& [factor, exponent] : common) {
    const Power out(factor, -exponent);
    for (Term& term : rest.terms) term.factors = merged(term.factors, std::span(&out, 1));
    result = multiply(result, single(factor, -exponent));
  }
  if (!common.empty()) {
    rest = collected(rest.terms);
    return multiply(result, plain_inverse(rest));
  }
  return multiply(result, single(opaque(rest)));
}

// --- functions

Sum Sums::call(Function function, const Sum& argument) {
  return by_cases(simplified(argument), [&](const Sum& plain) -> Sum {
    if (function == Function::kExp) return exponential(plain);
    if (function == Function::kLog) return logarithm(plain);
    if (function == Function::kSqrt) {
      if (auto root = root_of_square(plain)) return *std::move(root);
    }
    const bool is_odd = function == Function::kTanh || function == Function::kErf;
    const bool turned = is_odd && (plain.is_zero() || plain.terms[0].coefficient.sign() < 0);
    if (turned) uses_functions();
    if (is_odd && plain.is_zero()) return {};
    const Sum inside = renamed(turned ? scale(plain, -1) : plain);
    const Sum value = single(make({.kind = Factor::Kind::kCall, .function = function, .argument = inside}));
    return turned ? scale(value, -1) : value;
  });
}

/// sqrt(c^2 f^2e ..) = c |f|^e ..
std::optional<Sum> Sums::root_of_square(const Sum& argument) {
  if (argument.terms.size() != 1) return std::nullopt;
  const Term& term = argument.terms[0];
  const bool is_square =
      term.bound.empty() && term.guards.empty() && term.coefficient == Rational(1) &&
      std::ranges::all_of(term.factors, [](const Power& power) { return power.second % 2 == 0 && power.second > 0; });
  if (!is_square) return std::nullopt;
  uses_functions();
  Sum result = number(1);
  for (const auto& [factor, exponent] : term.factors) {
    const Sum value = single(factor);
    const Sum magnitude = is_natural(*factor) ? value : maximum({{{}, {}, value}, {{}, {}, scale(value, -1)}});
    result = multiply(result, power(magnitude, exponent / 2));
  }
  return result;
}

Sum Sums::exponential(const Sum& argument) {
  Sum result = number(1);
  if (argument.terms.size() != 1 || !(argument.terms[0].coefficient == Rational(1))) uses_functions();
  for (const Term& term : argument.terms) {
    const std::int64_t p = term.coefficient.numerator(), q = term.coefficient.denominator();
    if (p > 1'000 || p < -1'000) throw Unsupported{"an exponential of a large multiple"};
    Term one = term;
    one.coefficient = Rational(1, q);
    const bool is_log = q == 1 && term.bound.empty() && term.guards.empty() && term.factors.size() == 1 &&
                        term.factors[0].second == 1 && term.factors[0].first->kind == Factor::Kind::kCall &&
                        term.factors[0].first->function == Function::kLog;
    if (is_log && is_positive(term.factors[0].first->argument)) {
      const Sum inside = renamed(term.factors[0].first->argument);
      const Sum base = p > 0 ? inside : inverse(inside);
      uses_functions();
      result = multiply(result, power(base, static_cast<int>(std::abs(p))));
      continue;
    }
    const Sum inside = renamed(Sum{{one}});
    result =
        multiply(result, single(make({.kind = Factor::Kind::kCall, .function = Function::kExp, .argument = inside}),
                                static_cast<int>(p)));
  }
  return result;
}

Sum Sums::logarithm(const Sum& argument) {
  const auto opaque = [this](const Sum& inside) {
    return single(make({.kind = Factor::Kind::kCall, .function = Function::kLog, .argument = renamed(inside)}));
  };
  const auto of_factor = [&](const FactorRef& factor) {
    if (factor->kind == Factor::Kind::kCall && factor->function == Function::kExp) return renamed(factor->argument);
    if (factor->kind == Factor::Kind::kInverse) return scale(logarithm(renamed(factor->argument)), -1);
    return opaque(single(factor));
  };
  if (argument.is_zero()) throw Unsupported{"a logarithm of 0"};
  Sum rest = argument, result;
  for (const Power& power : argument.terms[0].factors) {
    const auto& [factor, exponent] = power;
    const bool is_common =
        is_positive(*factor) && std::ranges::all_of(argument.terms, [&](const Term& term) {
          const auto found =
              std::ranges::find_if(term.factors, [&](const Power& p) { return p.first->key == factor->key; });
          return found != term.factors.end() && found->second == exponent && !mentions_any(*factor, term.bound);
        });
    if (!is_common) continue;
    uses_functions();
    const Power out(factor, -exponent);
    for (Term& term : rest.terms) term.factors = merged(term.factors, std::span(&out, 1));
    result = add(result, scale(of_factor(factor), exponent));
  }
  rest = collected(rest.terms);
  const bool is_one = rest.terms.size() == 1 && rest.terms[0].factors.empty() && rest.terms[0].bound.empty() &&
                      rest.terms[0].guards.empty() && rest.terms[0].coefficient == Rational(1);
  if (is_one) uses_functions();
  return is_one ? result : add(result, opaque(rest));
}

}  // namespace rewright::theorem
