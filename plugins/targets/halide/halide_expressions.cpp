#include "halide_expressions.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace rewright::halide {

using Halide::Expr;
using Halide::Type;
namespace ir = Halide::Internal;

namespace {

/// A value that is used more than once in what `make` makes of it.
template <class Make>
Expr shared(const Expr& value, const Make& make) {
  const std::string name = ir::unique_name('v');
  return ir::Let::make(name, value, make(ir::Variable::make(value.type(), name)));
}

Expr libm(const std::string& name, const std::vector<Expr>& arguments) {
  const Type type = arguments[0].type();
  return ir::Call::make(type, type.bits() == 32 ? name + "f" : name, arguments, ir::Call::PureExtern);
}

/// +, - and * of integers: modulo a power of 2. Halide would fold a cast's sum as one of signed numbers.
Expr wrapped(ValueExpr::Kind kind, const Expr& a, const Expr& b) {
  const Type type = a.type(), bits = Halide::UInt(type.bits());
  const Expr x = Halide::reinterpret(bits, a), y = Halide::reinterpret(bits, b);
  switch (kind) {
    case ValueExpr::Kind::kAdd: return Halide::reinterpret(type, ir::Add::make(x, y));
    case ValueExpr::Kind::kSubtract: return Halide::reinterpret(type, ir::Sub::make(x, y));
    default: return Halide::reinterpret(type, ir::Mul::make(x, y));
  }
}

/// a < b ? b : a, or b < a ? b : a.
Expr extreme(const Expr& a, const Expr& b, bool is_greatest) {
  return shared(a, [&](const Expr& x) {
    return shared(b, [&](const Expr& y) {
      return ir::Select::make(is_greatest ? ir::LT::make(x, y) : ir::LT::make(y, x), y, x);
    });
  });
}

class Reading final : public ir::IRGraphVisitor {
 public:
  [[nodiscard]] static bool is_in(const Expr& value) {
    Reading reading;
    value.accept(&reading);
    return reading.found_;
  }

 private:
  using ir::IRGraphVisitor::visit;
  void visit(const ir::Load*) override { found_ = true; }
  void visit(const ir::Call* call) override {
    found_ |= call->call_type == ir::Call::Halide || call->call_type == ir::Call::Image;
    ir::IRGraphVisitor::visit(call);
  }
  bool found_ = false;
};

/// Halide refuses a divisor that may turn out to be the constant 0: a / 0 is a times infinity.
Expr quotient(const Expr& a, const Expr& b) {
  if (Reading::is_in(b)) return ir::Div::make(a, b);
  const Expr infinity = ir::FloatImm::make(a.type(), std::numeric_limits<double>::infinity());
  return shared(b, [&](const Expr& y) {
    const Expr is_zero = y == ir::make_zero(y.type());
    const Expr usual = ir::Div::make(a, ir::Select::make(is_zero, ir::make_one(y.type()), y));
    return ir::Select::make(is_zero, ir::Mul::make(a, infinity), usual);
  });
}

/// Towards 0; a / 0 = 0, and what 0 - a wraps to for b = -1.
Expr integer_quotient(const Expr& a, const Expr& b) {
  const Expr zero = ir::make_zero(a.type()), one = ir::make_one(a.type());
  return shared(a, [&](const Expr& x) {
    return shared(b, [&](const Expr& y) {
      const Expr is_plain = y != zero && y != -1;
      const Expr quotient = Halide::div_round_to_zero(x, ir::Select::make(is_plain, y, one));
      const Expr otherwise = ir::Select::make(y == zero, zero, wrapped(ValueExpr::Kind::kSubtract, zero, x));
      return ir::Select::make(is_plain, quotient, otherwise);
    });
  });
}

/// a - b floor(a / b), of the rest of a division towards 0.
Expr with_sign_of(const Expr& divisor, const Expr& rest, const Expr& sum) {
  const Expr zero = ir::make_zero(rest.type());
  return ir::Select::make(rest != zero && (rest < zero) != (divisor < zero), sum, rest);
}

/// a mod 0 = 0 for integers.
Expr modulus(const Expr& a, const Expr& b) {
  if (a.type().is_float()) {
    return shared(b, [&](const Expr& y) {
      return shared(libm("fmod", {a, y}), [&](const Expr& rest) { return with_sign_of(y, rest, rest + y); });
    });
  }
  const Expr zero = ir::make_zero(a.type()), one = ir::make_one(a.type());
  return shared(b, [&](const Expr& y) {
    const Expr is_plain = y != zero && y != -1;
    const Expr rest_of = Halide::mod_round_to_zero(a, ir::Select::make(is_plain, y, one));
    return shared(rest_of, [&](const Expr& rest) {
      return ir::Select::make(is_plain, with_sign_of(y, rest, wrapped(ValueExpr::Kind::kAdd, rest, y)), zero);
    });
  });
}

/// The mixing function that int32 calls stand for (rewright/loop/element_types.h).
Expr mixed(std::uint32_t key, const Expr& argument) {
  const auto bits = [](std::uint32_t number) { return ir::UIntImm::make(Halide::UInt(32), number); };
  const Expr first = (Halide::reinterpret(Halide::UInt(32), argument) ^ bits(key * 0x9e3779b9U)) * bits(0x85ebca6bU);
  const Expr all = shared(first, [&](const Expr& x) { return (x ^ (x >> bits(13))) * bits(0xc2b2ae35U); });
  return Halide::reinterpret(Halide::Int(32), shared(all, [&](const Expr& x) { return x ^ (x >> bits(16)); }));
}

constexpr std::int64_t kLeastShort = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kGreatestShort = std::numeric_limits<std::int32_t>::max();

}  // namespace

