// Size expressions over numbered slots, made ready to be computed many times: the same values as
// SymbolicDim::evaluate and Constraint::holds give, without names.
#pragma once

#include <rewright/tensor/dim.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rewright {

/// The slot of a size variable; nothing where it has none.
using SlotOf = std::function<std::optional<std::uint32_t>(std::string_view)>;

class SizeCode {
 public:
  /// Nothing where a variable has no slot.
  [[nodiscard]] static std::optional<SizeCode> compile(const SymbolicDim& size, const SlotOf& slot_of);
  /// Nothing where the value does not fit 63 bits.
  [[nodiscard]] std::optional<std::int64_t> run(std::span<const std::int64_t> slots) const;

 private:
  struct Term {
    SymbolicDim::Atom::Kind kind = SymbolicDim::Atom::Kind::kVariable;
    std::int64_t coefficient = 1;
    std::uint32_t slot = 0;
    std::int64_t divisor = 1;
    std::vector<SizeCode> parts;
  };
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
};

struct ConstraintCode {
  Constraint::Kind kind = Constraint::Kind::kEqual;
  SizeCode left;
  SizeCode right;

  [[nodiscard]] static std::optional<ConstraintCode> compile(const Constraint& constraint, const SlotOf& slot_of);
  /// False also where a side cannot be computed.
  [[nodiscard]] bool holds(std::span<const std::int64_t> slots) const;
};

}  // namespace rewright
