#include "c_expression.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace rewright::c {
namespace {

std::string parenthesised(std::string text, bool needed) { return needed ? fmt::format("({})", text) : text; }

}  // namespace

const char* suffix(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return "f32";
    case ElementType::kFloat64: return "f64";
    case ElementType::kInt32: return "i32";
    default: return "i64";
  }
}

void ExpressionWriter::enter(const Axis& axis, std::string name, IndexRange range) {
  loops_.insert_or_assign(axis.id, Variable{std::move(name), range});
}

loop::AxisRanges ExpressionWriter::ranges() const {
  return [this](const Axis& axis) {
    const auto at = loops_.find(axis.id);
    return at == loops_.end() ? std::nullopt : std::optional(at->second.range);
  };
}

// --- indices ---------------------------------------------------------------------------------------------------

std::string ExpressionWriter::infix(const IndexExpr& index, const char* sign, int own, int around) {
  const auto parts = index.operands();
  return parenthesised(fmt::format("{} {} {}", text(parts[0], own), sign, text(parts[1], own + 1)), around > own);
}

/// C's / and % round towards 0: right for what is never negative.
std::string ExpressionWriter::divided(const IndexExpr& index, int around) {
  const bool is_floor = index.kind() == IndexExpr::Kind::kFloor;
  const auto parts = index.operands();
  const auto range = range_of(parts[0], ranges());
  if (range && range->low >= 0) return infix(index, is_floor ? "/" : "%", kProduct, around);
  return fmt::format("{}({}, {})", helpers_.use(is_floor ? "floor_div" : "floor_mod"), text(parts[0], kLowest),
                     text(parts[1], kLowest));
}

std::string ExpressionWriter::data(const IndexExpr& index) {
  reads_data_ = true;
  const auto parts = index.operands();
  const auto low = parts[0].number(), high = parts[1].number();
  if (program_[index.buffer()].role == BufferRole::kWeight && low && high) {
    const IndexRange range{*low, *high - 1};
    if (checked_.emplace(index.buffer().value, WeightCheck{range}).first->second.range == range)
      return fmt::format("(int64_t){}", place(index.buffer(), parts.subspan(2)));
  }
  return fmt::format("{}((int64_t){}, {}, {}, &fault)", helpers_.use("data_in"),
                     place(index.buffer(), parts.subspan(2)), text(parts[0], kLowest), text(parts[1], kLowest));
}

/// The length of a row, as where the next begins by where it does.
std::string ExpressionWriter::difference(const IndexExpr& index, int around) {
  std::string written = infix(index, "-", kSum, around);
  const auto parts = index.operands();
  using Kind = IndexExpr::Kind;
  if (parts[0].kind() != Kind::kData || parts[1].kind() != Kind::kData) return written;
  const auto check = checked_.find(parts[0].buffer().value);
  const auto end = parts[0].operands().subspan(2), begin = parts[1].operands().subspan(2);
  const bool is_row = parts[0].buffer() == parts[1].buffer() && end.size() == 1 &&
                      loop::simplified(end[0] - begin[0], ranges()).number() == 1;
  if (is_row && check != checked_.end()) check->second.is_ascending = true;
  return written;
}

std::string ExpressionWriter::text(const IndexExpr& index, int around) {
  using Kind = IndexExpr::Kind;
  switch (index.kind()) {
    case Kind::kNumber: return parenthesised(std::to_string(*index.number()), *index.number() < 0 && around > kLowest);
    case Kind::kAxis: return loops_.at(index.axis().id).name;
    case Kind::kAdd: return infix(index, "+", kSum, around);
    case Kind::kSubtract: return difference(index, around);
    case Kind::kMultiply: return infix(index, "*", kProduct, around);
    case Kind::kData: return data(index);
    default: return divided(index, around);
  }
}

std::string ExpressionWriter::condition(const Guard& guard) {
  constexpr const char* kSigns[] = {"==", "<", "<="};
  std::string all;
  for (const IndexCondition& c : guard) {
    all += fmt::format("{}{} {} {}", all.empty() ? "" : " && ", text(c.left, kSum),
                       kSigns[static_cast<int>(c.relation)], text(c.right, kSum));
  }
  return all.empty() ? "true" : all;
}

