// What a store's rules are made of, and what it took to prove them: numbers for tables and plots.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"

namespace rewright {

/// The operators of one side of a rule as text, one for each application.
[[nodiscard]] REWRIGHT_API std::vector<std::string> operators_in(std::string_view side);
/// Applications of the larger side.
[[nodiscard]] REWRIGHT_API std::size_t size_of(const RuleText& rule);

struct REWRIGHT_API VerifierStatistics {
  std::string verifier;
  std::uint64_t proved = 0, refuted = 0, unknown = 0;
  std::vector<double> seconds;  ///< Of its verdicts, ascending; those that were timed.

  [[nodiscard]] std::uint64_t asked() const { return proved + refuted + unknown; }
  [[nodiscard]] double total_seconds() const;
  /// The least time within which the share of the timed verdicts came: 0.5 is the median. 0 where none was timed.
  [[nodiscard]] double seconds_within(double share) const;
};

struct RuleStatistics {
  std::uint64_t rules = 0;
  std::uint64_t conditional = 0;  ///< With a precondition.
  std::map<std::size_t, std::uint64_t> by_size;
  std::map<std::string, std::uint64_t> by_operator;  ///< Rules in which it occurs.
  std::map<std::string, std::uint64_t> by_trust;
  std::map<std::string, std::uint64_t> goals;  ///< By status.
  std::vector<VerifierStatistics> verifiers;   ///< By name.
  std::uint64_t used = 0;                      ///< Rules that were of use in some model.
  /// From graphs to the library, as far as the store knows: what, and how many are left.
  std::vector<std::pair<std::string, std::uint64_t>> funnel;
};
[[nodiscard]] REWRIGHT_API Result<RuleStatistics> statistics(Store& store);
/// What the rules alone tell.
[[nodiscard]] REWRIGHT_API RuleStatistics statistics_of(std::span<const RuleText> rules);

}  // namespace rewright
