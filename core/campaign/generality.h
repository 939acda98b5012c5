// More general forms of a proved rule, each proved in its turn.
//
// Enumeration has few inputs of a kind, so it finds (x y) x = x (y x) where (x y) z = x (y z) holds, and
// concat(concat(x, relu(y)), y) = ... where nothing depends on the relu. From a rule's two sides, seen as trees,
//   a subterm that stands on both sides becomes an input;
//   an input that stands in several places becomes several inputs,
// as long as what comes out is proved. Outputs that share work go on sharing it.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <functional>
#include <optional>

namespace rewright {

/// Says whether a rule holds. It comes with its conditions, id, name and example set.
using HoldsRule = std::function<bool(const Rule&)>;

/// The most general form that these two steps reach, largest subterm first, most inputs first; nothing where that is
/// the rule itself.
[[nodiscard]] REWRIGHT_API std::optional<Rule> more_general(const Rule& rule, const HoldsRule& holds);

}  // namespace rewright