std::string ExpressionWriter::place(BufferId buffer, std::span<const IndexExpr> at) {
  const IndexExpr index = flat(buffer, at);
  if (auto name = naming_(buffer, index)) return *std::move(name);
  const std::string& name = program_[buffer].name;
  return variables_.contains(buffer.value) ? name : fmt::format("{}[{}]", name, text(index, kLowest));
}

IndexExpr ExpressionWriter::flat(BufferId buffer, std::span<const IndexExpr> at) const {
  IndexExpr flat = 0;
  for (std::size_t d = 0; d < at.size(); ++d) flat = flat * program_[buffer].sizes[d] + at[d];
  return loop::simplified(flat, ranges());
}

// --- values ----------------------------------------------------------------------------------------------------

ElementType ExpressionWriter::type_of(const ValueExpr& value, ElementType otherwise) {
  const auto type = types_.of(value);
  return type ? type->value_or(otherwise) : otherwise;
}

std::string ExpressionWriter::whole(const IndexExpr& index, ElementType type, int around) {
  if (const auto number = index.number()) {
    const bool negative = *number < 0;
    if (type == ElementType::kFloat32)
      return parenthesised(fmt::format("{}.0f", *number), negative && around > kLowest);
    if (type == ElementType::kFloat64) return parenthesised(fmt::format("{}.0", *number), negative && around > kLowest);
    if (type == ElementType::kBool) return *number != 0 ? "true" : "false";
    if (type == ElementType::kInt32) {
      const auto wrapped = static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(*number)));
      return wrapped == std::numeric_limits<std::int32_t>::min() ? "INT32_MIN" : fmt::format("{}", wrapped);
    }
    return *number == std::numeric_limits<std::int64_t>::min() ? "INT64_MIN" : fmt::format("INT64_C({})", *number);
  }
  if (type == ElementType::kInt64) return text(index, around);
  return parenthesised(fmt::format("({}){}", loop::c_type(type), text(index, kAtom)), around > kUnary);
}

std::string ExpressionWriter::number(const ValueExpr& value, ElementType type, int around) const {
  const double number = value.number();
  if (type == ElementType::kInt32) return number < 0 ? "INT32_MIN" : "INT32_MAX";
  if (type == ElementType::kInt64) return number < 0 ? "INT64_MIN" : "INT64_MAX";
  if (std::isnan(number)) return "NAN";
  if (std::isinf(number)) return number < 0 ? parenthesised("-INFINITY", around > kLowest) : "INFINITY";
  std::string text =
      type == ElementType::kFloat32 ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  if (type == ElementType::kFloat32) {
    if (std::isinf(static_cast<float>(number)))
      text = number < 0 ? "-INFINITY" : "INFINITY";
    else
      text += "f";
  }
  return parenthesised(std::move(text), text[0] == '-' && around > kLowest);
}

std::string ExpressionWriter::infix(const ValueExpr& value, ElementType type, const char* sign, int own, int around) {
  const auto parts = value.operands();
  return parenthesised(fmt::format("{} {} {}", text(parts[0], type, own), sign, text(parts[1], type, own + 1)),
                       around > own);
}

std::string ExpressionWriter::helper(std::string_view stem, const ValueExpr& value, ElementType type) {
  const auto parts = value.operands();
  return fmt::format("{}({}, {})", helpers_.use(fmt::format("{}_{}", stem, suffix(type))),
                     text(parts[0], type, kLowest), text(parts[1], type, kLowest));
}

std::string ExpressionWriter::arithmetic(const ValueExpr& value, ElementType type, int around) {
  using Kind = ValueExpr::Kind;
  const bool floating = is_floating(type);
  switch (value.kind()) {
    case Kind::kAdd: return floating ? infix(value, type, "+", kSum, around) : helper("add", value, type);
    case Kind::kSubtract: return floating ? infix(value, type, "-", kSum, around) : helper("sub", value, type);
    case Kind::kMultiply: return floating ? infix(value, type, "*", kProduct, around) : helper("mul", value, type);
    case Kind::kDivide: return floating ? infix(value, type, "/", kProduct, around) : helper("div", value, type);
    case Kind::kModulo: return helper("mod", value, type);
    case Kind::kMaximum: return helper("max", value, type);
    default: return helper("min", value, type);
  }
}

