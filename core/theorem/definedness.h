// Where both sides of an equation are defined, with as few sizes as there are free: equations are solved by putting one
// size in for another, so that most indices become linear.
//
//   a = b         a := b                     O := g q, where g divides O
//   s p = s q     p = q                      s >= 1
#pragma once

#include <rewright/axiom/axiom.h>

#include <map>
#include <string>
#include <vector>

#include "theorem/context.h"
#include "theorem/expansion.h"

namespace rewright::theorem {

/// Sizes, by name, that may be 0: is one 0 (true), or at least 1, in the case at hand?
using SizeCases = std::map<std::string, bool>;

/// Every size by those that stay free; adds what else is known of them to the context, for good.
[[nodiscard]] SizeValues solve_sizes(const TypedAxiom& axiom, const SizeCases& cases, Context& context);

}  // namespace rewright::theorem
