// Expressions as text, with as few parentheses as precedence allows:
//     value  or < and < not < = < <= < + - < * / mod        index  + - < * mod
#include <rewright/operator/expression.h>

#include <fmt/ranges.h>

#include <iterator>

#include "tensor/real.h"

namespace rewright {
namespace {

enum Precedence { kLowest, kOr, kAnd, kNot, kCompare, kSum, kProduct, kAtom };

std::string parenthesised(const std::string& text, bool needed) { return needed ? "(" + text + ")" : text; }

struct Printer {
  const BufferNames& names;

  [[nodiscard]] std::string list(std::span<const IndexExpr> indices) const {
    std::vector<std::string> parts;
    for (const IndexExpr& index : indices) parts.push_back(text(index, kLowest));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  [[nodiscard]] std::string data(const IndexExpr& index) const {
    const auto parts = index.operands();
    return fmt::format("data({}[{}], {}, {})", names(index.buffer()), list(parts.subspan(2)), text(parts[0], kLowest),
                       text(parts[1], kLowest));
  }
  /// A size prints its own sums and products.
  [[nodiscard]] static std::string size(const SymbolicDim& size, int around) {
    return parenthesised(to_string(size), around > kLowest && !size.variable());
  }
  [[nodiscard]] std::string infix(const IndexExpr& index, const char* sign, int own, int around) const {
    const auto parts = index.operands();
    return parenthesised(fmt::format("{}{}{}", text(parts[0], own), sign, text(parts[1], own + 1)), around > own);
  }
  [[nodiscard]] std::string text(const IndexExpr& index, int around) const {
    switch (index.kind()) {
      case IndexExpr::Kind::kNumber:
        return parenthesised(std::to_string(*index.number()), *index.number() < 0 && around > kLowest);
      case IndexExpr::Kind::kSize: return size(*index.size(), around);
      case IndexExpr::Kind::kAxis: return index.axis().name;
      case IndexExpr::Kind::kAdd: return infix(index, " + ", kSum, around);
      case IndexExpr::Kind::kSubtract: return infix(index, " - ", kSum, around);
      case IndexExpr::Kind::kMultiply: return infix(index, "*", kProduct, around);
      case IndexExpr::Kind::kModulo: return infix(index, " mod ", kProduct, around);
      case IndexExpr::Kind::kFloor:
        return fmt::format("floor({} / {})", text(index.operands()[0], kProduct), text(index.operands()[1], kAtom));
      case IndexExpr::Kind::kData: break;
    }
    return data(index);
  }

  [[nodiscard]] std::string text(const Guard& guard) const {
    constexpr const char* kSigns[] = {" = ", " < ", " <= "};
    std::vector<std::string> parts;
    for (const IndexCondition& condition : guard) {
      parts.push_back(text(condition.left, kLowest) + kSigns[static_cast<int>(condition.relation)] +
                      text(condition.right, kLowest));
    }
    return fmt::format("{}", fmt::join(parts, " and "));
  }

  [[nodiscard]] std::string infix(const ValueExpr& value, const char* sign, int own, int around) const {
    const auto parts = value.operands();
    return parenthesised(fmt::format("{} {} {}", text(parts[0], own), sign, text(parts[1], own + 1)), around > own);
  }
  [[nodiscard]] std::string call(std::string_view name, const ValueExpr& value) const {
    std::vector<std::string> parts;
    for (const ValueExpr& operand : value.operands()) parts.push_back(text(operand, kLowest));
    return fmt::format("{}({})", name, fmt::join(parts, ", "));
  }
  [[nodiscard]] std::string reduction(const ValueExpr& value) const {
    constexpr const char* kWords[] = {"sum", "product", "greatest", "least"};
    std::string result = kWords[static_cast<int>(value.reduction())] + std::string("(");
    for (const AxisRange& range : value.axes()) {
      result += fmt::format("{} < {}, ", range.axis.name, text(range.extent, kLowest));
    }
    if (!value.guard().empty()) result += "where " + text(value.guard()) + ", ";
    return result + text(value.operands()[0], kLowest) + ")";
  }
  [[nodiscard]] std::string leaf(const ValueExpr& value, int around) const {
    if (value.kind() == ValueExpr::Kind::kLoad) {
      return fmt::format("{}[{}]", names(value.buffer()), list(value.indices()));
    }
    if (value.kind() == ValueExpr::Kind::kNumber) {
      std::string number = real_text(value.number());
      if (number.find_first_not_of("-0123456789") == std::string::npos) number += ".0";  // No index is meant.
      return parenthesised(number, number.find('/') != std::string::npos || (number[0] == '-' && around > kLowest));
    }
    const IndexExpr& index = value.indices()[0];
    if (!index.number()) return fmt::format("index({})", text(index, kLowest));
    return parenthesised(std::to_string(*index.number()), *index.number() < 0 && around > kLowest);
  }
  [[nodiscard]] std::string text(const ValueExpr& value, int around) const {
    switch (value.kind()) {
      case ValueExpr::Kind::kAdd: return infix(value, "+", kSum, around);
      case ValueExpr::Kind::kSubtract: return infix(value, "-", kSum, around);
      case ValueExpr::Kind::kMultiply: return infix(value, "*", kProduct, around);
      case ValueExpr::Kind::kDivide: return infix(value, "/", kProduct, around);
      case ValueExpr::Kind::kModulo: return infix(value, "mod", kProduct, around);
      case ValueExpr::Kind::kMaximum: return call("max", value);
      case ValueExpr::Kind::kMinimum: return call("min", value);
      case ValueExpr::Kind::kEqual: return compare(value, "=", around);
      case ValueExpr::Kind::kLess: return compare(value, "<", around);
      case ValueExpr::Kind::kLessEqual: return compare(value, "<=", around);
      case ValueExpr::Kind::kAnd: return infix(value, "and", kAnd, around);
      case ValueExpr::Kind::kOr: return infix(value, "or", kOr, around);
      case ValueExpr::Kind::kNot: return parenthesised("not " + text(value.operands()[0], kNot), around > kNot);
      case ValueExpr::Kind::kCast:
        return fmt::format("cast({}, {})", name_of(value.element()), text(value.operands()[0], kLowest));
      case ValueExpr::Kind::kCall: return call(name_of(value.function()), value);
      case ValueExpr::Kind::kSelect: return call("select", value);
      case ValueExpr::Kind::kReduce: return reduction(value);
      default: return leaf(value, around);
    }
  }
  /// Comparisons do not chain: both sides bind tighter.
  [[nodiscard]] std::string compare(const ValueExpr& value, const char* sign, int around) const {
    const auto parts = value.operands();
    return parenthesised(fmt::format("{} {} {}", text(parts[0], kSum), sign, text(parts[1], kSum)), around > kCompare);
  }
};

}  // namespace

const char* name_of(BufferRole role) {
  switch (role) {
    case BufferRole::kInput: return "in";
    case BufferRole::kOutput: return "out";
    case BufferRole::kWeight: return "weight";
    case BufferRole::kTemporary: break;
  }
  return "temporary";
}

std::string to_string(const IndexExpr& index, const BufferNames& names) { return Printer{names}.text(index, kLowest); }
std::string to_string(const Guard& guard, const BufferNames& names) { return Printer{names}.text(guard); }
std::string to_string(const ValueExpr& value, const BufferNames& names) { return Printer{names}.text(value, kLowest); }

std::string to_string(const Definition& definition) {
  const BufferNames names = [&](BufferId id) { return definition[id].name; };
  const Printer printer{names};
  std::string text;
  for (const Stage& stage : definition.stages) {
    text += fmt::format("{}[{}] = {}", names(stage.target), printer.list(stage.at), printer.text(stage.value, kLowest));
    if (!stage.where.empty()) text += " where " + printer.text(stage.where);
    if (const AxisRange* serial = serial_axis(stage)) {
      text += fmt::format(" for {} < {} in order", serial->axis.name, printer.text(serial->extent, kLowest));
    }
    text += "\n";
  }
  return text;
}

}  // namespace rewright
