// What an operator computes, as data: expressions over loop axes and buffers, and the definition made of them.
//
//   index := number | size | axis | index + index | index - index | index * index | floor(index / index)
//          | index mod index | data(buffer[index*], low, high)
//   value := buffer[index*] | number | index | value + - * / mod max min value | value = < <= value
//          | value and or value | not value | cast(type, value) | function(value) | select(value, value, value)
//          | sum | product | greatest | least over axes, where a guard holds, of a value
//
// Expressions are immutable and shared; copies are cheap, equality is by structure. A size is a number or a symbol
// (SymbolicDim). An axis is an id, unique in its definition, with a name for readers. A ValueExpr is a scalar algebra
// like those of tensor/scalar.h, so that what is written over one can be written down.
//
// Semantics  Loads have the element type of their buffer; numbers and indices take that of what they meet. Over Field,
//            Exact and Real there is one type and true is 1. Integers wrap; their / truncates; mod has the sign of the
//            divisor: a - b floor(a / b). An empty sum is 0, product 1, greatest -inf, least +inf (or the type's end).
//            Indices round down. data() reads an integer, which must be in low .. high - 1.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/dim.h>
#include <rewright/tensor/element_type.h>
#include <rewright/tensor/scalar.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// A buffer's place in its definition or program.
struct BufferId {
  std::uint32_t value = 0;
  friend bool operator==(BufferId, BufferId) = default;
  friend auto operator<=>(BufferId, BufferId) = default;
};

/// A loop variable; it is its id.
struct Axis {
  std::uint32_t id = 0;
  std::string name;
  friend bool operator==(const Axis& a, const Axis& b) { return a.id == b.id; }
};

// --- indices ---------------------------------------------------------------------------------------------------

class REWRIGHT_API IndexExpr {
 public:
  enum class Kind : std::uint8_t { kNumber, kSize, kAxis, kAdd, kSubtract, kMultiply, kFloor, kModulo, kData };
  struct Node;

  IndexExpr(std::int64_t number = 0);
  /// A number if the size is known.
  IndexExpr(const SymbolicDim& size);
  IndexExpr(const Axis& axis);
  /// The integer at buffer[at], which must lie in low .. high - 1.
  [[nodiscard]] static IndexExpr data(BufferId buffer, std::vector<IndexExpr> at, IndexExpr low, IndexExpr high);

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] std::uint64_t hash() const;
  /// The number or size that it is, without axes and data; floor and mod by a symbol have no such form.
  [[nodiscard]] std::optional<SymbolicDim> size() const;
  [[nodiscard]] std::optional<std::int64_t> number() const;
  [[nodiscard]] const Axis& axis() const;  ///< kAxis.
  [[nodiscard]] BufferId buffer() const;   ///< kData.
  /// Two of a binary kind; kData: low, high, then the index at which it reads.
  [[nodiscard]] std::span<const IndexExpr> operands() const;

  /// Sums, differences and products of sizes are folded; so are x + 0, 1 * x, 0 * x.
  friend REWRIGHT_API IndexExpr operator+(const IndexExpr& a, const IndexExpr& b);
  friend REWRIGHT_API IndexExpr operator-(const IndexExpr& a, const IndexExpr& b);
  friend REWRIGHT_API IndexExpr operator*(const IndexExpr& a, const IndexExpr& b);
  friend REWRIGHT_API IndexExpr floor_divide(const IndexExpr& a, const IndexExpr& b);
  friend REWRIGHT_API IndexExpr modulo(const IndexExpr& a, const IndexExpr& b);
  friend IndexExpr operator/(const IndexExpr& a, const IndexExpr& b) { return floor_divide(a, b); }
  friend IndexExpr operator%(const IndexExpr& a, const IndexExpr& b) { return modulo(a, b); }
  friend REWRIGHT_API bool operator==(const IndexExpr& a, const IndexExpr& b);

 private:
  explicit IndexExpr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static IndexExpr binary(Kind kind, const IndexExpr& a, const IndexExpr& b);
  std::shared_ptr<const Node> node_;
};

/// left = right, left < right or left <= right.
struct IndexCondition {
  enum class Relation : std::uint8_t { kEqual, kLess, kLessEqual };
  IndexExpr left;
  Relation relation = Relation::kLess;
  IndexExpr right;
  friend bool operator==(const IndexCondition&, const IndexCondition&) = default;
};
/// All of them hold; none: always.
using Guard = std::vector<IndexCondition>;
/// low <= index < high.
[[nodiscard]] REWRIGHT_API Guard within(const IndexExpr& low, const IndexExpr& index, const IndexExpr& high);

