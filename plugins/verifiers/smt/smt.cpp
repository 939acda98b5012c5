#include "smt.h"

#include <fmt/ranges.h>

namespace smt_verifier {
namespace {

using rewright::Constraint;
using rewright::SymbolicDim;

constexpr std::int64_t kDigits = 16;

std::string apply(std::string_view function, Sizes sizes, const std::string& left, const std::string& right) {
  return fmt::format("({}{} {} {})", sizes == Sizes::kNames ? "size-" : "", function, left, right);
}

/// Without arithmetic: a constant for each digit, and a function that spells the others.
std::string number(std::int64_t value, Sizes sizes) {
  if (sizes == Sizes::kNumbers) return value < 0 ? fmt::format("(- {})", -value) : fmt::format("{}", value);
  if (value < 0) return fmt::format("(size-negative {})", number(-value, sizes));
  const std::string last = fmt::format("size-{}", value % kDigits);
  return value < kDigits ? last : fmt::format("(size-digits {} {})", number(value / kDigits, sizes), last);
}

std::string atom_text(const SymbolicDim::Atom& atom, const NameOf& name_of, Sizes sizes) {
  switch (atom.kind) {
    case SymbolicDim::Atom::Kind::kVariable: return name_of(*atom.variable);
    case SymbolicDim::Atom::Kind::kQuotient:
      return apply("div", sizes, smt_size(*atom.left, name_of, sizes), number(atom.divisor, sizes));
    case SymbolicDim::Atom::Kind::kProduct: break;
  }
  return apply("*", sizes, smt_size(*atom.left, name_of, sizes), smt_size(*atom.right, name_of, sizes));
}

}  // namespace

std::string_view size_sort(Sizes sizes) { return sizes == Sizes::kNumbers ? "Int" : "Size"; }

std::string size_declarations(Sizes sizes) {
  if (sizes == Sizes::kNumbers) return {};
  std::string text =
      "(declare-sort Size 0)(declare-fun size->= (Size Size) Bool)(declare-fun size-negative (Size) Size)\n";
  for (const char* function : {"+", "*", "div", "mod", "digits"})
    text += fmt::format("(declare-fun size-{} (Size Size) Size)", function);
  for (std::int64_t digit = 0; digit < kDigits; ++digit) text += fmt::format("(declare-fun size-{} () Size)", digit);
  return text + "\n";
}

std::string smt_size(const SymbolicDim& dim, const NameOf& name_of, Sizes sizes) {
  std::string sum;
  const auto add = [&](const std::string& term) { sum = sum.empty() ? term : apply("+", sizes, sum, term); };
  for (const SymbolicDim::Atom& atom : dim.atoms()) {
    const std::string text = atom_text(atom, name_of, sizes);
    add(atom.coefficient == 1 ? text : apply("*", sizes, number(atom.coefficient, sizes), text));
  }
  if (dim.constant_term() != 0 || sum.empty()) add(number(dim.constant_term(), sizes));
  return sum;
}

std::string smt_condition(const Constraint& constraint, const NameOf& name_of, Sizes sizes) {
  const std::string left = smt_size(constraint.left, name_of, sizes);
  const std::string right = smt_size(constraint.right, name_of, sizes);
  switch (constraint.kind) {
    case Constraint::Kind::kEqual: return fmt::format("(= {} {})", left, right);
    case Constraint::Kind::kNotEqual: return fmt::format("(not (= {} {}))", left, right);
    case Constraint::Kind::kAtLeast: return apply(">=", sizes, left, right);
    case Constraint::Kind::kDivides: break;
  }
  return fmt::format("(= {} {})", apply("mod", sizes, right, left), number(0, sizes));
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
