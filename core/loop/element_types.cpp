#include <rewright/loop/element_types.h>

namespace rewright::loop {
namespace {

using Type = std::optional<ElementType>;

bool is_logical(ValueExpr::Kind kind) {
  return kind == ValueExpr::Kind::kAnd || kind == ValueExpr::Kind::kOr || kind == ValueExpr::Kind::kNot;
}
bool is_comparison(ValueExpr::Kind kind) {
  return kind == ValueExpr::Kind::kEqual || kind == ValueExpr::Kind::kLess || kind == ValueExpr::Kind::kLessEqual;
}

Error misfit(ElementType found, std::string_view expected) {
  return shape_error("a value of element type {} stands where {} is expected", name_of(found), expected);
}

}  // namespace

bool is_computable(ElementType type) {
  return type == ElementType::kFloat32 || type == ElementType::kFloat64 || type == ElementType::kInt32 ||
         type == ElementType::kInt64 || type == ElementType::kBool;
}

Result<Type> ElementTypes::of(const ValueExpr& value) {
  if (const auto known = known_.find(value.address()); known != known_.end()) return known->second;
  REWRIGHT_TRY(const Type type, computed(value));
  known_.emplace(value.address(), type);
  return type;
}

Result<Type> ElementTypes::common(std::span<const ValueExpr> operands) {
  Type all;
  for (const ValueExpr& operand : operands) {
    REWRIGHT_TRY(const Type type, of(operand));
    if (all && type && *all != *type) return misfit(*type, name_of(*all));
    if (type) all = type;
  }
  return all;
}

Result<Type> ElementTypes::computed(const ValueExpr& value) {
  const auto kind = value.kind();
  if (kind == ValueExpr::Kind::kNumber || kind == ValueExpr::Kind::kIndex) return Type();
  if (kind == ValueExpr::Kind::kLoad) return Type(buffers_[value.buffer().value].element);
  if (kind == ValueExpr::Kind::kSelect) {
    REWRIGHT_TRY(const Type condition, of(value.operands()[0]));
    if (condition != ElementType::kBool) return misfit(condition.value_or(ElementType::kUnknown), "bool");
    return common(value.operands().subspan(1));
  }
  REWRIGHT_TRY(const Type type, common(value.operands()));
  if (kind == ValueExpr::Kind::kCast) return Type(value.element());
  if (is_logical(kind)) {
    if (type && *type != ElementType::kBool) return misfit(*type, "bool");
    return Type(ElementType::kBool);
  }
  if (is_comparison(kind)) return Type(ElementType::kBool);
  if (type == ElementType::kBool) return misfit(*type, "a number");
  if (kind == ValueExpr::Kind::kCall && type == ElementType::kInt64) return misfit(*type, "float32, float64 or int32");
  return type;
}

}  // namespace rewright::loop
