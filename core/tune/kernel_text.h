// Kernels as one line of text, with sizes.
//
//   kernel := "(" input ("," input)* ")" term
//   input  := name ":" size ("x" size)* ["weight"]
//   term   := name | operator ["[" parameters "]"] "(" term ("," term)* ")"
//
//   (x:512x512, w:512x512 weight) relu(matmul(x, w))
#pragma once

#include <rewright/optimize/kernel.h>
#include <rewright/plugin/registry.h>

#include <string_view>

namespace rewright::tune {

/// Errors: kParse, line, column and what was expected; kNotFound, an operator that is not there; kShape, operands that
/// it refuses.
[[nodiscard]] REWRIGHT_API Result<OwnedKernel> parse_kernel(std::string_view text, const Registry& registry);

}  // namespace rewright::tune
