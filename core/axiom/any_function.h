// Relu put as other functions: the same axiom with tanh, which grows and has both signs, and with negation, which
// falls, in relu's place, fused ones too. What holds for every function holds for these; what fails for one of them
// :needs "real-relu".
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <vector>

namespace rewright {

/// One axiom for each function that can stand there; none where relu does not occur.
[[nodiscard]] REWRIGHT_API std::vector<Axiom> with_other_functions(const Axiom& axiom, const Registry& registry);

}  // namespace rewright
