// Building expressions, and their equality: a hash first, then the structure, each shared pair once.
#include <rewright/base/mixing.h>
#include <rewright/operator/expression.h>

#include <bit>
#include <cmath>
#include <set>

#include "operator/expression_node.h"

namespace rewright {

// --- indices ---------------------------------------------------------------------------------------------------

namespace {

std::uint64_t hash_of(const IndexExpr::Node& node) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.number));
  hash = mix(hash, std::hash<std::string>()(node.kind == IndexExpr::Kind::kSize ? to_string(node.size) : ""));
  hash = mix(mix(hash, node.axis.id), node.buffer.value);
  for (const IndexExpr& operand : node.operands) hash = mix(hash, operand.hash());
  return hash;
}

std::shared_ptr<const IndexExpr::Node> shared(IndexExpr::Node node) {
  node.hash = hash_of(node);
  return std::make_shared<const IndexExpr::Node>(std::move(node));
}

std::shared_ptr<const IndexExpr::Node> node_of(const SymbolicDim& size) {
  using Kind = IndexExpr::Kind;
  if (size.constant()) return shared({.kind = Kind::kNumber, .number = *size.constant()});
  return shared({.kind = Kind::kSize, .size = size});
}

}  // namespace

IndexExpr::IndexExpr(std::int64_t number) : node_(shared({.kind = Kind::kNumber, .number = number})) {}
IndexExpr::IndexExpr(const SymbolicDim& size) : node_(node_of(size)) {}
IndexExpr::IndexExpr(const Axis& axis) : node_(shared({.kind = Kind::kAxis, .axis = axis})) {}

IndexExpr IndexExpr::data(BufferId buffer, std::vector<IndexExpr> at, IndexExpr low, IndexExpr high) {
  at.insert(at.begin(), {std::move(low), std::move(high)});
  return IndexExpr(shared({.kind = Kind::kData, .buffer = buffer, .operands = std::move(at)}));
}

IndexExpr IndexExpr::binary(Kind kind, const IndexExpr& a, const IndexExpr& b) {
  Node node{.kind = kind};
  node.operands = {a, b};
  return IndexExpr(shared(std::move(node)));
}

IndexExpr::Kind IndexExpr::kind() const { return node_->kind; }
std::uint64_t IndexExpr::hash() const { return node_->hash; }
const Axis& IndexExpr::axis() const { return node_->axis; }
BufferId IndexExpr::buffer() const { return node_->buffer; }
std::span<const IndexExpr> IndexExpr::operands() const { return node_->operands; }

std::optional<SymbolicDim> IndexExpr::size() const {
  if (node_->kind == Kind::kNumber) return SymbolicDim(node_->number);
  if (node_->kind == Kind::kSize) return node_->size;
  return std::nullopt;
}

std::optional<std::int64_t> IndexExpr::number() const {
  return node_->kind == Kind::kNumber ? std::optional(node_->number) : std::nullopt;
}

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b) {
  if (a.size() && b.size()) return *a.size() + *b.size();
  if (a.number() == 0) return b;
  if (b.number() == 0) return a;
  return IndexExpr::binary(IndexExpr::Kind::kAdd, a, b);
}

IndexExpr operator-(const IndexExpr& a, const IndexExpr& b) {
  if (a.size() && b.size()) return *a.size() - *b.size();
  return b.number() == 0 ? a : IndexExpr::binary(IndexExpr::Kind::kSubtract, a, b);
}

IndexExpr operator*(const IndexExpr& a, const IndexExpr& b) {
  if (a.size() && b.size()) return *a.size() * *b.size();
  if (a.number() == 0 || b.number() == 0) return 0;
  if (a.number() == 1) return b;
  return b.number() == 1 ? a : IndexExpr::binary(IndexExpr::Kind::kMultiply, a, b);
}

IndexExpr floor_divide(const IndexExpr& a, const IndexExpr& b) {
  if (b.number() == 1) return a;
  if (const auto n = b.number(); n && *n > 0 && a.size()) return floor_divide(*a.size(), *n);
  return IndexExpr::binary(IndexExpr::Kind::kFloor, a, b);
}

IndexExpr modulo(const IndexExpr& a, const IndexExpr& b) {
  if (b.number() == 1) return 0;
  if (const auto m = a.number(), n = b.number(); m && n && *n > 0) return *m - floor_divide(*m, *n) * *n;
  return IndexExpr::binary(IndexExpr::Kind::kModulo, a, b);
}

bool operator==(const IndexExpr& a, const IndexExpr& b) {
  if (a.node_ == b.node_) return true;
  const IndexExpr::Node &m = *a.node_, &n = *b.node_;
  return m.hash == n.hash && m.kind == n.kind && m.number == n.number && m.size == n.size && m.axis == n.axis &&
         m.buffer == n.buffer && m.operands == n.operands;
}

Guard within(const IndexExpr& low, const IndexExpr& index, const IndexExpr& high) {
  using Relation = IndexCondition::Relation;
  return {{low, Relation::kLessEqual, index}, {index, Relation::kLess, high}};
}

// --- values ----------------------------------------------------------------------------------------------------

