#include "loop/expression_reader.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "loop/reserved_words.h"
#include "tensor/dim_bounds.h"
#include "tensor/real.h"

namespace rewright::loop {
namespace {

/// Deeper nesting is refused: reading recurses.
constexpr int kMaxDepth = 200;

/// Leaves the nesting level that deeper() entered.
struct Leave {
  int& depth;
  ~Leave() { --depth; }
};

}  // namespace

Status ExpressionReader::deeper() {
  if (++depth_ <= kMaxDepth) return {};
  return in_.error_at(in_.position(), ErrorCode::kParse, "this expression is nested more than 200 deep");
}

// --- words -----------------------------------------------------------------------------------------------------

bool ExpressionReader::sees_number() {
  in_.skip_space();
  return in_.position() < in_.text().size() && is_digit(in_.text()[in_.position()]);
}

std::string_view ExpressionReader::number_text() {
  in_.skip_space();
  const std::string_view text = in_.text();
  const std::size_t start = in_.position();
  std::size_t end = start;
  const auto goes_on = [&](std::size_t at) { return at < text.size() && is_digit(text[at]); };
  while (goes_on(end)) ++end;
  if (end < text.size() && text[end] == '.' && goes_on(end + 1)) {
    for (++end; goes_on(end);) ++end;
  }
  if (end < text.size() && text[end] == 'e') {
    const std::size_t digits = end + 1 + (end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-'));
    if (goes_on(digits)) {
      for (end = digits; goes_on(end);) ++end;
    }
  }
  if (end < text.size() && text[end] == '/' && goes_on(end + 1)) {
    for (++end; goes_on(end);) ++end;
  }
  in_.set_position(end);
  return text.substr(start, end - start);
}

Result<std::int64_t> ExpressionReader::integer(bool is_negative) {
  in_.skip_space();
  const std::size_t start = in_.position();
  std::string digits(is_negative ? "-" : "");
  digits += number_text();
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc() && end == digits.data() + digits.size()) return value;
  return in_.error_at(start, ErrorCode::kParse, "this is no integer of 64 bits");
}

Result<std::string> ExpressionReader::loop_name() {
  in_.skip_space();
  const std::string_view text = in_.text();
  const std::size_t start = in_.position();
  std::size_t end = start;
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : ' '; };
  const auto goes_on = [&] {
    const char c = at(end);
    return is_letter(c) || is_digit(c) || (c == '.' && is_letter(at(end + 1))) || (c == '.' && is_digit(at(end + 1))) ||
           (c == '/' && is_digit(at(end + 1))) || (c == '&' && is_letter(at(end + 1)));
  };
  if (!is_letter(at(start))) return in_.expected("a name");
  while (goes_on()) ++end;
  in_.set_position(end);
  return std::string(text.substr(start, end - start));
}

Result<BufferId> ExpressionReader::buffer() {
  in_.skip_space();
  const std::size_t start = in_.position();
  const auto name = in_.identifier();
  if (!name) return in_.expected("a buffer's name");
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].name == *name) return BufferId{static_cast<std::uint32_t>(i)};
  }
  return in_.error_at(start, ErrorCode::kParse, fmt::format("there is no buffer '{}'", *name));
}

Result<std::vector<IndexExpr>> ExpressionReader::indices() {
  REWRIGHT_CHECK(in_.expect("[", "before the indices"));
  std::vector<IndexExpr> all;
  if (in_.take("]")) return all;
  do {
    REWRIGHT_TRY(IndexExpr one, index());
    all.push_back(std::move(one));
  } while (in_.take(","));
  REWRIGHT_CHECK(in_.expect("]", "after the indices"));
  return all;
}

// --- indices ---------------------------------------------------------------------------------------------------

Result<IndexExpr> ExpressionReader::combined(char sign, const IndexExpr& a, const IndexExpr& b, std::size_t at) const {
  if (a.size() && b.size() && !(sign == '*' ? product_fits(*a.size(), *b.size()) : sum_fits(*a.size(), *b.size()))) {
    return in_.error_at(at, ErrorCode::kParse, "this is too large for an index");
  }
  return sign == '*' ? a * b : sign == '+' ? a + b : a - b;
}

Result<IndexExpr> ExpressionReader::index() {
  REWRIGHT_TRY(IndexExpr left, index_product());
  for (;;) {
    in_.skip_space();
    const std::size_t at = in_.position();
    const char sign = in_.take("+") ? '+' : in_.take("-") ? '-' : ' ';
    if (sign == ' ') return left;
    REWRIGHT_TRY(const IndexExpr right, index_product());
    REWRIGHT_TRY(left, combined(sign, left, right, at));
  }
}

