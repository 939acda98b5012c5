// Proofs of axioms from the operators' definitions, as a person would write them.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <optional>
#include <string>
#include <vector>

#include "theorem/theorem_prover.h"

namespace rewright {

struct ShownTheorem {
  const Axiom* axiom = nullptr;
  theorem::AxiomProof proof;
  std::optional<theorem::AxiomReading> reading;  ///< At the first ranks and parameters; none where it is open.
  std::string counterexample;                    ///< Where it is false.
  bool is_certified_asked = false;
};

/// A page that needs no other file.
[[nodiscard]] REWRIGHT_API std::string theorems_html(const std::vector<ShownTheorem>& theorems);

/// What both sides are at one index, case by case, one definition put in after the other, and why they are equal.
/// `heading`: the level of the cases' headings.
[[nodiscard]] REWRIGHT_API std::string reading_html(const theorem::InstanceProof& proof, std::string_view left,
                                                    std::string_view right, int heading = 3);

}  // namespace rewright
