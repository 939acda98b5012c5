// Names and sizes of element types.
#include <rewright/tensor/element_type.h>

#include <array>
#include <utility>

namespace rewright {

std::size_t element_size(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kBool: return 1;
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kFloat16:
    case ElementType::kBFloat16: return 2;
    case ElementType::kFloat32:
    case ElementType::kInt32:
    case ElementType::kUint32: return 4;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kFloat64: return 8;
    case ElementType::kString:
    case ElementType::kUnknown: break;
  }
  return 0;
}

bool is_floating(ElementType type) {
  return type == ElementType::kFloat32 || type == ElementType::kFloat64 || type == ElementType::kFloat16 ||
         type == ElementType::kBFloat16;
}

namespace {

constexpr std::array<std::pair<ElementType, const char*>, 15> kNames = {{
    {ElementType::kUnknown, "unknown"},
    {ElementType::kFloat32, "float32"},
    {ElementType::kUint8, "uint8"},
    {ElementType::kInt8, "int8"},
    {ElementType::kUint16, "uint16"},
    {ElementType::kInt16, "int16"},
    {ElementType::kInt32, "int32"},
    {ElementType::kInt64, "int64"},
    {ElementType::kString, "string"},
    {ElementType::kBool, "bool"},
    {ElementType::kFloat16, "float16"},
    {ElementType::kFloat64, "float64"},
    {ElementType::kUint32, "uint32"},
    {ElementType::kUint64, "uint64"},
    {ElementType::kBFloat16, "bfloat16"},
}};

}  // namespace

const char* name_of(ElementType type) {
  for (const auto& [known, name] : kNames) {
    if (known == type) return name;
  }
  return "unknown";
}

std::optional<ElementType> element_type_named(std::string_view name) {
  for (const auto& [type, known] : kNames) {
    if (name == known) return type;
  }
  return std::nullopt;
}

}  // namespace rewright
