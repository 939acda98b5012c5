// From an equation at one choice of ranks and parameters to a law: as general as the audit allows.
//
//   subterms    a term that stands on both sides becomes a variable
//   variables   occurrences of one variable become different ones, the most that can be
//   parameters  a number becomes a variable, everywhere or except where it equals another (a != b); one variable where
//               a value moves from one parameter to another (stretch_left on one side, stretch_right on the other)
//   numbers     in lists: variables, sums of two, products of a tensor's sizes (law_numbers.h)
//   ranks       0 to 4 for each of up to three tensors, else for those of the two greatest ranks
//
// Each step is kept if the equation still passes the audit at small sizes; the last word has a thorough audit. So a law
// is not proved: it is what a person reads before it becomes an axiom.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <string>

#include "discover/law_options.h"

namespace rewright {

struct Law {
  Axiom axiom;
  std::uint64_t combinations = 0;  ///< Of the thorough audit.
  std::string counterexample;      ///< Not empty: the equation itself is false.
};

/// Errors: a domain that cannot be read; kBudget where it was stopped.
[[nodiscard]] REWRIGHT_API Result<Law> generalised_law(const Axiom& equation, const LawOptions& options = {});

}  // namespace rewright
