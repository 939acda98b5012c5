// What an audit is told, and what it says of an axiom.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "axiom/domain.h"

namespace rewright {

struct AuditOptions {
  AuditDomain domain = AuditDomain::kSmall;
  std::int64_t max_dim = 3;
  /// Of each combination of ranks and parameters: where more sizes meet the conditions, an even part of them. 0: all.
  std::size_t max_sizes = 400;
  /// Combinations of ranks and parameters; where there are more, an even part of them. 0: all.
  std::size_t max_typings = 400;
  /// Besides: sizes up to this, and parameters out of all that :domain claims, drawn with the seed.
  std::int64_t wide_dim = 8;
  std::size_t wide_typings = 12;  ///< Of an axiom; 0: no wide part.
  std::size_t wide_sizes = 3;     ///< Of each of these typings, and of as many of the others.
  std::uint64_t seed = 1;
  int threads = 1;
  /// So many of the combinations of ranks and parameters of all axioms are done. Called from one thread at a time.
  std::function<void(std::size_t done, std::size_t total, std::uint64_t combinations)> progress;
  std::function<bool()> stop;  ///< Asked now and then; true ends the work.
};

struct AuditResult {
  std::string name;
  std::uint64_t combinations = 0;  ///< Of ranks, parameters and sizes of the domain at which both sides were compared.
  std::uint64_t drawn = 0;         ///< The same of the wide part.
  std::uint64_t sampled = 0;       ///< Of the domain's, without a bound: order or functions are used.
  double error = 0;                ///< Greatest bound of the others.
  bool complete = true;            ///< Every combination of the domain, none left out.
  bool stopped = false;            ///< Ended before that: what is said is of the combinations that were done.
  bool holds = true;
  std::string counterexample;  ///< The one with the fewest elements among those with the least greatest size.
};

}  // namespace rewright
