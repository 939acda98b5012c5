// Size expressions over numbered slots, made ready to be computed many times, in numbers or in another arithmetic: the
// same values as SymbolicDim::evaluate and Constraint::holds give, without looking variables up.
//
// An arithmetic has
//   Slot, Value                    what a slot holds; what an expression is
//   load(slot), constant(number)
//   floor_divide(value, divisor), multiply(value, value)
//   add(sum, factor, value)        sum + factor * value
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/dim.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rewright {

/// The slot of a size variable; nothing where it has none.
using SlotOf = std::function<std::optional<std::uint32_t>(SizeVar)>;

/// Numbers of 63 bits; nothing where one does not fit.
struct CheckedNumbers {
  using Slot = std::int64_t;
  using Value = std::optional<std::int64_t>;

  static Value load(std::int64_t slot) { return slot; }
  static Value constant(std::int64_t number) { return number; }
  static Value floor_divide(Value value, std::int64_t divisor) {
    if (!value) return std::nullopt;
    return rewright::floor_divide(*value, divisor);
  }
  static Value multiply(Value a, Value b) {
    std::int64_t product = 0;
    if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
    return product;
  }
  static Value add(Value sum, std::int64_t factor, Value value) {
    std::int64_t scaled = 0, total = 0;
    if (!sum || !value || __builtin_mul_overflow(*value, factor, &scaled) ||
        __builtin_add_overflow(*sum, scaled, &total))
      return std::nullopt;
    return total;
  }
};

class REWRIGHT_API SizeCode {
 public:
  /// Nothing where a variable has no slot.
  [[nodiscard]] static std::optional<SizeCode> compile(const SymbolicDim& size, const SlotOf& slot_of);
  /// A variable's slot is its position in `names`.
  [[nodiscard]] static std::optional<SizeCode> compile(const SymbolicDim& size, std::span<const SizeVar> names);

  /// The slot where the expression is one variable.
  [[nodiscard]] std::optional<std::uint32_t> slot() const {
    if (!is_slot_) return std::nullopt;
    return terms_.front().slot;
  }
  /// One more than the last slot that it reads; 0 for a number.
  [[nodiscard]] std::size_t reach() const;
  /// Nothing where a number does not fit 63 bits.
  [[nodiscard]] std::optional<std::int64_t> value(std::span<const std::int64_t> slots) const {
    return run(CheckedNumbers{}, slots);
  }
  template <class Arithmetic>
  [[nodiscard]] typename Arithmetic::Value run(Arithmetic arithmetic,
                                               std::span<const typename Arithmetic::Slot> slots) const {
    if (is_slot_) return arithmetic.load(slots[terms_.front().slot]);
    auto sum = arithmetic.constant(constant_);
    for (const Term& term : terms_) sum = arithmetic.add(sum, term.coefficient, term.run(arithmetic, slots));
    return sum;
  }

 private:
  struct Term {
    SymbolicDim::Atom::Kind kind = SymbolicDim::Atom::Kind::kVariable;
    std::int64_t coefficient = 1;
    std::uint32_t slot = 0;
    std::int64_t divisor = 1;
    std::vector<SizeCode> parts;

    template <class Arithmetic>
    [[nodiscard]] typename Arithmetic::Value run(Arithmetic arithmetic,
                                                 std::span<const typename Arithmetic::Slot> slots) const {
      switch (kind) {
        case SymbolicDim::Atom::Kind::kVariable: break;
        case SymbolicDim::Atom::Kind::kQuotient:
          return arithmetic.floor_divide(parts[0].run(arithmetic, slots), divisor);
        case SymbolicDim::Atom::Kind::kProduct:
          return arithmetic.multiply(parts[0].run(arithmetic, slots), parts[1].run(arithmetic, slots));
      }
      return arithmetic.load(slots[slot]);
    }
  };

  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
  bool is_slot_ = false;
};

struct REWRIGHT_API ConstraintCode {
  Constraint::Kind kind = Constraint::Kind::kEqual;
  SizeCode left;
  SizeCode right;

  [[nodiscard]] static std::optional<ConstraintCode> compile(const Constraint& constraint, const SlotOf& slot_of);
  /// A variable's slot is its position in `names`.
  [[nodiscard]] static std::optional<ConstraintCode> compile(const Constraint& constraint,
                                                             std::span<const SizeVar> names);
  [[nodiscard]] std::size_t reach() const { return std::max(left.reach(), right.reach()); }
  /// False also where a side cannot be computed.
  [[nodiscard]] bool holds(std::span<const std::int64_t> slots) const;
};

}  // namespace rewright
