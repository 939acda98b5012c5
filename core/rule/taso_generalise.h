// A rule of ours from the two sides of a TASO rule.
#pragma once

#include "rule/taso_side.h"

namespace rewright::taso_format {

/// Puts small sizes in at which both sides are defined, and generalises what comes out; the source's kernel sizes
/// become conditions where the weight is an input. Errors: kShape where there are no such sizes; as generalise().
[[nodiscard]] Result<Rule> make_rule(std::span<const PatternInput> inputs, const Side& source, const Side& target);

}  // namespace rewright::taso_format
