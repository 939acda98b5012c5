// The audit: an axiom is evaluated on every combination of small sizes and parameters at which it is claimed.
#pragma once

#include <rewright/axiom.h>
#include <rewright/export.h>

#include <cstdint>
#include <string>

namespace rewright {

struct AuditOptions {
  std::int64_t max_dim = 3;
  /// Per combination of ranks and parameters: where more sizes than this meet the conditions, an even part of them.
  std::size_t max_sizes = 400;
  /// Combinations of ranks and parameters; where there are more, an even part of them.
  std::size_t max_typings = 400;
  std::uint64_t seed = 1;
};

struct AuditResult {
  std::string name;
  std::size_t combinations = 0;  ///< Of ranks, parameters and sizes at which both sides were compared.
  bool holds = true;
  std::string counterexample;  ///< Ranks, parameters, sizes, inputs and the two outputs, in exact numbers.
};

/// Evaluates both sides over the prime field, on small signed integers and on residues of the whole field; where a side
/// uses order or functions, in exact rationals (a fraction has no sign in the field) on small signed integers,
/// quarters of them, and negative quarters. Errors: a :domain that cannot be read.
[[nodiscard]] REWRIGHT_API Result<AuditResult> audit(const Axiom& axiom, const AuditOptions& options = {});

}  // namespace rewright
