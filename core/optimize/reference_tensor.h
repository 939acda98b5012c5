// A tensor of the evaluation in double precision (reference.h).
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/tensor/scalar.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rewright {

struct ReferenceTensor {
  TensorType type{{}, ElementType::kUnknown};  ///< As the model has it; unknown where the tensor is missing.
  std::vector<Real> numbers;                   ///< Of types with a fraction.
  std::vector<std::byte> bytes;                ///< Of all other types.

  [[nodiscard]] bool is_there() const { return type.element != ElementType::kUnknown; }
};
/// By the input's name.
using ReferenceInputs = std::map<std::string, ReferenceTensor>;

/// Errors: kUnsupported, a type without numbers.
[[nodiscard]] REWRIGHT_API Result<ReferenceTensor> reference_tensor(const TensorType& type,
                                                                    std::span<const std::byte> bytes);
/// Numbers as a tensor of any type of numbers.
[[nodiscard]] REWRIGHT_API ReferenceTensor tensor_of(const TensorType& type, std::vector<Real> numbers);
/// The tensor's elements as numbers, of whatever type they are.
[[nodiscard]] REWRIGHT_API std::vector<Real> numbers_of(const ReferenceTensor& tensor);

/// Floating-point operations of the graph's operators.
[[nodiscard]] REWRIGHT_API double evaluation_flops(const Graph& graph);

}  // namespace rewright