std::string ExpressionWriter::comparison(const ValueExpr& value, int around) {
  using Kind = ValueExpr::Kind;
  const auto parts = value.operands();
  const ElementType type = type_of(parts[0], type_of(parts[1], compared_));
  const bool is_equality = value.kind() == Kind::kEqual;
  const char* sign = is_equality ? "==" : value.kind() == Kind::kLess ? "<" : "<=";
  const int own = is_equality ? kEquality : kRelation;
  // Two indices are compared as they are.
  const bool indices = parts[0].kind() == Kind::kIndex && parts[1].kind() == Kind::kIndex;
  return infix(value, indices ? ElementType::kInt64 : type, sign, own, around);
}

std::string ExpressionWriter::function(const ValueExpr& value, ElementType type) {
  const Function function = value.function();
  const std::string argument = text(value.operands()[0], type, kLowest);
  if (type == ElementType::kInt32) {
    return fmt::format("{}({}, {})", helpers_.use("mix_i32"), static_cast<int>(function) + 1, argument);
  }
  const bool is_float = type == ElementType::kFloat32;
  if (function == Function::kSigmoid) {
    return fmt::format("{}({})", helpers_.use(is_float ? "sigmoid_f32" : "sigmoid_f64"), argument);
  }
  return fmt::format("{}{}({})", name_of(function), is_float ? "f" : "", argument);
}

std::string ExpressionWriter::converted(const ValueExpr& value, int around) {
  const ValueExpr& inner = value.operands()[0];
  const ElementType from = type_of(inner, value.element());
  if (from == value.element()) return text(inner, from, around);
  if (value.element() == ElementType::kBool) {
    return parenthesised(text(inner, from, kEquality) + " != 0", around > kEquality);
  }
  return parenthesised(fmt::format("({}){}", loop::c_type(value.element()), text(inner, from, kUnary)),
                       around > kUnary);
}

std::string ExpressionWriter::text(const ValueExpr& value, ElementType type, int around) {
  using Kind = ValueExpr::Kind;
  const auto parts = value.operands();
  switch (value.kind()) {
    case Kind::kLoad: return place(value.buffer(), value.indices());
    case Kind::kNumber: return number(value, type, around);
    case Kind::kIndex: return whole(value.indices()[0], type, around);
    case Kind::kEqual:
    case Kind::kLess:
    case Kind::kLessEqual: return comparison(value, around);
    case Kind::kAnd: return infix(value, ElementType::kBool, "&&", kAnd, around);
    case Kind::kOr: return infix(value, ElementType::kBool, "||", kOr, around);
    case Kind::kNot:
      return parenthesised(fmt::format("!{}", text(parts[0], ElementType::kBool, kUnary)), around > kUnary);
    case Kind::kCast: return converted(value, around);
    case Kind::kCall: return function(value, type_of(value, type));
    case Kind::kSelect:
      return parenthesised(fmt::format("{} ? {} : {}", text(parts[0], ElementType::kBool, kOr),
                                       text(parts[1], type, kConditional), text(parts[2], type, kConditional)),
                           around >= kConditional);
    default: return arithmetic(value, type_of(value, type), around);
  }
}

std::string ExpressionWriter::update(loop::StoreKind kind, const std::string& old, const ValueExpr& value,
                                     ElementType type) {
  using loop::StoreKind;
  compared_ = is_floating(type) || type == ElementType::kBool ? ElementType::kFloat64 : type;
  const std::string next = text(value, type, kLowest);
  const char* const stems[] = {"", "add", "mul", "max", "min"};
  const bool is_sign = is_floating(type) && (kind == StoreKind::kAdd || kind == StoreKind::kMultiply);
  if (kind == StoreKind::kSet) return fmt::format("{} = {}", old, next);
  if (is_sign) return fmt::format("{} {}= {}", old, kind == StoreKind::kAdd ? '+' : '*', next);
  const auto name = helpers_.use(fmt::format("{}_{}", stems[static_cast<int>(kind)], suffix(type)));
  return fmt::format("{} = {}({}, {})", old, name, old, next);
}

}  // namespace rewright::c
