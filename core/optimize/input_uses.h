// What a model's inputs hold, as far as their names, types, shapes and uses tell.
//
//   indices      whole numbers within the axis that they choose from (Gather, OneHot and their like)
//   compared     one of the constants that they are compared with (a sample rate)
//   conditions   both truth values
//   lengths      whole numbers from 1 to the length of the sequences beside them
//   divisors     whole numbers from 1 on
//   masks        mostly ones
//   images       in [0, 1), or all bytes: an axis of 1, 3 or 4 channels and two of 16 or more, or a name that says so
//   others       of types with a fraction: normal, of variance 1; whole numbers: 0 and 1, which choose wherever there
//   are
//                two things to choose from
//
// The second of two trials draws those with a fraction otherwise: uniform in [0, 1), where logarithms and roots are
// defined; images as others. An index is followed through nodes that only move their first operand.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <string>

#include "optimize/input_source.h"

namespace rewright {

/// A source for every data input that numbers can be drawn for.
[[nodiscard]] REWRIGHT_API GivenInputs plausible_inputs(const Graph& graph, int trial);

/// Why no numbers can be drawn for an input: one sentence; empty where they can.
[[nodiscard]] REWRIGHT_API std::string why_not_drawn(const Node& input);

}  // namespace rewright