namespace {

/// Whole numbers below this are the same as integers and as doubles.
constexpr double kExactIntegers = 0x1p53;

std::uint64_t hash_of(const ValueExpr::Node& node) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(node.kind), std::bit_cast<std::uint64_t>(node.number));
  hash = mix(mix(hash, node.buffer.value), static_cast<std::uint64_t>(node.element));
  hash = mix(mix(hash, static_cast<std::uint64_t>(node.function)), static_cast<std::uint64_t>(node.reduction));
  for (const IndexExpr& index : node.indices) hash = mix(hash, index.hash());
  for (const AxisRange& range : node.axes) hash = mix(mix(hash, range.axis.id), range.extent.hash());
  for (const IndexCondition& condition : node.guard) {
    hash = mix(mix(hash, condition.left.hash()), condition.right.hash());
    hash = mix(hash, static_cast<std::uint64_t>(condition.relation));
  }
  for (const ValueExpr& operand : node.operands) hash = mix(hash, operand.hash());
  return hash;
}

/// Equal in all but the operands; numbers by their bits, so that NaN equals itself and -0 is not 0.
bool equal_heads(const ValueExpr::Node& m, const ValueExpr::Node& n) {
  return m.hash == n.hash && m.kind == n.kind &&
         std::bit_cast<std::uint64_t>(m.number) == std::bit_cast<std::uint64_t>(n.number) && m.buffer == n.buffer &&
         m.element == n.element && m.function == n.function && m.reduction == n.reduction && m.indices == n.indices &&
         m.axes == n.axes && m.guard == n.guard && m.operands.size() == n.operands.size();
}

using Pairs = std::set<std::pair<const ValueExpr::Node*, const ValueExpr::Node*>>;

bool equal_nodes(const ValueExpr::Node& m, const ValueExpr::Node& n, Pairs& known) {
  if (&m == &n || known.contains({&m, &n})) return true;
  if (!equal_heads(m, n)) return false;
  for (std::size_t i = 0; i < m.operands.size(); ++i) {
    if (!equal_nodes(*m.operands[i].address(), *n.operands[i].address(), known)) return false;
  }
  if (!m.operands.empty()) known.emplace(&m, &n);
  return true;
}

}  // namespace

ValueExpr ValueExpr::of(Node node) {
  node.hash = hash_of(node);
  return ValueExpr(std::make_shared<const Node>(std::move(node)));
}

ValueExpr::ValueExpr() : ValueExpr(index(0)) {}
ValueExpr ValueExpr::load(BufferId buffer, std::vector<IndexExpr> at) {
  return of({.kind = Kind::kLoad, .buffer = buffer, .indices = std::move(at)});
}
ValueExpr ValueExpr::from_double(double number) {
  const bool whole = std::trunc(number) == number && std::abs(number) < kExactIntegers;
  if (whole && !(number == 0 && std::signbit(number))) return from_integer(static_cast<std::int64_t>(number));
  return of({.kind = Kind::kNumber, .number = number});
}
ValueExpr ValueExpr::from_integer(std::int64_t number) { return index(number); }
ValueExpr ValueExpr::index(IndexExpr index) { return of({.kind = Kind::kIndex, .indices = {std::move(index)}}); }
ValueExpr ValueExpr::binary(Kind kind, const ValueExpr& a, const ValueExpr& b) {
  return of({.kind = kind, .operands = {a, b}});
}
ValueExpr ValueExpr::reduce(Reduction reduction, std::vector<AxisRange> axes, Guard where, const ValueExpr& body) {
  return of({.kind = Kind::kReduce,
             .reduction = reduction,
             .axes = std::move(axes),
             .guard = std::move(where),
             .operands = {body}});
}

ValueExpr negation(const ValueExpr& a) { return ValueExpr::of({.kind = ValueExpr::Kind::kNot, .operands = {a}}); }
ValueExpr cast(ElementType type, const ValueExpr& a) {
  return ValueExpr::of({.kind = ValueExpr::Kind::kCast, .element = type, .operands = {a}});
}
ValueExpr apply(Function function, const ValueExpr& a) {
  return ValueExpr::of({.kind = ValueExpr::Kind::kCall, .function = function, .operands = {a}});
}
ValueExpr select(const ValueExpr& condition, const ValueExpr& then, const ValueExpr& otherwise) {
  return ValueExpr::of({.kind = ValueExpr::Kind::kSelect, .operands = {condition, then, otherwise}});
}
bool operator==(const ValueExpr& a, const ValueExpr& b) {
  Pairs known;
  return equal_nodes(*a.node_, *b.node_, known);
}

ValueExpr::Kind ValueExpr::kind() const { return node_->kind; }
std::uint64_t ValueExpr::hash() const { return node_->hash; }
double ValueExpr::number() const { return node_->number; }
BufferId ValueExpr::buffer() const { return node_->buffer; }
std::span<const IndexExpr> ValueExpr::indices() const { return node_->indices; }
ElementType ValueExpr::element() const { return node_->element; }
Function ValueExpr::function() const { return node_->function; }
ValueExpr::Reduction ValueExpr::reduction() const { return node_->reduction; }
std::span<const AxisRange> ValueExpr::axes() const { return node_->axes; }
const Guard& ValueExpr::guard() const { return node_->guard; }
std::span<const ValueExpr> ValueExpr::operands() const { return node_->operands; }

}  // namespace rewright
