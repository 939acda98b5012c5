// Elements of constants: their sizes, and their values as numbers.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rewright::model {

/// ONNX's number for an element type, if Graph has a name for it.
[[nodiscard]] std::optional<ElementType> element_type(int data_type);

/// Fails for types that are no numbers, as does write_element.
[[nodiscard]] REWRIGHT_API double read_element(ElementType type, const std::byte* bytes);
/// Rounds to nearest, ties to even; integers are truncated.
REWRIGHT_API void write_element(ElementType type, double value, std::byte* bytes);

[[nodiscard]] REWRIGHT_API std::vector<std::byte> encode(ElementType type, std::span<const double> values);
/// As many numbers as `values` has room for.
void decode(ElementType type, std::span<const std::byte> bytes, std::span<double> values);
/// Integers as a constant of element type int64.
[[nodiscard]] ConstantData integers_of_shape(Shape shape, std::span<const std::int64_t> values);
/// A constant's bytes, written out where it is one repeated number.
[[nodiscard]] REWRIGHT_API std::vector<std::byte> bytes_of(const ConstantData& constant);
/// The size of what a constant holds in memory and in a file.
[[nodiscard]] std::int64_t stored_bytes(const ConstantData& constant);

}  // namespace rewright::model
