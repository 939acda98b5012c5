// A rule as questions to Z3: is there, for one output, a tensor at which source and target differ?
#pragma once

#include <rewright/rule.h>

#include <set>
#include <string>
#include <vector>

#include "theory.h"

namespace z3_verifier {

struct GoalText {
  std::string assumptions;             ///< Inputs, sizes, defined(source), defined(target), the precondition.
  std::vector<std::string> questions;  ///< One per output: not (source = target).
  std::set<SymbolId> symbols;
};

/// Errors: kUnsupported where the sides cannot be put as terms of one sort.
[[nodiscard]] rewright::Result<GoalText> render_goal(const rewright::Rule& rule, Theory& theory);

}  // namespace z3_verifier
