// A size expression over numbered slots, made ready to be computed many times.
#pragma once

#include <rewright/tensor/dim.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "egraph/sizes.h"

namespace rewright::egraph {

/// The slot of a size variable; nothing where it has none.
using SlotOf = std::function<std::optional<std::uint32_t>(std::string_view)>;

class SizeProgram {
 public:
  /// Nothing where a variable has no slot.
  [[nodiscard]] static std::optional<SizeProgram> compile(const SymbolicDim& dim, const SlotOf& slot_of);
  /// The slot where the expression is one variable.
  [[nodiscard]] std::optional<std::uint32_t> slot() const {
    if (!plain_) return std::nullopt;
    return terms_.front().slot;
  }
  [[nodiscard]] DimId run(Sizes& sizes, std::span<const DimId> slots) const {
    return plain_ ? slots[terms_.front().slot] : compute(sizes, slots);
  }

 private:
  struct Term {
    SymbolicDim::Atom::Kind kind = SymbolicDim::Atom::Kind::kVariable;
    std::int64_t coefficient = 1;
    std::uint32_t slot = 0;
    std::int64_t divisor = 1;
    std::vector<SizeProgram> parts;
  };
  [[nodiscard]] DimId compute(Sizes& sizes, std::span<const DimId> slots) const;

  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
  bool plain_ = false;
};

/// A condition on sizes, likewise.
struct ConditionProgram {
  Constraint::Kind kind = Constraint::Kind::kEqual;
  SizeProgram left;
  SizeProgram right;

  [[nodiscard]] static std::optional<ConditionProgram> compile(const Constraint& constraint, const SlotOf& slot_of);
  [[nodiscard]] Condition run(Sizes& sizes, std::span<const DimId> slots) const {
    return {kind, left.run(sizes, slots), right.run(sizes, slots)};
  }
};

}  // namespace rewright::egraph
