// Which axioms the rules of a store rest on, as far as their verifiers tell.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace rewright {

struct Usage {
  std::size_t rules = 0;   ///< In the library.
  std::size_t silent = 0;  ///< Of these, proved by a verifier that does not name its axioms.
  std::map<std::string, std::vector<std::string>> rules_of;  ///< By axiom: ids of the rules whose proofs use it.
};

[[nodiscard]] REWRIGHT_API Result<Usage> usage_of(Store& store);

}  // namespace rewright
