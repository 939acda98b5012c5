// A rule as questions to a solver, one for each output that is not the same term on both sides: are there tensors at
// which source and target differ?
#pragma once

#include <rewright/rule/rule.h>

#include <string>
#include <vector>

#include "theory.h"

namespace smt_verifier {

struct GoalText {
  /// Both sides' terms; defined(source), defined(target), the precondition. Names of terms are local: it belongs
  /// between push and pop, once for each question. (Questions in scopes of their own below it take Z3 fifty times
  /// longer.)
  std::string assumptions;
  std::vector<std::string> questions;  ///< "(assert (not (= s t)))".
  Vocabulary vocabulary;
};

/// Errors: kUnsupported where the sides cannot be put as terms of one sort.
[[nodiscard]] rewright::Result<GoalText> render_goal(const rewright::Rule& rule, Theory& theory);

}  // namespace smt_verifier
