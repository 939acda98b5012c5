// A counterexample as a person reads it: ranks, parameters, sizes, every input and both sides, drawn as tensors.
//
//   ranks: x 2, y 2
//   x (2, 2) =
//      1  -3
//      0   2
//   left (2, 2) =
//      ...
#pragma once

#include <rewright/axiom/axiom.h>

#include <span>
#include <string>

#include "axiom/evaluation.h"

namespace rewright {

/// Elements in rows, aligned; a tensor of rank 3 or more as one matrix for each index of its leading axes.
[[nodiscard]] REWRIGHT_API std::string drawing_of(std::string_view name, const Shape& shape,
                                                  std::span<const std::string> elements);

/// The run that `values` holds.
template <class Scalar>
[[nodiscard]] std::string describe_counterexample(const TypedAxiom& axiom, const AxiomProgram& program,
                                                  const TermValues<Scalar>& values, std::span<const SizeVar> names,
                                                  std::span<const std::int64_t> sizes);

/// "ranks: x 2, y 2" and "a = 1", ...: one line for all ranks, one for each parameter.
[[nodiscard]] std::string describe_typing(const TypedAxiom& axiom);

}  // namespace rewright
