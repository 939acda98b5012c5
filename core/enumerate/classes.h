// Classes of graphs with equal fingerprints, and the candidates that they give.
#pragma once

#include "enumerate/values.h"

#include <rewright/pruner.h>

#include <vector>

namespace rewright::enumeration {

/// A graph as the applications it consists of, in the order in which they were added. No application: the outputs are
/// inputs as they are.
struct Record {
  std::vector<ApplicationId> applications;
  std::vector<ValueId> wires;  ///< The outputs of a record without applications.
};

/// The values that no application of the record consumes, ordered by hash; empty if two are equal.
[[nodiscard]] std::vector<ValueId> outputs_of(const ValuePool& pool, const Record& record);

/// The order-free hash of the outputs.
[[nodiscard]] Hash128 fingerprint_of(const ValuePool& pool, std::span<const ValueId> outputs);

/// The two records as graphs over the inputs that either uses, outputs in the order of their hashes.
[[nodiscard]] Result<Candidate> make_candidate(const EnumerationConfig& config, const ValuePool& pool,
                                               const Record& source, const Record& target);

/// Do both sides agree on samples of a seed that the fingerprints have not seen?
[[nodiscard]] Result<bool> confirmed(const Candidate& candidate, std::uint64_t seed, std::uint32_t samples);

}  // namespace rewright::enumeration
