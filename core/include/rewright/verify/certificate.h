// Certificates: proofs of rules that anyone can replay. The text form is described in core/verify/README.md.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// 8 hexadecimal digits that depend on what an axiom states: its variables, terms, condition and ranks.
[[nodiscard]] REWRIGHT_API std::string statement_digest(const Axiom& axiom);


/// A term of a proof: an input, or an application.
struct ProofTerm {
  std::string text;  ///< "x", "matmul", "split.1[axis=1, sizes=[x.1, y.1]]".
  bool is_input = false;
  std::vector<ProofTerm> operands;
};

/// How one output of the source becomes that of the target.
struct ProofChain {
  struct Step {
    std::vector<std::size_t> position;  ///< The operands to follow from the root to the part that is replaced.
    bool left_to_right = true;
    std::string axiom;
    std::vector<std::pair<std::string, std::string>>
        substitution;  ///< Variable and value, as the certificate has them.
    ProofTerm after;   ///< The whole term, once the part is replaced.
  };
  ProofTerm start;
  std::vector<Step> steps;
};

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
  /// The same, with every term on the way, output by output: for people to read. Errors: kUnsupported for a proof
  /// from definitions, which has no steps.
  [[nodiscard]] Result<std::vector<ProofChain>> explain(const Rule& rule, std::string_view certificate);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rewright
