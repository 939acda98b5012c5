// The types that the elements of tensors have.
#pragma once

#include <rewright/base/visibility.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rewright {

/// Element types, numbered as in ONNX's TensorProto.DataType. Operators compute on floating-point tensors; tensors of
/// other types only pass through nodes that are carried as they are.
enum class ElementType : std::int32_t {
  kUnknown = 0,  ///< The type is not known before the run, or it is no tensor; the shape says nothing then.
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBFloat16 = 16,
};
/// Bytes; 0 for strings and kUnknown.
[[nodiscard]] REWRIGHT_API std::size_t element_size(ElementType type);
[[nodiscard]] REWRIGHT_API bool is_floating(ElementType type);
/// "float32", "bool", ...; "unknown" for kUnknown.
[[nodiscard]] REWRIGHT_API const char* name_of(ElementType type);
/// The type of that name.
[[nodiscard]] REWRIGHT_API std::optional<ElementType> element_type_named(std::string_view name);

}  // namespace rewright
