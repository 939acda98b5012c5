// Rules proved from the operators' definitions alone, without axioms: for all sizes at which both sides are defined and
// the precondition holds, all values, at the rule's own parameters. The equation holds over the real numbers, wherever
// both sides are defined; sizes of inputs are at least 1.
//
// The certificate, "theorem 1" (core/verify/CERTIFICATES.md), is for the checker to replay. Where there is none, as the
// checker's laws are fewer than the prover's, a proof rests on the word of the prover (core/theorem/).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rewright {

/// Limits in work, so that a result does not depend on the machine.
struct TheoremLimits {
  std::int64_t pivots = 300'000;  ///< Steps of linear arithmetic, for each output of the rule.
  int cases = 200;                ///< Cases of sizes and indices, for each output.
  bool certifies = true;          ///< What is proved gets its certificate.
  bool assumes = false;           ///< A rule that is not proved is tried under conditions that hold at its example.
};

struct RuleTheorem {
  bool proved = false;
  std::string reason;                  ///< Not proved: what is left of the difference, or why there is no way.
  std::string certificate;             ///< Proved; "": there is none.
  std::string uncertified;             ///< Why there is none.
  std::vector<Constraint> conditions;  ///< What was assumed.
};

[[nodiscard]] REWRIGHT_API RuleTheorem prove_from_definitions(const Rule& rule, const TheoremLimits& limits = {});

}  // namespace rewright
