#include "rewrite/size_code.h"

#include <utility>

namespace rewright {

std::optional<SizeCode> SizeCode::compile(const SymbolicDim& size, const SlotOf& slot_of) {
  SizeCode code;
  code.constant_ = size.constant_term();
  for (const auto& [text, atom] : size.atoms()) {
    Term term{atom.kind, atom.coefficient, 0, atom.divisor, {}};
    if (atom.kind == SymbolicDim::Atom::Kind::kVariable) {
      const auto slot = slot_of(atom.name);
      if (!slot) return std::nullopt;
      term.slot = *slot;
    }
    for (const auto& part : {atom.left, atom.right}) {
      if (part == nullptr) continue;
      auto compiled = compile(*part, slot_of);
      if (!compiled) return std::nullopt;
      term.parts.push_back(*std::move(compiled));
    }
    code.terms_.push_back(std::move(term));
  }
  return code;
}

std::optional<std::int64_t> SizeCode::run(std::span<const std::int64_t> slots) const {
  std::int64_t sum = constant_;
  for (const Term& term : terms_) {
    std::int64_t value = 0;
    switch (term.kind) {
      case SymbolicDim::Atom::Kind::kVariable: value = slots[term.slot]; break;
      case SymbolicDim::Atom::Kind::kQuotient: {
        const auto dividend = term.parts[0].run(slots);
        if (!dividend) return std::nullopt;
        value = floor_divide(*dividend, term.divisor);
        break;
      }
      case SymbolicDim::Atom::Kind::kProduct: {
        const auto left = term.parts[0].run(slots), right = term.parts[1].run(slots);
        if (!left || !right || __builtin_mul_overflow(*left, *right, &value)) return std::nullopt;
        break;
      }
    }
    std::int64_t scaled = 0;
    if (__builtin_mul_overflow(value, term.coefficient, &scaled) || __builtin_add_overflow(sum, scaled, &sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<ConstraintCode> ConstraintCode::compile(const Constraint& constraint, const SlotOf& slot_of) {
  auto left = SizeCode::compile(constraint.left, slot_of), right = SizeCode::compile(constraint.right, slot_of);
  if (!left || !right) return std::nullopt;
  return ConstraintCode{constraint.kind, *std::move(left), *std::move(right)};
}

bool ConstraintCode::holds(std::span<const std::int64_t> slots) const {
  const auto a = left.run(slots), b = right.run(slots);
  if (!a || !b) return false;
  switch (kind) {
    case Constraint::Kind::kEqual: return *a == *b;
    case Constraint::Kind::kNotEqual: return *a != *b;
    case Constraint::Kind::kAtLeast: return *a >= *b;
    case Constraint::Kind::kDivides: break;
  }
  return *a > 0 && *b % *a == 0;
}

}  // namespace rewright
