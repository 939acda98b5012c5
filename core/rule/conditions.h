// Conditions on the sizes of a rule: in one form, and those that do not follow from others
// (<rewright/tensor/linear.h>).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>
#include <rewright/tensor/dim.h>
#include <rewright/tensor/linear.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// Sizes of inputs by position and axis, then all others in the order of `others`.
[[nodiscard]] REWRIGHT_API SizeOrder size_order(std::span<const PatternInput> inputs,
                                                std::span<const SizeVar> others = {});

/// The constraint in one fixed form: common factors removed, no negative coefficient, the side with the first variable
/// on the left, "a <= b" as "b >= a". Constraints that say the same term by term become equal.
[[nodiscard]] REWRIGHT_API Constraint normal_form(const Constraint& constraint, const SizeOrder& order);

/// Those of `wanted` that `known` does not imply, each in normal form with solved variables put in for, without those
/// that the others imply. Equations come first. Errors: kMismatch where they contradict what is known.
[[nodiscard]] REWRIGHT_API Result<std::vector<Constraint>> missing_conditions(std::span<const Constraint> known,
                                                                              std::span<const Constraint> wanted,
                                                                              const SizeOrder& order);

/// A condition of the rule that no sizes meet at which its source is defined: sizes of inputs are 1 at least, others 0
/// at least. By intervals and linear arithmetic: what it does not find may still be met nowhere. 2^40*x.0*x.1 = 0 is
/// met nowhere; 2^40*s0 = 0 is.
[[nodiscard]] REWRIGHT_API std::optional<Constraint> unmet_condition(const Rule& rule);

}  // namespace rewright
