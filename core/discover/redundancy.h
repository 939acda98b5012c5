// Redundancy: which axioms follow from the others, and a part of them from which all follow.
//
// Axioms are looked at one by one, lemmas first, then from the last to the first: one that follows from those still
// there is taken away. What remains proves, step by step, all that was taken: none rests on itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "discover/entailment.h"

namespace rewright {

struct Redundancy {
  std::string name;
  bool lemma = false;
  Entailment::Answer answer;
};

/// One entry for each axiom, in the order in which they were looked at. `progress(done, total)`.
[[nodiscard]] REWRIGHT_API Result<std::vector<Redundancy>> find_redundant(
    const AxiomSet& axioms, const Entailment& entailment,
    const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace rewright