/// axis = 0 .. extent - 1. The extent has no axes, except inside data().
struct AxisRange {
  Axis axis;
  IndexExpr extent;
  bool is_serial = false;  ///< In this order: an element may read those of smaller index (recurrences).
  friend bool operator==(const AxisRange&, const AxisRange&) = default;
};

// --- values ----------------------------------------------------------------------------------------------------

class REWRIGHT_API ValueExpr {
 public:
  enum class Kind : std::uint8_t {
    kLoad,
    kNumber,
    kIndex,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo,
    kMaximum,
    kMinimum,
    kEqual,
    kLess,
    kLessEqual,
    kAnd,
    kOr,
    kNot,
    kCast,
    kCall,
    kSelect,
    kReduce
  };
  enum class Reduction : std::uint8_t { kSum, kProduct, kMaximum, kMinimum };
  struct Node;

  ValueExpr();  ///< 0
  [[nodiscard]] static ValueExpr load(BufferId buffer, std::vector<IndexExpr> at);
  /// The number that the double means (operator/params.h). Whole numbers below 2^53 become indices.
  [[nodiscard]] static ValueExpr from_double(double number);
  [[nodiscard]] static ValueExpr from_integer(std::int64_t number);
  [[nodiscard]] static ValueExpr index(IndexExpr index);
  [[nodiscard]] static ValueExpr binary(Kind kind, const ValueExpr& a, const ValueExpr& b);
  [[nodiscard]] static ValueExpr reduce(Reduction reduction, std::vector<AxisRange> axes, Guard where,
                                        const ValueExpr& body);

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] std::uint64_t hash() const;
  [[nodiscard]] double number() const;                        ///< kNumber.
  [[nodiscard]] BufferId buffer() const;                      ///< kLoad.
  [[nodiscard]] std::span<const IndexExpr> indices() const;   ///< kLoad: where; kIndex: the one.
  [[nodiscard]] ElementType element() const;                  ///< kCast.
  [[nodiscard]] Function function() const;                    ///< kCall.
  [[nodiscard]] Reduction reduction() const;                  ///< kReduce.
  [[nodiscard]] std::span<const AxisRange> axes() const;      ///< kReduce.
  [[nodiscard]] const Guard& guard() const;                   ///< kReduce.
  [[nodiscard]] std::span<const ValueExpr> operands() const;  ///< Of every other kind, in order; kReduce: the body.
  /// Identity of what is shared, for memories of walks: equal addresses are equal expressions.
  [[nodiscard]] const Node* address() const { return node_.get(); }

  friend ValueExpr operator+(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kAdd, a, b); }
  friend ValueExpr operator-(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kSubtract, a, b); }
  friend ValueExpr operator*(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kMultiply, a, b); }
  friend ValueExpr operator/(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kDivide, a, b); }
  ValueExpr& operator+=(const ValueExpr& other) { return *this = *this + other; }
  friend ValueExpr modulo(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kModulo, a, b); }
  friend ValueExpr max(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kMaximum, a, b); }
  friend ValueExpr min(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kMinimum, a, b); }
  friend ValueExpr equal(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kEqual, a, b); }
  friend ValueExpr less(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kLess, a, b); }
  friend ValueExpr less_equal(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kLessEqual, a, b); }
  friend ValueExpr both(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kAnd, a, b); }
  friend ValueExpr either(const ValueExpr& a, const ValueExpr& b) { return binary(Kind::kOr, a, b); }
  friend REWRIGHT_API ValueExpr negation(const ValueExpr& a);
  friend REWRIGHT_API ValueExpr cast(ElementType type, const ValueExpr& a);
  friend REWRIGHT_API ValueExpr apply(Function function, const ValueExpr& a);
  friend REWRIGHT_API ValueExpr select(const ValueExpr& condition, const ValueExpr& then, const ValueExpr& otherwise);
  /// By structure, up to the names of axes.
  friend REWRIGHT_API bool operator==(const ValueExpr& a, const ValueExpr& b);

 private:
  explicit ValueExpr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static ValueExpr of(Node node);
  std::shared_ptr<const Node> node_;
};

/// As scalar.h has it for algebras without a least: here it is a node of its own.
[[nodiscard]] inline ValueExpr minimum(const ValueExpr& a, const ValueExpr& b) { return min(a, b); }

// --- definitions -----------------------------------------------------------------------------------------------

