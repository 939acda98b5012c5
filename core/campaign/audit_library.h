// The audit of a library: does everything that was proved and dropped follow from what was kept?
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/egraph/prover.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <string>
#include <vector>

#include "store/store.h"

namespace rewright {

struct DerivationFailure {
  std::string rule;  ///< Its id.
  std::string text;
  std::string reason;
};

struct AuditReport {
  std::size_t dropped = 0;   ///< Proved rules that are not in the library.
  std::size_t replayed = 0;  ///< Of them, those whose derivation the checker accepts.
  std::size_t derived = 0;   ///< Of them, those that were derived anew.
  std::size_t forward = 0;   ///< Of them, those recorded as following without going backwards through a rule.
  std::vector<DerivationFailure> failures;
};

/// For each proved rule that is not in the library: replays the derivation that the store holds, with a checker that
/// knows the library's rules and nothing of the search; then derives the rule again from the library. `limits` in the
/// options are those of the second; eight times as much is tried before giving up, and then the rules alone that the
/// stored derivation names. Errors: a store that cannot be read.
[[nodiscard]] REWRIGHT_API Result<AuditReport> audit_library(Store& store, const Registry& registry,
                                                             const DeriveOptions& options);

}  // namespace rewright
