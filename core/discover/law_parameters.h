// The parameters, ranks and conditions of a law: as general as holds.
#pragma once

#include <rewright/axiom/axiom.h>

#include "discover/judge.h"

namespace rewright {

/// A number becomes a variable wherever it stands, where that holds; axes also except where they are another axis.
[[nodiscard]] Axiom generalise_parameters(Axiom axiom, const Judge& judge);
/// The same of choices, such as padding. Last: every stride and rank under one choice says more than one of them under
/// all.
[[nodiscard]] Axiom generalise_choices(Axiom axiom, const Judge& judge);
/// Every rank from 0 to 4 where it holds: for each of up to three tensors, else for those of the two greatest ranks.
[[nodiscard]] Axiom generalise_ranks(Axiom axiom, const Judge& judge);
/// Without the conditions that it holds without.
[[nodiscard]] Axiom without_needless_conditions(Axiom axiom, const Judge& judge);

}  // namespace rewright
