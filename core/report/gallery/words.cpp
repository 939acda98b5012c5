#include "report/gallery/words.h"

#include <optional>

namespace rewright::gallery {
namespace {

// "x.0" as "the size of x along axis 0"; nothing if the size is anything else.
std::optional<std::string> one_size(const SymbolicDim& dim) {
  const auto variable = dim.variable();
  if (!variable) return std::nullopt;
  if (!variable->is_axis()) return fmt::format("the size {}", variable->text());
  return fmt::format("the size of {} along axis {}", variable->tensor(), variable->axis_text());
}

std::string words(const SymbolicDim& dim) { return one_size(dim).value_or(to_string(dim)); }

// The other side, where the first is a size: "that of y along axis 1".
std::string after_a_size(const SymbolicDim& dim) {
  const auto size = one_size(dim);
  if (!size || size->find(" of ") == std::string::npos) return words(dim);
  return "that" + size->substr(std::string("the size").size());
}

std::string divides(const SymbolicDim& divisor, const SymbolicDim& value) {
  const auto number = divisor.constant();
  if (number == std::optional<std::int64_t>(2)) return words(value) + " is even";
  return fmt::format("{} is a multiple of {}", words(value), to_string(divisor));
}

}  // namespace

std::string in_words(const Constraint& constraint) {
  const std::string left = words(constraint.left);
  const std::string right = one_size(constraint.left) ? after_a_size(constraint.right) : words(constraint.right);
  switch (constraint.kind) {
    case Constraint::Kind::kEqual: return fmt::format("{} is {}", left, right);
    case Constraint::Kind::kNotEqual: return fmt::format("{} is not {}", left, right);
    case Constraint::Kind::kAtLeast:
      if (constraint.left.constant()) return fmt::format("{} is at most {}", words(constraint.right), left);
      return fmt::format("{} is at least {}", left, right);
    case Constraint::Kind::kDivides: break;
  }
  return divides(constraint.left, constraint.right);
}

}  // namespace rewright::gallery
