// Rules of a store that rest on a solver's word: which solver gave it, so that it can be asked again.
#pragma once

#include <rewright/base/result.h>
#include <rewright/verify/verifier.h>

#include "store/store.h"
#include "verify/portfolio.h"

namespace rewright {

struct SolverWord {
  VerifierChoice verifier;  ///< With the options that the campaign gave it.
  Budget budget;
};

/// The verifier that proved the goal of this row without a certificate. Errors: kMismatch where the store names none.
[[nodiscard]] Result<SolverWord> solver_word(Store& store, const RuleText& row);

}  // namespace rewright
