// What follows from an operator's definition, computed from it: traits, arithmetic, and how its element at an index
// reads the operands, axis by axis. What core must know of an operator it asks here, not by name.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/operator/expression.h>
#include <rewright/operator/operator.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace rewright {

/// Multilinear: every output is a sum of products with each operand in each once. Order and functions: of values that
/// depend on operands. What conditions on indices choose between counts whatever they choose.
[[nodiscard]] REWRIGHT_API Traits traits_of(const Definition& definition);

/// Operations on values, a function one, over all elements; what a window has outside of the tensor counts, what is
/// computed with indices does not. Nothing where a size is no number.
[[nodiscard]] REWRIGHT_API std::optional<double> operations_of(const Definition& definition);

/// Where an output's element reads an operand of the output's rank, along one of its axes.
enum class AxisUse : std::uint8_t {
  kSame,    ///< By the output's index along this axis alone; or the axis has size 1.
  kAll,     ///< At all positions, which are reduced.
  kWindow,  ///< At some, which are reduced, by the output's index along this axis.
  kOther,   ///< By another axis, or several.
};

struct OperandUse {
  std::uint32_t operand = 0;
  std::vector<AxisUse> axes = {};
};

/// One for each operand of the rank of all outputs, by ascending operand; temporaries are looked through. Nothing where
/// the outputs differ in rank.
[[nodiscard]] REWRIGHT_API std::optional<std::vector<OperandUse>> operand_uses(const Definition& definition);

/// Of a definition that moves axes and nothing more: axis k of the output is axis result[k] of the one operand.
[[nodiscard]] REWRIGHT_API std::optional<std::vector<std::int64_t>> permutation_of(const Definition& definition);

/// Does the one output hold the elements of the one operand in their order? Then the same memory is read in other
/// sizes.
[[nodiscard]] REWRIGHT_API bool keeps_order(const Definition& definition);

/// The sizes and positions at which tensors of the outputs' rank are cut or joined along an axis, concat of 3 and 5
/// along it giving 3 and 5; 1 where it is read in other steps; none if the whole of it is read.
[[nodiscard]] REWRIGHT_API std::vector<std::int64_t> cuts_along(const Definition& definition, std::size_t axis);

/// Whether `exchanged` says the same as `definition`, of tensors of the outputs' rank whose last two axes are exchanged
/// and of all others as they are. No only means that this was not seen.
[[nodiscard]] REWRIGHT_API bool says_same_by_columns(const Definition& definition, const Definition& exchanged);

}  // namespace rewright