Result<IndexExpr> ExpressionReader::index_product() {
  REWRIGHT_TRY(IndexExpr left, index_atom());
  for (;;) {
    in_.skip_space();
    const std::size_t at = in_.position();
    const bool is_product = in_.take("*");
    if (!is_product && !in_.take("mod")) return left;
    REWRIGHT_TRY(const IndexExpr right, index_atom());
    if (is_product) {
      REWRIGHT_TRY(left, combined('*', left, right, at));
    } else {
      left = modulo(left, right);
    }
  }
}

Result<IndexExpr> ExpressionReader::floor() {
  REWRIGHT_CHECK(in_.expect("(", "after floor"));
  REWRIGHT_TRY(const IndexExpr dividend, index());
  REWRIGHT_CHECK(in_.expect("/", "inside floor"));
  REWRIGHT_TRY(const IndexExpr divisor, index_atom());
  REWRIGHT_CHECK(in_.expect(")", "after floor's divisor"));
  return floor_divide(dividend, divisor);
}

Result<IndexExpr> ExpressionReader::data() {
  REWRIGHT_CHECK(in_.expect("(", "after data"));
  REWRIGHT_TRY(const BufferId from, buffer());
  REWRIGHT_TRY(std::vector<IndexExpr> at, indices());
  REWRIGHT_CHECK(in_.expect(",", "before data's least value"));
  REWRIGHT_TRY(IndexExpr low, index());
  REWRIGHT_CHECK(in_.expect(",", "before the end of data's range"));
  REWRIGHT_TRY(IndexExpr high, index());
  REWRIGHT_CHECK(in_.expect(")", "after data's range"));
  return IndexExpr::data(from, std::move(at), std::move(low), std::move(high));
}

Result<IndexExpr> ExpressionReader::index_atom() {
  const Leave leave{depth_};
  REWRIGHT_CHECK(deeper());
  const bool is_negative = in_.take("-");
  if (sees_number()) {
    REWRIGHT_TRY(const std::int64_t number, integer(is_negative));
    return IndexExpr(number);
  }
  const std::size_t at = in_.position();
  if (is_negative) {
    REWRIGHT_TRY(const IndexExpr positive, index_atom());
    return combined('-', 0, positive, at);
  }
  if (in_.take("(")) {
    REWRIGHT_TRY(IndexExpr inner, index());
    REWRIGHT_CHECK(in_.expect(")", "after an index"));
    return inner;
  }
  if (in_.take("floor")) return floor();
  if (in_.take("data")) return data();
  REWRIGHT_TRY(const std::string name, loop_name());
  for (const Axis& axis : scope_) {
    if (axis.name == name) return IndexExpr(axis);
  }
  if (name.find_first_of("/&") == std::string::npos) return IndexExpr(SymbolicDim::variable(SizeVar::read(name)));
  return in_.error_at(at, ErrorCode::kParse, fmt::format("there is no loop '{}' around this place", name));
}

Result<IndexCondition> ExpressionReader::condition() {
  using Relation = IndexCondition::Relation;
  REWRIGHT_TRY(IndexExpr left, index());
  const auto relation = in_.take("<=")  ? std::optional(Relation::kLessEqual)
                        : in_.take("<") ? std::optional(Relation::kLess)
                        : in_.take("=") ? std::optional(Relation::kEqual)
                                        : std::nullopt;
  if (!relation) return in_.expected("'<', '<=' or '=' between two indices");
  REWRIGHT_TRY(IndexExpr right, index());
  return IndexCondition{std::move(left), *relation, std::move(right)};
}

Result<Guard> ExpressionReader::guard() {
  Guard guard;
  do {
    REWRIGHT_TRY(IndexCondition next, condition());
    guard.push_back(std::move(next));
  } while (in_.take("and"));
  return guard;
}

// --- values ----------------------------------------------------------------------------------------------------

Result<ValueExpr> ExpressionReader::value() {
  REWRIGHT_TRY(ValueExpr left, conjunction());
  while (in_.take("or")) {
    REWRIGHT_TRY(const ValueExpr right, conjunction());
    left = either(left, right);
  }
  return left;
}

Result<ValueExpr> ExpressionReader::conjunction() {
  REWRIGHT_TRY(ValueExpr left, negated());
  while (in_.take("and")) {
    REWRIGHT_TRY(const ValueExpr right, negated());
    left = both(left, right);
  }
  return left;
}

Result<ValueExpr> ExpressionReader::negated() {
  const Leave leave{depth_};
  REWRIGHT_CHECK(deeper());
  if (!in_.take("not")) return comparison();
  REWRIGHT_TRY(const ValueExpr inner, negated());
  return negation(inner);
}

Result<ValueExpr> ExpressionReader::comparison() {
  REWRIGHT_TRY(ValueExpr left, sum());
  const auto kind = in_.take("<=")  ? ValueExpr::Kind::kLessEqual
                    : in_.take("<") ? ValueExpr::Kind::kLess
                    : in_.take("=") ? ValueExpr::Kind::kEqual
                                    : ValueExpr::Kind::kLoad;
  if (kind == ValueExpr::Kind::kLoad) return left;
  REWRIGHT_TRY(const ValueExpr right, sum());
  return ValueExpr::binary(kind, left, right);
}

