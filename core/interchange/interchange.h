// Rules in the texts of other programs. Only the equations are written; conditions on sizes stand in comments.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <span>
#include <string>

namespace rewright {

/// One rewrite a line, as egg's patterns are written: parameters first, inputs as ?x. A rule of several outputs is one
/// line of several pairs, as TENSAT's multi-patterns are ("l1 , l2 => r1 , r2").
///     ; matmul-matmul
///     (matmul (matmul ?x ?y) ?z) => (matmul ?x (matmul ?y ?z))
[[nodiscard]] REWRIGHT_API std::string to_egg(std::span<const Rule> rules);

/// SMT-LIB 2.6 in the vocabulary of axioms/*.smt2: every rule is a goal between push and pop, in which unsat means that
/// the axioms asserted before it (paste them in front) imply the equations. Sizes are Int constants.
[[nodiscard]] REWRIGHT_API std::string to_smt2(std::span<const Rule> rules);

}  // namespace rewright
