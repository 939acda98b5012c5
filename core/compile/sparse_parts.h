// What stands for a sparse weight: compressed sparse rows, by blocks of columns.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/element_type.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rewright::compile {

/// One of the arrays that stand for a sparse weight.
struct SparsePart {
  enum class Kind : std::uint8_t {
    kValues,  ///< What is not 0: by block, row and columns.
    kPlaces,  ///< Of each: the sum of its columns' indices, that of the first from its block on, times their steps.
    kRows     ///< Of each row of each block, int32: where it begins; and where the last ends.
  };
  Kind kind = Kind::kValues;
  std::vector<std::size_t> rows, columns;     ///< Dimensions of the weight; together all.
  std::vector<std::int64_t> steps = {};       ///< By column.
  std::int64_t block = 0;                     ///< So many indices of the first column are a block.
  ElementType element = ElementType::kInt32;  ///< Of places; or uint16, where all fit.
  friend bool operator==(const SparsePart&, const SparsePart&) = default;
};

/// Elements of a weight that are not 0; of float32 numbers.
[[nodiscard]] REWRIGHT_API std::int64_t count_nonzeros(std::span<const float> weight);
/// The bytes of a part of a weight of these sizes.
[[nodiscard]] REWRIGHT_API std::vector<std::byte> bytes_of(const SparsePart& part, std::span<const float> weight,
                                                           std::span<const std::int64_t> sizes);

}  // namespace rewright::compile