Result<ValueExpr> ExpressionReader::sum() {
  REWRIGHT_TRY(ValueExpr left, product());
  for (;;) {
    const bool is_sum = in_.take("+");
    if (!is_sum && !in_.take("-")) return left;
    REWRIGHT_TRY(const ValueExpr right, product());
    left = is_sum ? left + right : left - right;
  }
}

Result<ValueExpr> ExpressionReader::product() {
  using Kind = ValueExpr::Kind;
  REWRIGHT_TRY(ValueExpr left, atom());
  for (;;) {
    const Kind kind = in_.take("*")     ? Kind::kMultiply
                      : in_.take("/")   ? Kind::kDivide
                      : in_.take("mod") ? Kind::kModulo
                                        : Kind::kLoad;
    if (kind == Kind::kLoad) return left;
    REWRIGHT_TRY(const ValueExpr right, atom());
    left = ValueExpr::binary(kind, left, right);
  }
}

Result<ValueExpr> ExpressionReader::literal(bool is_negative) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double sign = is_negative ? -1.0 : 1.0;
  if (in_.take("inf")) return ValueExpr::from_double(sign * kInfinity);
  if (in_.take("nan")) return ValueExpr::from_double(sign * std::numeric_limits<double>::quiet_NaN());
  if (!sees_number()) return in_.expected("a number");
  const std::size_t start = in_.position();
  const std::string_view digits = number_text();
  if (digits.find_first_not_of("0123456789") == std::string_view::npos) {
    in_.set_position(start);
    REWRIGHT_TRY(const std::int64_t whole, integer(is_negative));
    return ValueExpr::from_integer(whole);
  }
  const auto number = parse_real(digits);
  if (!number) return in_.error_at(start, ErrorCode::kParse, number.error().message);
  return ValueExpr::from_double(sign * *number);
}

Result<std::vector<ValueExpr>> ExpressionReader::arguments(std::size_t count, std::string_view name) {
  std::vector<ValueExpr> all;
  REWRIGHT_CHECK(in_.expect("(", fmt::format("after {}", name)));
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) REWRIGHT_CHECK(in_.expect(",", fmt::format("between the operands of {}", name)));
    REWRIGHT_TRY(ValueExpr operand, value());
    all.push_back(std::move(operand));
  }
  REWRIGHT_CHECK(in_.expect(")", fmt::format("after the operands of {}", name)));
  return all;
}

Result<ValueExpr> ExpressionReader::call(std::string_view word) {
  constexpr std::array kFunctions = {Function::kExp,  Function::kLog,     Function::kSqrt,
                                     Function::kTanh, Function::kSigmoid, Function::kErf};
  for (const Function function : kFunctions) {
    if (word != name_of(function)) continue;
    REWRIGHT_TRY(const auto operands, arguments(1, word));
    return apply(function, operands[0]);
  }
  if (word == "max" || word == "min") {
    REWRIGHT_TRY(const auto operands, arguments(2, word));
    return word == "max" ? max(operands[0], operands[1]) : min(operands[0], operands[1]);
  }
  REWRIGHT_TRY(const auto operands, arguments(3, word));
  return select(operands[0], operands[1], operands[2]);
}

Result<ValueExpr> ExpressionReader::atom() {
  const Leave leave{depth_};
  REWRIGHT_CHECK(deeper());
  if (in_.take("-")) return literal(true);
  if (sees_number() || in_.sees("inf") || in_.sees("nan")) return literal(false);
  if (in_.take("(")) {
    REWRIGHT_TRY(ValueExpr inner, value());
    REWRIGHT_CHECK(in_.expect(")", "after a value"));
    return inner;
  }
  if (in_.take("index")) {
    REWRIGHT_CHECK(in_.expect("(", "after index"));
    REWRIGHT_TRY(IndexExpr inner, index());
    REWRIGHT_CHECK(in_.expect(")", "after an index"));
    return ValueExpr::index(std::move(inner));
  }
  if (in_.take("cast")) {
    REWRIGHT_CHECK(in_.expect("(", "after cast"));
    const auto type = element_type_named(in_.identifier().value_or(""));
    if (!type) return in_.expected("an element type");
    REWRIGHT_CHECK(in_.expect(",", "after the element type"));
    REWRIGHT_TRY(const ValueExpr inner, value());
    REWRIGHT_CHECK(in_.expect(")", "after a value"));
    return cast(*type, inner);
  }
  for (const char* word : {"max", "min", "select", "exp", "log", "sqrt", "tanh", "sigmoid", "erf"}) {
    if (in_.take(word)) return call(word);
  }
  REWRIGHT_TRY(const BufferId from, buffer());
  REWRIGHT_TRY(std::vector<IndexExpr> at, indices());
  return ValueExpr::load(from, std::move(at));
}

}  // namespace rewright::loop
