// Sizes for the dimensions that a model leaves open, where nobody gives them.
//
// What is written holds for all sizes. Those that are chosen serve to import the model, to tell what it costs and to
// compare the result with the original, which is done at several.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "onnx/import.h"

namespace rewright {

/// A size for each open dimension, by its name.
using Sizes = std::map<std::string, std::int64_t>;

/// Assignments to try one after the other, the likeliest first: batches of a few, images, sequences. Dimensions differ
/// where they can, so that no two are equal by chance. Sizes in `given` (by a dimension's name, or by "input.axis")
/// stay as they are; at least one assignment.
[[nodiscard]] REWRIGHT_API std::vector<Sizes> plausible_sizes(std::span<const OpenSize> open, const Sizes& given);

/// Assignments in which every open dimension differs from `sizes` in one of them: larger, smaller, one. None if there
/// are no open dimensions.
[[nodiscard]] REWRIGHT_API std::vector<Sizes> other_sizes(std::span<const OpenSize> open, const Sizes& sizes);

/// "batch=2, tokens=16".
[[nodiscard]] REWRIGHT_API std::string to_text(const Sizes& sizes);

}  // namespace rewright
