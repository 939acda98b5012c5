// Which rules can be applied at all: those that matching finds and that say what to put in the place.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <set>
#include <string>

namespace rewright {

/// Errors: kUnsupported, with the reason, where the rule can never be applied: a source that is a bare input, a size or
/// an input that the source leaves open, two sides that differ in the order of operands alone.
[[nodiscard]] REWRIGHT_API Status check_usable(const Rule& rule);

/// Names in the side's size parameters.
[[nodiscard]] REWRIGHT_API std::set<SizeVar> size_variables(const Pattern& side);

}  // namespace rewright