Type type_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return Halide::Float(32);
    case ElementType::kFloat64: return Halide::Float(64);
    case ElementType::kInt32: return Halide::Int(32);
    case ElementType::kInt64: return Halide::Int(64);
    case ElementType::kUint16: return Halide::UInt(16);
    default: return Halide::Bool();
  }
}

Type stored_type_of(ElementType type) { return type == ElementType::kBool ? Halide::UInt(8) : type_of(type); }

Expr number_of(double number, ElementType type) {
  if (is_floating(type)) return ir::FloatImm::make(type_of(type), number);
  if (type == ElementType::kBool) return ir::make_bool(number != 0);
  const bool is_low = number < 0;
  if (type == ElementType::kInt32) return ir::IntImm::make(Halide::Int(32), is_low ? kLeastShort : kGreatestShort);
  using Long = std::numeric_limits<std::int64_t>;
  return ir::IntImm::make(Halide::Int(64), is_low ? Long::min() : Long::max());
}

Expr combined(ValueExpr::Kind kind, const Expr& a, const Expr& b) {
  using Kind = ValueExpr::Kind;
  const bool floating = a.type().is_float();
  switch (kind) {
    case Kind::kAdd: return floating ? ir::Add::make(a, b) : wrapped(kind, a, b);
    case Kind::kSubtract: return floating ? ir::Sub::make(a, b) : wrapped(kind, a, b);
    case Kind::kMultiply: return floating ? ir::Mul::make(a, b) : wrapped(kind, a, b);
    case Kind::kDivide: return floating ? quotient(a, b) : integer_quotient(a, b);
    case Kind::kModulo: return modulus(a, b);
    case Kind::kMaximum: return extreme(a, b, true);
    case Kind::kMinimum: return extreme(a, b, false);
    case Kind::kEqual: return ir::EQ::make(a, b);
    case Kind::kLess: return ir::LT::make(a, b);
    case Kind::kLessEqual: return ir::LE::make(a, b);
    case Kind::kAnd: return ir::And::make(a, b);
    default: return ir::Or::make(a, b);
  }
}

