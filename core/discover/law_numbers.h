// The numbers that stand in the lists of a law (sizes, kernels, what is put before and after): as general as holds.
#pragma once

#include <rewright/axiom/axiom.h>

#include "discover/judge.h"

namespace rewright {

/// Lists of one operator that can only grow together (axes, starts, sizes and steps of a slice) become variables.
[[nodiscard]] Axiom generalise_lists(Axiom axiom, const Judge& judge);
/// A number becomes the sum of two of the same parameter, or the product of the sizes of a tensor, where it can be
/// nothing else.
[[nodiscard]] Axiom generalise_sums(Axiom axiom, const Judge& judge);
/// A list of sizes becomes a variable, of any length; then a number, or a size of a tensor, becomes one in all lists
/// where it stands as far from the end, or in some; and one variable becomes different ones, where that holds.
[[nodiscard]] Axiom generalise_numbers(Axiom axiom, const Judge& judge);

}  // namespace rewright
