// The canonical form of a rule: what two rules have in common that differ in names and in the order of nodes only.
#pragma once

#include <rewright/rule/rule.h>

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rule/conditions.h"

namespace rewright {

using SizeReplacement = std::function<std::optional<SymbolicDim>(SizeVar)>;

[[nodiscard]] SymbolicParams substitute(const SymbolicParams& params, const SizeReplacement& replace);
[[nodiscard]] Constraint substitute(const Constraint& constraint, const SizeReplacement& replace);

/// The nodes that the outputs need, operands before their users, in the order in which a reader of the outputs meets
/// them. `input_count` inputs come first in the numbering of ports.
[[nodiscard]] std::vector<std::size_t> reading_order(const Pattern& pattern, std::size_t input_count);
/// Positions of the inputs in the order in which a reader meets them, without those that the pattern does not use.
[[nodiscard]] std::vector<std::size_t> input_order(const Pattern& pattern, std::size_t input_count);

/// The same pattern with nodes in reading order, equal applications made once, and input i at position `position[i]`.
[[nodiscard]] Pattern arrange(const Pattern& pattern, std::span<const std::size_t> position, std::size_t input_count);

/// Inputs named anew, everywhere; `names` by position, match variables by `others`.
[[nodiscard]] REWRIGHT_API Rule rename(const Rule& rule, std::span<const std::string> names,
                                       const std::map<SizeVar, SizeVar>& others = {});

/// Inputs in order of first use by the source and named x0, x1, ...; match variables s0, s1, ... in order of
/// appearance; patterns arranged; conditions in normal form, sorted by their text. Inputs that neither side uses are
/// dropped.
[[nodiscard]] REWRIGHT_API Rule canonical(const Rule& rule);
/// The id of a rule that is in this form. `one_output_each`: no application has several outputs, so that no shapes are
/// needed to tell how many each has.
[[nodiscard]] std::string id_of_canonical(const Rule& rule, bool one_output_each = false);

/// "split-concat", "concat-relu-relu-to-relu-concat": the operators of both sides, outermost first.
[[nodiscard]] REWRIGHT_API std::string readable_name(const Rule& rule);
/// The readable name and the first 8 digits of the id: "split-concat-5c0e17a2". It depends on the rule alone, so it
/// stays when a library grows. Two rules of one library share it once in some 10^9 pairs of equal operators.
[[nodiscard]] REWRIGHT_API std::string rule_name(const Rule& rule);
/// The rule's name, added to those that are `taken`; where another rule has it, the whole id stands in it.
[[nodiscard]] REWRIGHT_API std::string unique_name(const Rule& rule, std::set<std::string>& taken);

/// The order of the rule's size variables: inputs by first use in the source, then match variables.
[[nodiscard]] REWRIGHT_API SizeOrder size_order(const Rule& rule);

/// defined(target) and equal output shapes, minus what defined(source) and the rule's precondition imply.
[[nodiscard]] REWRIGHT_API Result<std::vector<Constraint>> open_conditions(const Rule& rule);

}  // namespace rewright
