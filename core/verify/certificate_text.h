// Certificates as text: the grammar of core/verify/README.md, taken apart. What the parts mean is the checker's
// business.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/tensor/dim.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// What does not fit, in one sentence.
template <class... Args>
[[nodiscard]] Error mismatch(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kMismatch, format, std::forward<Args>(args)...);
}

/// Takes the first line, without its end, off the text.
[[nodiscard]] REWRIGHT_API std::string_view take_line(std::string_view& text);

/// "0.1 > relu-relu@0123abcd x=ewadd(a, b)": the rewrite of the subterm at a position. Views into the line.
struct StepText {
  std::string_view position;  ///< "0.1"; "." is the root.
  std::string_view equation;  ///< The rest.
};
[[nodiscard]] Result<StepText> read_step(std::string_view line);
/// The operands to follow from the root.
[[nodiscard]] Status read_position(std::string_view position, std::vector<std::size_t>& operands);

struct EquationText {
  bool left_to_right = true;
  std::string_view axiom;
  std::string_view digest;
  std::vector<std::pair<std::string_view, std::string_view>> substitution;  ///< Variable and value.
};
[[nodiscard]] Result<EquationText> read_equation(std::string_view equation);

/// "split.1[axis=1, sizes=[a.0, b.0]](x)", or the name of an input.
struct TermText {
  std::string_view name;
  std::uint32_t output = 0;
  std::string_view params;  ///< With their brackets; "" if there are none.
  bool is_application = false;
  std::vector<TermText> operands;
};
[[nodiscard]] Result<TermText> read_term(std::string_view text);

/// "[2, x.0 + 1]".
[[nodiscard]] Result<std::vector<SymbolicDim>> read_sizes(std::string_view text);
[[nodiscard]] Result<double> read_real(std::string_view text);

/// Rules with their proofs, in one file:
///   axioms FILE             where the axioms are, relative to the file; any number of such lines
///   rule RULE               the rule's text
///   any NAME=VALUE; ...     parameters that may have other values (campaign/family.h); such a line may be left out
///   member NAME=VALUE; ...  values for all of these at which the rule was found; any number of such lines
///   certificate 1           and its certificate, up to the next rule
/// Empty lines and lines that start with # are passed over.
struct CertificateFile {
  struct Member {
    std::string values;
    int line = 0;
  };
  struct Entry {
    std::string rule;
    std::string certificate;
    int line = 0;                      ///< Of the rule.
    std::string free = {};             ///< What `any` says.
    std::vector<Member> members = {};  ///< What `member` says, a line each.
  };
  std::vector<std::string> axioms;
  std::vector<Entry> entries;
};
/// Errors: the number of a line that stands before the first rule and is none of these.
[[nodiscard]] REWRIGHT_API Result<CertificateFile> read_certificate_file(std::string_view text);
[[nodiscard]] REWRIGHT_API std::string to_text(const CertificateFile& file);

}  // namespace rewright
