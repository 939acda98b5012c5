#include "egraph/size_program.h"

namespace rewright::egraph {

using AtomKind = SymbolicDim::Atom::Kind;

std::optional<SizeProgram> SizeProgram::compile(const SymbolicDim& dim, const SlotOf& slot_of) {
  SizeProgram program;
  program.constant_ = dim.constant_term();
  for (const auto& [text, atom] : dim.atoms()) {
    Term term{atom.kind, atom.coefficient, 0, atom.divisor, {}};
    if (atom.kind == AtomKind::kVariable) {
      const auto slot = slot_of(atom.name);
      if (!slot) return std::nullopt;
      term.slot = *slot;
    }
    for (const auto& part : {atom.left, atom.right}) {
      if (!part) continue;
      auto compiled = compile(*part, slot_of);
      if (!compiled) return std::nullopt;
      term.parts.push_back(*std::move(compiled));
    }
    program.terms_.push_back(std::move(term));
  }
  program.plain_ = program.constant_ == 0 && program.terms_.size() == 1 && program.terms_.front().coefficient == 1 &&
                   program.terms_.front().kind == AtomKind::kVariable;
  return program;
}

DimId SizeProgram::compute(Sizes& sizes, std::span<const DimId> slots) const {
  DimId sum = sizes.constant(constant_);
  for (const Term& term : terms_) {
    DimId value = 0;
    switch (term.kind) {
      case AtomKind::kVariable: value = slots[term.slot]; break;
      case AtomKind::kQuotient: value = sizes.floor_divide(term.parts[0].run(sizes, slots), term.divisor); break;
      case AtomKind::kProduct:
        value = sizes.multiply(term.parts[0].run(sizes, slots), term.parts[1].run(sizes, slots));
        break;
    }
    sum = sizes.combine(1, sum, term.coefficient, value);
  }
  return sum;
}

std::optional<ConditionProgram> ConditionProgram::compile(const Constraint& constraint, const SlotOf& slot_of) {
  auto left = SizeProgram::compile(constraint.left, slot_of), right = SizeProgram::compile(constraint.right, slot_of);
  if (!left || !right) return std::nullopt;
  return ConditionProgram{constraint.kind, *std::move(left), *std::move(right)};
}

}  // namespace rewright::egraph
