// How large an expression of sizes may be that is read from a file.
#pragma once

#include <rewright/tensor/dim.h>

namespace rewright {

/// Whether a + b, or a * b, has numbers up to 2^41 (no tensor is larger), not more than 1,000 terms and products of not
/// more than 64 factors. Hostile text would else overflow what shape rules compute, or multiply out without end.
[[nodiscard]] bool sum_fits(const SymbolicDim& a, const SymbolicDim& b);
[[nodiscard]] bool product_fits(const SymbolicDim& a, const SymbolicDim& b);

}  // namespace rewright
