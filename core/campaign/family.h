// Families: one rule and its proof for many parameters.
//
//   rule (x:2, y:2) concat(relu(x), relu(y)) => relu(concat(x, y))
//   any axis=0; rank=2
//   member axis=1
//   certificate 1
//   output 0
//   . < relu-of-concat@... a=0; x=x; y=y
//
// says that every parameter `axis` that is 0, in both sides and in the proof, may be another number, and every input of
// rank 2 may have another rank: namely where the same proof, with the other values put in, is accepted by the checker.
// Nothing else is claimed: a member is made when it is needed, its conditions on sizes follow from its own shapes, and
// its proof is replayed before it is used. `member` lines name those that the campaign found.
//
// A size that stands beside an axis goes with it: split[axis=0, sizes=[x.0, y.0]] becomes split[axis=1, sizes=[x.1,
// y.1]].
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/certificate.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// A parameter's name, and its value as rules write it: "axis", "0"; "strides", "[1, 1]"; "padding", "same"; "rank" is
/// that of inputs.
using ParamText = std::pair<std::string, std::string>;
/// "axis=0; strides=[1, 1]".
[[nodiscard]] REWRIGHT_API std::string to_text(const std::vector<ParamText>& params);
/// Errors: kParse.
[[nodiscard]] REWRIGHT_API Result<std::vector<ParamText>> read_params(std::string_view text);

/// Values of parameters that are no sizes, as texts in the order of the specs; "" for sizes.
[[nodiscard]] REWRIGHT_API std::vector<std::string> param_texts(std::span<const ParamSpec> specs,
                                                                const SymbolicParams& params);
/// Nothing where the text is no value of this kind.
[[nodiscard]] REWRIGHT_API std::optional<BasicParamValue<SymbolicDim>> param_value(const ParamSpec& spec,
                                                                                   std::string_view text);

class REWRIGHT_API Family {
 public:
  /// `free`: name and value in the rule. All must outlive the family; the rule carries its certificate.
  Family(Rule rule, std::vector<ParamText> free, std::span<const Axiom> axioms, const Registry& registry);

  /// `free` as the file has it. Errors: kParse.
  [[nodiscard]] static Result<Family> read(Rule rule, std::string_view free, std::span<const Axiom> axioms,
                                           const Registry& registry);

  [[nodiscard]] const Rule& rule() const { return rule_; }
  [[nodiscard]] const std::vector<ParamText>& free() const { return free_; }
  /// A member's line. Errors: kParse where it does not have the free parameters, in their order.
  [[nodiscard]] Result<std::vector<std::string>> read_values(std::string_view member) const;
  /// The rule with these values in place of those of the free parameters, in their order; its proof is replayed.
  /// Errors: what is no rule at these values; kMismatch where the proof does not hold there.
  [[nodiscard]] Result<Rule> member(const std::vector<std::string>& values, CertificateChecker& checker) const;

 private:
  using Change = std::pair<ParamText, std::string>;  ///< A free parameter, and its other value.
  Result<SymbolicParams> changed(const Operator& op, const SymbolicParams& params,
                                 const std::vector<Change>& changes) const;
  Result<Rule> changed_rule(const std::vector<Change>& changes, bool with_conditions) const;
  Result<std::string> changed_proof(const std::vector<Change>& changes) const;
  Result<std::string> changed_step(std::string_view line, const std::vector<Change>& changes) const;

  Rule rule_;
  std::vector<ParamText> free_;
  const Registry* registry_;
  std::map<std::string, const Axiom*, std::less<>> axioms_;
};

}  // namespace rewright
