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

#include <span>
#include <vector>

#include "axiom/audit_types.h"

namespace rewright {

/// One result per axiom, in order. Errors: a :domain that cannot be read.
[[nodiscard]] REWRIGHT_API Result<std::vector<AuditResult>> audit(std::span<const Axiom> axioms,
                                                                  const AuditOptions& options = {});
[[nodiscard]] REWRIGHT_API Result<AuditResult> audit(const Axiom& axiom, const AuditOptions& options = {});

}  // namespace rewright
