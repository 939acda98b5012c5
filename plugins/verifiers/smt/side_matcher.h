// Which uses of an axiom terms over given symbols can come to: ranks and parameters of one side.
#pragma once

#include <rewright/axiom/axiom.h>

#include <functional>
#include <vector>

#include "symbol.h"

namespace smt_verifier {

using UseReport = std::function<void(const rewright::AxiomRanks&, const rewright::ParamBinding&)>;

/// Assigns symbols to the applications of one side of an axiom, that with the term `root`; each assignment gives ranks
/// and parameters.
void match_side(const rewright::Axiom& axiom, std::uint32_t root, const std::vector<const Symbol*>& symbols,
                const UseReport& found);

}  // namespace smt_verifier