enum class BufferRole : std::uint8_t { kInput, kOutput, kWeight, kTemporary };
/// "in", "out", "weight", "temporary".
[[nodiscard]] REWRIGHT_API const char* name_of(BufferRole role);

struct Buffer {
  std::string name;
  std::vector<IndexExpr> sizes = {};  ///< Numbers and symbols, outermost first.
  ElementType element = ElementType::kFloat32;
  BufferRole role = BufferRole::kInput;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// For every value of the axes that meets the condition: target[at] = value. Stages that follow each other and begin
/// with one serial axis run together: all of them at each of its values, in turn.
struct Stage {
  std::string name;  ///< Unique in its definition; loops are called after it.
  BufferId target = {};
  std::vector<AxisRange> axes = {};  ///< Outermost first.
  std::vector<IndexExpr> at =
      {};  ///< One for each size of the target; usually the axes, or an axis + offset for a part.
  Guard where = {};
  ValueExpr value = {};
};

/// The serial axis with which a stage begins; null if there is none.
[[nodiscard]] inline const AxisRange* serial_axis(const Stage& stage) {
  return !stage.axes.empty() && stage.axes.front().is_serial ? &stage.axes.front() : nullptr;
}

/// An operator's meaning at one set of parameters and ranks: stages in an order in which what is read was written.
/// Each element of an output and a temporary is written by one stage, once.
struct Definition {
  std::vector<Buffer> buffers;
  std::vector<Stage> stages;

  [[nodiscard]] const Buffer& operator[](BufferId id) const { return buffers[id.value]; }
};

// --- printing --------------------------------------------------------------------------------------------------

/// What a buffer is called.
using BufferNames = std::function<std::string(BufferId)>;
/// As the grammar above has them, with as few parentheses as precedence allows.
[[nodiscard]] REWRIGHT_API std::string to_string(const IndexExpr& index, const BufferNames& names);
[[nodiscard]] REWRIGHT_API std::string to_string(const Guard& guard, const BufferNames& names);
[[nodiscard]] REWRIGHT_API std::string to_string(const ValueExpr& value, const BufferNames& names);
/// "c[n, i, j] = sum(k < 4, a[n, i, k] * b[n, k, j])", a line a stage.
[[nodiscard]] REWRIGHT_API std::string to_string(const Definition& definition);

// --- substitution and analysis ---------------------------------------------------------------------------------

/// What to put in place of the parts of an expression; an empty function, or nothing, keeps the part.
struct Substitution {
  std::function<std::optional<IndexExpr>(const Axis&)> axis = {};
  std::function<std::optional<SymbolicDim>(const SymbolicDim&)> size = {};
  std::function<std::optional<BufferId>(BufferId)> buffer = {};
  /// A load whose indices are already replaced, its buffer not.
  std::function<std::optional<ValueExpr>(const ValueExpr&)> load = {};
  /// The same of data().
  std::function<std::optional<IndexExpr>(const IndexExpr&)> data = {};
  /// The axes that reductions bind; `axis` is asked for their uses.
  std::function<std::optional<Axis>(const Axis&)> bound = {};
};
[[nodiscard]] REWRIGHT_API IndexExpr substitute(const IndexExpr& index, const Substitution& parts);
[[nodiscard]] REWRIGHT_API Guard substitute(const Guard& guard, const Substitution& parts);
[[nodiscard]] REWRIGHT_API ValueExpr substitute(const ValueExpr& value, const Substitution& parts);

/// constant + sum of coefficient * axis, by ascending ids, no coefficient 0.
struct Affine {
  SymbolicDim constant;
  std::vector<std::pair<Axis, SymbolicDim>> terms;

  /// Zero if the axis does not occur.
  [[nodiscard]] REWRIGHT_API SymbolicDim coefficient(std::uint32_t axis) const;
  [[nodiscard]] REWRIGHT_API IndexExpr index() const;
  friend bool operator==(const Affine&, const Affine&) = default;
};
/// Nothing where it is not affine: data, products of axes, floor and mod by what does not divide every coefficient.
[[nodiscard]] REWRIGHT_API std::optional<Affine> affine(const IndexExpr& index);

/// low .. high, both included.
struct IndexRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};
/// Where the values of an index lie, by intervals: sound, and tight for affine ones over a full box. Nothing if an axis
/// or size is not known, or a bound passes 2^62. Data has its declared range.
[[nodiscard]] REWRIGHT_API std::optional<IndexRange> range_of(
    const IndexExpr& index, const std::function<std::optional<IndexRange>(const Axis&)>& axes,
    const DimBinding& sizes = {});

}  // namespace rewright
