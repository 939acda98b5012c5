// The audit: an axiom is evaluated on every combination of ranks, parameters and sizes at which it is claimed.
//
//   polynomials     No application uses order or functions: over the prime field at a point drawn from all of it, and
//   in
//                   exact integers. If both sides differ as polynomials of degree d at most, the first comparison
//                   misses that with a probability of at most d / (2^61 - 1) (Schwartz, JACM 27(4), 1980).
//   with order      max, relu: in exact rationals, small integers of both signs, quarters, negative quarters, mostly
//   -1,
//                   rows that are equal. No bound.
//   with functions  exp and the like: over the field, where each is a keyed pseudo-random function, so that the law
//   holds
//                   for every function in its place; and in floating point. An axiom that :needs "real-functions" holds
//                   for the functions themselves, and is compared in floating point alone. No bound.
//
// Floating point  Inputs are quarters, and numbers of both signs from 1e-30 to 1e30. Two results differ if they lie
// further
//                 apart than eight times what 32 evaluations change in them that round each step up, down or to nearest
//                 by chance (Vignes, Math. Comp. Simul. 35, 1993): rounding refutes no true axiom. Where something
//                 overflows or underflows nothing is said. A side that is a number where the other is none refutes at
//                 quarters, at which nothing overflows: exp(log x) = x at x < 0.
// Wide part       Sizes to wide_dim and parameters out of all that :domain claims, some of each, drawn with the seed.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "axiom/domain.h"

namespace rewright {

struct AuditOptions {
  AuditDomain domain = AuditDomain::kSmall;
  std::int64_t max_dim = 3;
  /// Of each combination of ranks and parameters: where more sizes meet the conditions, an even part of them. 0: all.
  std::size_t max_sizes = 400;
  /// Combinations of ranks and parameters; where there are more, an even part of them. 0: all.
  std::size_t max_typings = 400;
  /// Besides: sizes up to this, and parameters out of all that :domain claims, drawn with the seed.
  std::int64_t wide_dim = 8;
  std::size_t wide_typings = 12;  ///< Of an axiom; 0: no wide part.
  std::size_t wide_sizes = 3;     ///< Of each of these typings, and of as many of the others.
  std::uint64_t seed = 1;
  int threads = 1;
  /// So many of the combinations of ranks and parameters of all axioms are done. Called from one thread at a time.
  std::function<void(std::size_t done, std::size_t total, std::uint64_t combinations)> progress;
  std::function<bool()> stop;  ///< Asked now and then; true ends the work.
};

struct AuditResult {
  std::string name;
  std::uint64_t combinations = 0;  ///< Of ranks, parameters and sizes of the domain at which both sides were compared.
  std::uint64_t drawn = 0;         ///< The same of the wide part.
  std::uint64_t sampled = 0;       ///< Of the domain's, without a bound: order or functions are used.
  double error = 0;                ///< Greatest bound of the others.
  bool complete = true;            ///< Every combination of the domain, none left out.
  bool stopped = false;            ///< Ended before that: what is said is of the combinations that were done.
  bool holds = true;
  std::string counterexample;  ///< The one with the fewest elements among those with the least greatest size.
};

/// One result per axiom, in order. Errors: a :domain that cannot be read.
[[nodiscard]] REWRIGHT_API Result<std::vector<AuditResult>> audit(std::span<const Axiom> axioms,
                                                                  const AuditOptions& options = {});
[[nodiscard]] REWRIGHT_API Result<AuditResult> audit(const Axiom& axiom, const AuditOptions& options = {});

}  // namespace rewright
