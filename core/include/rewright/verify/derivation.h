// Derivations: proofs of rules from other rules.
//
// A rule states an equation: source = target, output by output, wherever both sides are defined and the precondition
// holds. As equations, rules can stand where axioms stand: a prover applies them, and a certificate whose steps name
// them in place of axioms derives one rule from others:
//
//   certificate 1
//   output 0
//   0 > 3f9a...c2.0@0123abcd x0=ewadd(a, b)      output 0 of the rule 3f9a...c2, source to target, at operand 0
//   . < commutes.ewadd@89abcdef x=a; y=b         the order of a commutative operator's operands
//
// The grammar is that of all certificates (core/verify/CERTIFICATES.md). What commutes is what the operators' own
// descriptions say; a match of a rule does not see the order either. Concats and splits of several parts are read as
// chains of binary ones, in the rules that are used and in the one that is derived: positions are those in the chains.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rewright {

/// The rule with every concat and split of several parts as a chain of binary ones, which is what they are:
///     concat(a, b, c)              is  concat(concat(a, b), c)
///     a, b, c = split[k, m, n](x)  is  p, c = split[k + m, n](x)  and  a, b = split[k, m](p)
/// So a rule of two parts serves rules and graphs of n: each link of the chain is an instance of it. The rest of the
/// rule, its id and proof among it, stays as it is.
[[nodiscard]] REWRIGHT_API Rule chain_form(Rule rule);

/// One axiom an output, named "ID.OUTPUT" after the rule's id. Inputs are named as in the canonical form: x0, x1, ...
/// The conditions are the precondition and all that either side needs to be defined, so an output alone claims no more
/// than the rule does. Concats and splits of several parts are chains. Errors: a pattern that is defined nowhere.
[[nodiscard]] REWRIGHT_API Result<std::vector<Axiom>> equations_of(const Rule& rule);

/// "commutes.NAME": f(x, y) = f(y, x) for each operator of two operands that says so of itself.
[[nodiscard]] REWRIGHT_API std::vector<Axiom> operand_order_axioms(const Registry& registry);

/// The rule that a step of a derivation names; "" for a step that names none ("commutes.ewadd").
[[nodiscard]] REWRIGHT_API std::string_view rule_of_step(std::string_view axiom_name);

/// One use of a rule in a derivation.
struct DerivationUse {
  std::string rule;        ///< Its id.
  bool backwards = false;  ///< From target to source.
  friend auto operator<=>(const DerivationUse&, const DerivationUse&) = default;
};
/// The uses that a certificate's steps name, each once, sorted. Errors: kParse, naming the line.
[[nodiscard]] REWRIGHT_API Result<std::vector<DerivationUse>> uses_of(std::string_view derivation);

/// The certificate of target => source. Errors: kParse.
[[nodiscard]] REWRIGHT_API Result<std::string> reversed_certificate(std::string_view certificate);
/// target => source with its own precondition, inputs named as they were. Nothing is said of its proof: it has no trust
/// and no certificate. Errors: where that is no rule, since the target does not bind all that the source uses.
[[nodiscard]] REWRIGHT_API Result<Rule> converse(const Rule& rule);

/// Replays derivations. Shares with the search (<rewright/egraph/prover.h>) how a rule is read as equations, and
/// nothing else. To be used from one thread at a time.
class REWRIGHT_API DerivationChecker {
 public:
  /// Steps may name these rules and no others. Errors: a rule that is defined nowhere.
  [[nodiscard]] static Result<DerivationChecker> over(std::span<const Rule> library, const Registry& registry);
  ~DerivationChecker();
  DerivationChecker(DerivationChecker&&) noexcept;
  DerivationChecker& operator=(DerivationChecker&&) noexcept;

  /// Does the derivation lead from the rule's source to its target, both with chains for concats and splits of several
  /// parts, output by output, wherever both are defined and its precondition holds? Errors: kMismatch, with the output,
  /// the step and what does not fit; kParse.
  Status check(const Rule& rule, std::string_view derivation);

 private:
  struct State;
  explicit DerivationChecker(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rewright
