// Certificates: proofs of rules that anyone can replay. The text form is described in core/verify/README.md.
#pragma once

#include <rewright/axiom.h>
#include <rewright/export.h>
#include <rewright/registry.h>
#include <rewright/result.h>
#include <rewright/rule.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rewright {

/// 8 hexadecimal digits that depend on what an axiom states: its variables, terms, condition and ranks.
[[nodiscard]] REWRIGHT_API std::string statement_digest(const Axiom& axiom);

/// Replays certificates. Shares nothing with the provers but the readers of axioms and rules and the operators' shape
/// rules. To be used from one thread at a time.
class REWRIGHT_API CertificateChecker {
 public:
  /// Both must outlive the checker.
  CertificateChecker(std::span<const Axiom> axioms, const Registry& registry);
  ~CertificateChecker();

  /// Does the certificate prove source = target, output by output, wherever both are defined and the rule's
  /// precondition holds? Errors: kMismatch, with the output, the step and what does not fit; kParse where the text
  /// cannot be read.
  Status check(const Rule& rule, std::string_view certificate);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rewright
