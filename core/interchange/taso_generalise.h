// A rule of ours from the two sides of a TASO rule.
#pragma once

#include "interchange/taso_side.h"

namespace rewright::taso_format {

/// Puts small sizes in at which both sides are defined, and generalises what comes out; the source's kernel sizes
/// become conditions where the weight is an input. Errors: kShape where there are no such sizes; as generalise().
[[nodiscard]] Result<Rule> make_rule(std::span<const PatternInput> inputs, const Side& source, const Side& target);

/// Up to `count` choices of small sizes at which the source is defined, those of a fixed seed.
[[nodiscard]] std::vector<SizeAssignment> source_sizes(std::span<const PatternInput> inputs, const Side& source,
                                                       std::size_t count);

}  // namespace rewright::taso_format
