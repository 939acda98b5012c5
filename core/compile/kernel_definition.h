// What a kernel computes, as one definition: those of its applications behind each other, without what need not be
// stored between them (loop/composition.h).
//
//   |conv2d|data(1, 3, 8, 8)weight(4, 3, 3, 3)+0|relu|data(1, 4, 8, 8)
//   y0[n, o, i, j] = max(sum(c < 3, s < 3, t < 3, where ..., x0[n, c, i + s - 1, j + t - 1] * x1[o, c, s, t]), 0)
#pragma once

#include <rewright/base/result.h>
#include <rewright/operator/expression.h>
#include <rewright/optimize/kernel.h>

#include <span>
#include <string>
#include <vector>

namespace rewright::compile {

/// Of an application, whose operator says only which of its buffers hold real numbers.
struct ElementTypes {
  ElementType numbers = ElementType::kFloat32;  ///< What stands for real numbers.
  std::vector<ElementType> outputs = {};        ///< One for each output; none: as the operator has them.
};

/// A definition, and what its operands are: outputs of the parts before it, or tensors from outside.
struct DefinitionPart {
  Definition definition;
  std::vector<Kernel::Source> sources;  ///< One for each operand.
};

/// The parts as one definition. Its inputs and weights are the operands from outside, part by part; its outputs are
/// those that no part takes: x0, x1, ... and y0, y1, ...
[[nodiscard]] REWRIGHT_API Definition composed(std::span<const DefinitionPart> parts);

/// An application's definition, in these element types. Errors: kShape, operands that the operator refuses.
[[nodiscard]] REWRIGHT_API Result<Definition> definition_of(const Application& application, const ElementTypes& types);

/// `types`: by application; none: float32. Equal keys (optimize/cost_key.h) and types give equal definitions if the
/// applications stand in the order of the key. Errors: kShape, operands that an operator refuses.
[[nodiscard]] REWRIGHT_API Result<Definition> definition_of(const Kernel& kernel,
                                                            std::span<const ElementTypes> types = {});

}  // namespace rewright::compile
