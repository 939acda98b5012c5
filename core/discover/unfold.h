// Rules said otherwise, for provers that only rewrite what is there: an input that is split may be put as the
// concatenation of two, an input may be put as the transpose of another. Each says as much as the rule, given an axiom:
//
//   concat-of-splits      every x is concat(a, x', x'') for x' = split.0(a, [m, n], x), x'' = split.1(a, [m, n], x); so
//   in
//                         more parts, by the definitions of concatenations and splits of three and four
//   transpose-transpose   every x is transpose(x') for x' = transpose(x)
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <optional>

namespace rewright {

/// Every input that is split becomes the concatenation of as many inputs, whose sizes are the split's. Nothing where
/// no input is.
[[nodiscard]] REWRIGHT_API std::optional<Rule> unfold_splits(const Rule& rule, const Operator& concat);
/// Every input of rank 2 to 4 becomes another with its two last axes exchanged. Nothing where there is none.
[[nodiscard]] REWRIGHT_API std::optional<Rule> unfold_transposes(const Rule& rule, const Operator& transpose);

}  // namespace rewright
