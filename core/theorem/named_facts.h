// Combinations of facts that are a negative number, each fact with what the checker is told of where it comes from
// (certified::FactUse).
#pragma once

#include <rewright/verify/theorem_certificate.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "theorem/polynomial.h"
#include "theorem/symbols.h"

namespace rewright::theorem {

[[nodiscard]] Polynomial polynomial_of(const certified::Polynomial& p);

/// Do the facts exclude each other? The last one is what is asked; others are taken as far as they share symbols with
/// it. `pivots` is what the search may take, and gets less. Errors: Overflow; std::length_error, a product of more
/// symbols than one can have.
[[nodiscard]] std::optional<std::vector<certified::FactUse>> named_refutation(const SymbolTable& symbols,
                                                                              const std::vector<Fact>& facts,
                                                                              std::int64_t& pivots);

}  // namespace rewright::theorem
