#include <rewright/tensor/size_code.h>

#include <utility>

namespace rewright {

namespace {

SlotOf position_in(std::span<const SizeVar> names) {
  return [names](SizeVar name) -> std::optional<std::uint32_t> {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - names.begin());
  };
}

}  // namespace

std::optional<SizeCode> SizeCode::compile(const SymbolicDim& size, const SlotOf& slot_of) {
  using Kind = SymbolicDim::Atom::Kind;
  SizeCode code;
  code.constant_ = size.constant_term();
  for (const SymbolicDim::Atom& atom : size.atoms()) {
    Term term{atom.kind, atom.coefficient, 0, atom.divisor, {}};
    if (atom.kind == Kind::kVariable) {
      const auto slot = slot_of(*atom.variable);
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
  code.is_slot_ = code.constant_ == 0 && code.terms_.size() == 1 && code.terms_.front().coefficient == 1 &&
                  code.terms_.front().kind == Kind::kVariable;
  return code;
}

std::optional<SizeCode> SizeCode::compile(const SymbolicDim& size, std::span<const SizeVar> names) {
  return compile(size, position_in(names));
}

std::size_t SizeCode::reach() const {
  std::size_t reach = 0;
  for (const Term& term : terms_) {
    if (term.kind == SymbolicDim::Atom::Kind::kVariable) reach = std::max<std::size_t>(reach, term.slot + 1);
    for (const SizeCode& part : term.parts) reach = std::max(reach, part.reach());
  }
  return reach;
}

std::optional<ConstraintCode> ConstraintCode::compile(const Constraint& constraint, const SlotOf& slot_of) {
  auto left = SizeCode::compile(constraint.left, slot_of), right = SizeCode::compile(constraint.right, slot_of);
  if (!left || !right) return std::nullopt;
  return ConstraintCode{constraint.kind, *std::move(left), *std::move(right)};
}

std::optional<ConstraintCode> ConstraintCode::compile(const Constraint& constraint, std::span<const SizeVar> names) {
  return compile(constraint, position_in(names));
}

bool ConstraintCode::holds(std::span<const std::int64_t> slots) const {
  const auto a = left.value(slots), b = right.value(slots);
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
