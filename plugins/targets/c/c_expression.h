// Indices and values of loop programs in C, with as few parentheses as C's precedence allows.
#pragma once

#include <rewright/loop/element_types.h>
#include <rewright/loop/linear_index.h>
#include <rewright/loop/loop_program.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "c_helpers.h"

namespace rewright::c {

/// "f32", "i64", ...: what names of helpers end in.
[[nodiscard]] const char* suffix(ElementType type);

class ExpressionWriter {
 public:
  ExpressionWriter(const loop::Program& program, Helpers& helpers)
      : program_(program), helpers_(helpers), types_(program.buffers) {}

  /// Names places that are no elements of an array: asked first, with the flat index. Nothing: it is one.
  using Naming = std::function<std::optional<std::string>(BufferId, const IndexExpr& flat)>;
  void set_naming(Naming naming) { naming_ = std::move(naming); }

  /// What a loop's variable is called, and where it lies.
  void enter(const Axis& axis, std::string name, IndexRange range);
  void leave(const Axis& axis) { loops_.erase(axis.id); }

  [[nodiscard]] std::string index(const IndexExpr& index) { return text(index, kLowest); }
  [[nodiscard]] std::string condition(const Guard& guard);
  /// buffer[flat index]; a local of one element is a variable.
  [[nodiscard]] std::string place(BufferId buffer, std::span<const IndexExpr> at);
  /// A value of this type.
  [[nodiscard]] std::string value(const ValueExpr& value, ElementType type) { return text(value, type, kLowest); }
  /// "old op value" for an update of a place.
  [[nodiscard]] std::string update(loop::StoreKind kind, const std::string& old, const ValueExpr& value,
                                   ElementType type);

  /// The place in the buffer, row-major.
  [[nodiscard]] IndexExpr flat(BufferId buffer, std::span<const IndexExpr> at) const;
  /// What is known of the loops around.
  [[nodiscard]] loop::AxisRanges ranges() const;
  [[nodiscard]] ElementType type_of(const ValueExpr& value, ElementType otherwise);

  void add_variable(BufferId buffer) { variables_.insert(buffer.value); }
  [[nodiscard]] bool reads_data() const { return reads_data_; }
  /// Of a weight whose numbers are read as indices, all of which is asked once.
  struct WeightCheck {
    IndexRange range;           ///< They are to lie there.
    bool is_ascending = false;  ///< Each is where a row ends and the next begins.
  };
  [[nodiscard]] const std::map<std::uint32_t, WeightCheck>& checked() const { return checked_; }

 private:
  enum Precedence { kLowest, kConditional, kOr, kAnd, kEquality, kRelation, kSum, kProduct, kUnary, kAtom };
  struct Variable {
    std::string name;
    IndexRange range;
  };

  [[nodiscard]] std::string text(const IndexExpr& index, int around);
  [[nodiscard]] std::string infix(const IndexExpr& index, const char* sign, int own, int around);
  [[nodiscard]] std::string divided(const IndexExpr& index, int around);
  [[nodiscard]] std::string data(const IndexExpr& index);
  [[nodiscard]] std::string difference(const IndexExpr& index, int around);

  [[nodiscard]] std::string text(const ValueExpr& value, ElementType type, int around);
  [[nodiscard]] std::string number(const ValueExpr& value, ElementType type, int around) const;
  [[nodiscard]] std::string whole(const IndexExpr& index, ElementType type, int around);
  [[nodiscard]] std::string arithmetic(const ValueExpr& value, ElementType type, int around);
  [[nodiscard]] std::string comparison(const ValueExpr& value, int around);
  [[nodiscard]] std::string infix(const ValueExpr& value, ElementType type, const char* sign, int own, int around);
  [[nodiscard]] std::string helper(std::string_view stem, const ValueExpr& value, ElementType type);
  [[nodiscard]] std::string function(const ValueExpr& value, ElementType type);
  [[nodiscard]] std::string converted(const ValueExpr& value, int around);

  const loop::Program& program_;
  Helpers& helpers_;
  loop::ElementTypes types_;
  ElementType compared_ =
      ElementType::kFloat64;  ///< In comparisons of numbers and indices alone, in the store at hand.
  std::map<std::uint32_t, Variable> loops_;
  std::set<std::uint32_t> variables_;
  Naming naming_ = [](BufferId, const IndexExpr&) { return std::nullopt; };
  bool reads_data_ = false;
  std::map<std::uint32_t, WeightCheck> checked_;
};

}  // namespace rewright::c
