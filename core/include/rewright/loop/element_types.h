// The element types of values.
//
// A load has its buffer's, a cast its own, a comparison bool. Numbers and indices have none: they take the one that
// they meet, in the end that of the buffer that the value is stored in. Operands must agree; max, arithmetic and
// functions are not for bool; and, or, not for nothing else; functions and numbers that are not whole need a
// floating-point type or int32, where they stand for mixing functions (wrapping.h).
#pragma once

#include <rewright/loop/loop_program.h>

#include <optional>
#include <span>
#include <unordered_map>

namespace rewright::loop {

/// Types that programs compute with.
[[nodiscard]] REWRIGHT_API bool is_computable(ElementType type);
/// A type of given numbers that are read as indices alone: uint16.
[[nodiscard]] constexpr bool is_of_indices(ElementType type) { return type == ElementType::kUint16; }

/// Such a type in C: "float", "int64_t", ...
[[nodiscard]] constexpr const char* c_type(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return "float";
    case ElementType::kFloat64: return "double";
    case ElementType::kInt32: return "int32_t";
    case ElementType::kInt64: return "int64_t";
    case ElementType::kUint16: return "uint16_t";
    default: return "bool";
  }
}

/// Types of the values over given buffers; asks each shared value once. The values asked about must outlive it.
class REWRIGHT_API ElementTypes {
 public:
  explicit ElementTypes(std::span<const Buffer> buffers) : buffers_(buffers) {}
  /// Nothing for numbers and indices. Errors: kShape, operands that do not fit.
  [[nodiscard]] Result<std::optional<ElementType>> of(const ValueExpr& value);

 private:
  [[nodiscard]] Result<std::optional<ElementType>> computed(const ValueExpr& value);
  /// The one type of some operands.
  [[nodiscard]] Result<std::optional<ElementType>> common(std::span<const ValueExpr> operands);

  std::span<const Buffer> buffers_;
  std::unordered_map<const ValueExpr::Node*, std::optional<ElementType>> known_;
};

}  // namespace rewright::loop
