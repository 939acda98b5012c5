// Indices and values of loop programs as Halide's expressions.
//
// Indices    32 bits where they and all their parts fit, else 64.
// Integers   computed without sign, since Halide's signed numbers may not wrap.
// Loads      what decides whether a value is needed is not evaluated first: a load that may not be needed is masked by
//            the range of its buffer.
// Data       an index that was read and lies outside of its range is read as its lowest; faults say when.
#pragma once

#include <rewright/loop/element_types.h>
#include <rewright/loop/linear_index.h>
#include <rewright/loop/loop_program.h>

#include <Halide.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rewright::halide {

/// The type of arithmetic; bool is one bit.
[[nodiscard]] Halide::Type type_of(ElementType type);
/// That of memory; bool is a byte.
[[nodiscard]] Halide::Type stored_type_of(ElementType type);
/// Of integers: the least or the greatest.
[[nodiscard]] Halide::Expr number_of(double number, ElementType type);
/// Operands of one type, of values and updates alike.
[[nodiscard]] Halide::Expr combined(ValueExpr::Kind kind, const Halide::Expr& a, const Halide::Expr& b);
[[nodiscard]] Halide::Expr applied(Function function, const Halide::Expr& argument);
[[nodiscard]] Halide::Expr converted(const Halide::Expr& value, ElementType to);

class ExpressionBuilder {
 public:
  explicit ExpressionBuilder(const loop::Program& program);

  /// What a loop's variable is, of 32 bits, and where it lies.
  void enter(const Axis& axis, Halide::Expr variable, IndexRange range);
  void leave(const Axis& axis) { loops_.erase(axis.id); }

  [[nodiscard]] Halide::Expr index(const IndexExpr& index);
  [[nodiscard]] Halide::Expr condition(const Guard& guard);
  /// The place in the buffer, row-major.
  [[nodiscard]] Halide::Expr flat(BufferId buffer, std::span<const IndexExpr> at);
  /// The element there, in the type of arithmetic.
  [[nodiscard]] Halide::Expr element(BufferId buffer, const Halide::Expr& flat);
  /// A value of this type, which is stored in a buffer of `stored`.
  [[nodiscard]] Halide::Expr value(const ValueExpr& value, ElementType type);
  /// How buffers are loaded that are no memory.
  using Loading = std::function<Halide::Expr(BufferId, std::span<const IndexExpr> at)>;
  void set_loading(Loading loading) { loading_ = std::move(loading); }
  /// When data that were read since the last call lie outside of their ranges.
  [[nodiscard]] std::vector<Halide::Expr> take_faults() { return std::exchange(faults_, {}); }
  [[nodiscard]] std::optional<IndexRange> range(const IndexExpr& index) const { return range_of(index, ranges()); }
  [[nodiscard]] const std::string& name(BufferId buffer) const { return names_[buffer.value]; }
  /// What tells Halide that it did not allocate the buffer itself.
  void set_given(BufferId buffer);
  [[nodiscard]] const Halide::Internal::Parameter& given(BufferId buffer) const { return given_[buffer.value]; }

 private:
  struct Variable {
    Halide::Expr value;
    IndexRange range;
  };
  [[nodiscard]] loop::AxisRanges ranges() const;
  /// Does it, and each of its parts, fit 32 bits?
  [[nodiscard]] bool is_short(const IndexExpr& index) const;
  [[nodiscard]] Halide::Expr index(const IndexExpr& index, Halide::Type type);
  [[nodiscard]] Halide::Expr data(const IndexExpr& index, Halide::Type type);
  [[nodiscard]] Halide::Expr built(const ValueExpr& value, ElementType type);
  [[nodiscard]] Halide::Expr make(const ValueExpr& value, ElementType type);
  [[nodiscard]] Halide::Expr comparison(const ValueExpr& value);
  /// `value`, where only `condition` needs it.
  [[nodiscard]] Halide::Expr needed_if(const Halide::Expr& condition, const ValueExpr& value, ElementType type);
  [[nodiscard]] ElementType type_of(const ValueExpr& value, ElementType otherwise);

  const loop::Program& program_;
  loop::ElementTypes types_;
  std::vector<std::string> names_;
  std::vector<Halide::Internal::Parameter> given_;
  std::map<std::uint32_t, Variable> loops_;
  Loading loading_;
  ElementType compared_ = ElementType::kFloat64;  ///< In comparisons of numbers and indices alone.
  std::vector<Halide::Expr> when_;                ///< All of these hold where the value at hand is needed.
  std::vector<Halide::Expr> faults_;
  std::map<std::pair<const ValueExpr::Node*, ElementType>, Halide::Expr> built_;  ///< In the store at hand.
};

}  // namespace rewright::halide
