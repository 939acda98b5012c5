// Lemmas: equations in the axiom files that follow from others there. Their :source says from which:
// "lemma: conv-of-weight-concat and concat-of-splits".
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <string>
#include <vector>

namespace rewright {

/// The names after "lemma:" in an axiom's source; none where it is no lemma.
[[nodiscard]] REWRIGHT_API std::vector<std::string> lemma_premises(const Axiom& axiom);

}  // namespace rewright