Expr applied(Function function, const Expr& argument) {
  if (argument.type() == Halide::Int(32)) return mixed(static_cast<std::uint32_t>(function) + 1, argument);
  switch (function) {
    case Function::kExp: return Halide::exp(argument);
    case Function::kLog: return Halide::log(argument);
    case Function::kSqrt: return Halide::sqrt(argument);
    case Function::kTanh: return libm("tanh", {argument});
    case Function::kErf: return libm("erf", {argument});
    case Function::kSigmoid: break;
  }
  const Expr one = ir::make_one(argument.type());
  return one / (one + Halide::exp(-argument));
}

Expr converted(const Expr& value, ElementType to) {
  if (value.type() == type_of(to)) return value;
  if (to == ElementType::kBool) return value != ir::make_zero(value.type());
  return ir::Cast::make(type_of(to), value);
}

ExpressionBuilder::ExpressionBuilder(const loop::Program& program)
    : program_(program), types_(program.buffers), given_(program.buffers.size()) {
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    names_.push_back(fmt::format("{}_{}", program.buffers[b].name, b));
}

void ExpressionBuilder::enter(const Axis& axis, Expr variable, IndexRange range) {
  loops_.insert_or_assign(axis.id, Variable{std::move(variable), range});
}

void ExpressionBuilder::set_given(BufferId buffer) {
  given_[buffer.value] = {stored_type_of(program_[buffer].element), true, 1, names_[buffer.value]};
}

loop::AxisRanges ExpressionBuilder::ranges() const {
  return [this](const Axis& axis) {
    const auto at = loops_.find(axis.id);
    return at == loops_.end() ? std::nullopt : std::optional(at->second.range);
  };
}

ElementType ExpressionBuilder::type_of(const ValueExpr& value, ElementType otherwise) {
  const auto type = types_.of(value);
  return type ? type->value_or(otherwise) : otherwise;
}

// --- indices ---------------------------------------------------------------------------------------------------

bool ExpressionBuilder::is_short(const IndexExpr& index) const {
  const auto values = range(index);
  if (!values || values->low < kLeastShort || values->high > kGreatestShort) return false;
  if (index.kind() == IndexExpr::Kind::kData) return is_short(index.operands()[0]) && is_short(index.operands()[1]);
  return std::ranges::all_of(index.operands(), [this](const IndexExpr& part) { return is_short(part); });
}

Expr ExpressionBuilder::index(const IndexExpr& index) {
  return this->index(index, is_short(index) ? Halide::Int(32) : Halide::Int(64));
}

Expr ExpressionBuilder::index(const IndexExpr& index, Type type) {
  using Kind = IndexExpr::Kind;
  if (index.kind() == Kind::kNumber) return ir::IntImm::make(type, *index.number());
  if (index.kind() == Kind::kAxis) return Halide::cast(type, loops_.at(index.axis().id).value);
  if (index.kind() == Kind::kData) return data(index, type);
  const Expr a = this->index(index.operands()[0], type), b = this->index(index.operands()[1], type);
  switch (index.kind()) {
    case Kind::kAdd: return a + b;
    case Kind::kSubtract: return a - b;
    case Kind::kMultiply: return a * b;
    case Kind::kFloor: return a / b;  // Halide's rounds down where b > 0.
    default: return a % b;
  }
}

Expr ExpressionBuilder::data(const IndexExpr& index, Type type) {
  const auto parts = index.operands();
  const Type wide = Halide::Int(64);
  const Expr low = this->index(parts[0], wide), high = this->index(parts[1], wide);
  const Expr read = Halide::cast(wide, element(index.buffer(), flat(index.buffer(), parts.subspan(2))));
  Expr fault = read < low || read >= high;
  const Expr inside = Halide::cast(type, Halide::select(fault, low, read));
  for (auto condition = when_.rbegin(); condition != when_.rend(); ++condition) fault = *condition && fault;
  faults_.push_back(fault);
  return inside;
}

Expr ExpressionBuilder::condition(const Guard& guard) {
  Expr all = ir::const_true();
  const std::size_t around = when_.size();
  for (const IndexCondition& next : guard) {
    const bool fits = is_short(next.left) && is_short(next.right);
    const Type type = fits ? Halide::Int(32) : Halide::Int(64);
    const Expr left = index(next.left, type), right = index(next.right, type);
    using Relation = IndexCondition::Relation;
    const Expr holds = next.relation == Relation::kEqual  ? left == right
                       : next.relation == Relation::kLess ? left < right
                                                          : left <= right;
    all = all && holds;
    when_.push_back(holds);
  }
  when_.resize(around);
  return all;
}

