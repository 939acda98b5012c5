#include "smt.h"

#include <fmt/ranges.h>

namespace smt_verifier {
namespace {

using rewright::Constraint;
using rewright::SymbolicDim;

std::string number(std::int64_t value) { return value < 0 ? fmt::format("(- {})", -value) : fmt::format("{}", value); }

std::string atom_text(const SymbolicDim::Atom& atom, const NameOf& name_of) {
  switch (atom.kind) {
    case SymbolicDim::Atom::Kind::kVariable: return name_of(atom.name);
    case SymbolicDim::Atom::Kind::kQuotient:
      return fmt::format("(div {} {})", smt_size(*atom.left, name_of), atom.divisor);
    case SymbolicDim::Atom::Kind::kProduct:
      return fmt::format("(* {} {})", smt_size(*atom.left, name_of), smt_size(*atom.right, name_of));
  }
  rewright::fail("an atom of no kind");
}

}  // namespace

std::string smt_size(const SymbolicDim& dim, const NameOf& name_of) {
  std::vector<std::string> terms;
  for (const auto& [key, atom] : dim.atoms()) {
    const std::string text = atom_text(atom, name_of);
    terms.push_back(atom.coefficient == 1 ? text : fmt::format("(* {} {})", number(atom.coefficient), text));
  }
  if (dim.constant_term() != 0 || terms.empty()) terms.push_back(number(dim.constant_term()));
  return terms.size() == 1 ? terms[0] : fmt::format("(+ {})", fmt::join(terms, " "));
}

std::string smt_condition(const Constraint& constraint, const NameOf& name_of) {
  const std::string left = smt_size(constraint.left, name_of), right = smt_size(constraint.right, name_of);
  switch (constraint.kind) {
    case Constraint::Kind::kEqual: return fmt::format("(= {} {})", left, right);
    case Constraint::Kind::kNotEqual: return fmt::format("(not (= {} {}))", left, right);
    case Constraint::Kind::kAtLeast: return fmt::format("(>= {} {})", left, right);
    case Constraint::Kind::kDivides: return fmt::format("(= (mod {} {}) 0)", right, left);
  }
  rewright::fail("a constraint of no kind");
}

std::string smt_and(const std::vector<std::string>& parts) {
  if (parts.empty()) return "true";
  return parts.size() == 1 ? parts[0] : fmt::format("(and {})", fmt::join(parts, " "));
}

std::string smt_apply(std::string_view function, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::string(function);
  return fmt::format("({} {})", function, fmt::join(arguments, " "));
}

}  // namespace smt_verifier
