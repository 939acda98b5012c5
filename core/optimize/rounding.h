// Numbers in double precision, rounded to an element type and written in it.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/tensor/scalar.h>

#include <cstddef>
#include <span>
#include <vector>

namespace rewright {

/// Half the spacing of numbers at 1: the greatest relative error of rounding once. Types without a fraction have none.
[[nodiscard]] REWRIGHT_API double unit_roundoff(ElementType type);

/// Half the spacing of the type's least numbers: the greatest error of rounding those.
[[nodiscard]] REWRIGHT_API double least_error(ElementType type);
/// The greatest finite number of the type; a double's for other types.
[[nodiscard]] REWRIGHT_API double greatest_number(ElementType type);

/// Each to the nearest number of a floating-point type, ties to even; beyond its greatest to an infinity.
REWRIGHT_API void round_to(ElementType type, std::span<Real> numbers);

/// Little-endian bytes; rounded to nearest, integers truncated. `type` is one of numbers.
[[nodiscard]] REWRIGHT_API std::vector<std::byte> to_bytes(ElementType type, std::span<const Real> numbers);
/// `count` numbers. Errors: kUnsupported, a type without numbers; kShape, bytes that are not so many.
[[nodiscard]] REWRIGHT_API Result<std::vector<Real>> to_numbers(ElementType type, std::span<const std::byte> bytes,
                                                                std::size_t count);
/// A constant's, written out where it is one repeated number. Errors: as to_numbers().
[[nodiscard]] REWRIGHT_API Result<std::vector<Real>> to_numbers(const ConstantData& constant);

}  // namespace rewright