Expr ExpressionBuilder::flat(BufferId buffer, std::span<const IndexExpr> at) {
  IndexExpr flat = 0;
  for (std::size_t d = 0; d < at.size(); ++d) flat = flat * program_[buffer].sizes[d] + at[d];
  return Halide::cast(Halide::Int(32), index(loop::simplified(flat, ranges())));
}

Expr ExpressionBuilder::element(BufferId buffer, const Expr& flat) {
  const ElementType type = program_[buffer].element;
  Expr mask = ir::const_true();
  if (!when_.empty()) {
    std::int64_t count = 1;
    for (const IndexExpr& size : program_[buffer].sizes) count *= *size.number();
    mask = flat >= 0 && flat < static_cast<int>(count);
  }
  const Expr load = ir::Load::make(stored_type_of(type), name(buffer), flat, {}, given(buffer), mask, {});
  return converted(load, type);
}

// --- values ----------------------------------------------------------------------------------------------------

Expr ExpressionBuilder::value(const ValueExpr& value, ElementType type) {
  compared_ = is_floating(type) || type == ElementType::kBool ? ElementType::kFloat64 : type;
  built_.clear();
  return built(value, type);
}

Expr ExpressionBuilder::needed_if(const Expr& condition, const ValueExpr& value, ElementType type) {
  when_.push_back(condition);
  auto outside = built_;
  const Expr result = built(value, type);
  built_ = std::move(outside);
  when_.pop_back();
  return result;
}

Expr ExpressionBuilder::comparison(const ValueExpr& value) {
  const auto parts = value.operands();
  const bool indices = parts[0].kind() == ValueExpr::Kind::kIndex && parts[1].kind() == ValueExpr::Kind::kIndex;
  const ElementType type = indices ? ElementType::kInt64 : type_of(parts[0], type_of(parts[1], compared_));
  return combined(value.kind(), built(parts[0], type), built(parts[1], type));
}

Expr ExpressionBuilder::built(const ValueExpr& value, ElementType type) {
  const auto key = std::pair(value.address(), type);
  if (const auto known = built_.find(key); known != built_.end()) return known->second;
  const Expr made = make(value, type);
  built_.emplace(key, made);
  return made;
}

Expr ExpressionBuilder::make(const ValueExpr& value, ElementType type) {
  using Kind = ValueExpr::Kind;
  const auto parts = value.operands();
  switch (value.kind()) {
    case Kind::kLoad:
      if (loading_) return converted(loading_(value.buffer(), value.indices()), program_[value.buffer()].element);
      return element(value.buffer(), flat(value.buffer(), value.indices()));
    case Kind::kNumber: return number_of(value.number(), type);
    case Kind::kIndex: return converted(index(value.indices()[0]), type);
    case Kind::kEqual:
    case Kind::kLess:
    case Kind::kLessEqual: return comparison(value);
    case Kind::kAnd:
    case Kind::kOr: {
      const Expr first = built(parts[0], ElementType::kBool);
      return combined(value.kind(), first,
                      needed_if(value.kind() == Kind::kAnd ? first : !first, parts[1], ElementType::kBool));
    }
    case Kind::kNot: return !built(parts[0], ElementType::kBool);
    case Kind::kCast: return converted(built(parts[0], type_of(parts[0], value.element())), value.element());
    case Kind::kCall: return applied(value.function(), built(parts[0], type_of(value, type)));
    case Kind::kSelect: {
      const Expr condition = built(parts[0], ElementType::kBool);
      return ir::Select::make(condition, needed_if(condition, parts[1], type), needed_if(!condition, parts[2], type));
    }
    default: {
      const ElementType own = type_of(value, type);
      return combined(value.kind(), built(parts[0], own), built(parts[1], own));
    }
  }
}

}  // namespace rewright::halide
