#include "verify/certificate_text.h"

#include <charconv>

#include "tensor/real.h"

namespace rewright {
namespace {

constexpr int kMaxDepth = 200;  // Of terms: far beyond any rule, far below the end of the stack.

template <class... Args>
Error unreadable(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kParse, format, std::forward<Args>(args)...);
}

/// Takes what stands before the separator, and the separator, off the text.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + separator.size()));
  return part;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

Result<TermText> take_term(std::string_view& text, int depth) {
  if (depth > kMaxDepth) return unreadable("a term of more than {} levels", kMaxDepth);
  TermText term;
  const std::string_view head = text.substr(0, text.find_first_of("[](), "));
  text.remove_prefix(head.size());
  term.name = head.substr(0, head.find('.'));
  if (term.name.empty()) return unreadable("found '{}', expected a term", text);
  if (term.name.size() < head.size() && !read_number(head.substr(term.name.size() + 1), term.output))
    return unreadable("'{}' names no output", head);
  std::size_t end = 0;
  for (int open = 0; end < text.size() && (text[end] == '[' || open > 0); ++end)
    open += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
  term.params = text.substr(0, end);
  text.remove_prefix(end);
  term.is_application = text.starts_with('(');
  if (!term.is_application) {
    if (!term.params.empty()) return unreadable("the operands of {} are missing", head);
    return term;
  }
  text.remove_prefix(1);
  while (!text.empty() && text.front() != ')') {
    if (!term.operands.empty() && !text.starts_with(", ")) return unreadable("found '{}', expected ', ' or ')'", text);
    if (!term.operands.empty()) text.remove_prefix(2);
    REWRIGHT_TRY(auto operand, take_term(text, depth + 1));
    term.operands.push_back(std::move(operand));
  }
  if (text.empty()) return unreadable("a ')' is missing after the operands of {}", head);
  text.remove_prefix(1);
  return term;
}

}  // namespace

std::string_view take_line(std::string_view& text) { return take_until(text, "\n"); }

Result<StepText> read_step(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return unreadable("'{}' is no step", line);
  return StepText{line.substr(0, space), line.substr(space + 1)};
}

Status read_position(std::string_view position, std::vector<std::size_t>& operands) {
  operands.clear();
  if (position == ".") return {};
  for (std::string_view rest = position; operands.empty() || !rest.empty();) {
    const std::string_view part = take_until(rest, ".");
    operands.emplace_back();
    if (!read_number(part, operands.back())) return unreadable("'{}' is no position", position);
  }
  if (position.ends_with('.')) return unreadable("'{}' is no position", position);
  return {};
}

Result<EquationText> read_equation(std::string_view text) {
  EquationText equation;
  const std::string_view direction = take_until(text, " ");
  if (direction != ">" && direction != "<") return unreadable("'{}' is no direction, expected > or <", direction);
  equation.left_to_right = direction == ">";
  std::string_view reference = take_until(text, " ");
  equation.axiom = take_until(reference, "@");
  equation.digest = reference;
  equation.substitution.reserve(8);
  while (!text.empty()) {
    std::string_view value = take_until(text, "; ");
    const std::string_view whole = value, name = take_until(value, "=");
    if (name.size() == whole.size()) return unreadable("'{}' gives a variable no value", whole);
    equation.substitution.emplace_back(name, value);
  }
  return equation;
}

Result<TermText> read_term(std::string_view text) {
  REWRIGHT_TRY(auto term, take_term(text, 0));
  if (!text.empty()) return unreadable("'{}' is left over after a term", text);
  return term;
}

Result<std::vector<SymbolicDim>> read_sizes(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return unreadable("'{}' is no list", text);
  text = text.substr(1, text.size() - 2);
  std::vector<SymbolicDim> sizes;
  while (!text.empty()) {
    REWRIGHT_TRY(SymbolicDim size, SymbolicDim::parse(take_until(text, ", ")));
    sizes.push_back(std::move(size));
  }
  return sizes;
}

Result<CertificateFile> read_certificate_file(std::string_view text) {
  CertificateFile file;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("rule ")) {
      file.entries.push_back({std::string(line.substr(5)), "", number});
    } else if (!file.entries.empty() && line.starts_with("any ")) {
      file.entries.back().free = line.substr(4);
    } else if (!file.entries.empty() && line.starts_with("member ")) {
      file.entries.back().members.push_back({std::string(line.substr(7)), number});
    } else if (!file.entries.empty()) {
      file.entries.back().certificate.append(line).push_back('\n');
    } else if (line.starts_with("axioms ")) {
      file.axioms.emplace_back(line.substr(7));
    } else {
      return unreadable("line {}: found '{}', expected 'axioms FILE' or 'rule RULE'", number, line);
    }
  }
  return file;
}

std::string to_text(const CertificateFile& file) {
  std::string text;
  for (const std::string& axioms : file.axioms) text += "axioms " + axioms + "\n";
  for (const auto& entry : file.entries) {
    text += "\nrule " + entry.rule + "\n";
    if (!entry.free.empty()) text += "any " + entry.free + "\n";
    for (const auto& member : entry.members) text += "member " + member.values + "\n";
    text += entry.certificate;
  }
  return text;
}

Result<double> read_real(std::string_view text) { return parse_real(text); }

}  // namespace rewright
