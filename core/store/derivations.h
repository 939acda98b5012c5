// The store's tables of derivations: proved rules that the library does without, and how each follows from it.
//
//   derivations       goal, id, pruner, by, reason, steps, forward, certificate
//   derivation_rules  goal, rule: the library's rules that the certificate names
//
// They are a component of the database with a version of its own, and go with the rules and goals that they speak of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"

namespace rewright {

struct DerivationRecord {
  std::int64_t goal = 0;
  std::string id;               ///< Of the rule that was dropped.
  std::string pruner;           ///< Which dropped it.
  std::vector<std::string> by;  ///< The rules that made it superfluous then, by id; they may have been dropped since.
  std::string reason;
  std::int64_t steps = 0;
  bool forward = false;            ///< Every step uses a rule of the library from its source to its target.
  std::string certificate;         ///< The derivation from the library.
  std::vector<std::string> rules;  ///< That it names, by id, sorted.
};

class REWRIGHT_API DerivationTable {
 public:
  /// Makes the tables if they are not there.
  [[nodiscard]] static Result<DerivationTable> open(Store& store);
  /// The rules that the derivation names must be in the store.
  Status add(const DerivationRecord& record);
  /// In order of goal; none where the store has no such tables.
  [[nodiscard]] static Result<std::vector<DerivationRecord>> read(Store& store);

 private:
  explicit DerivationTable(Store& store) : store_(&store) {}
  Store* store_;
};

/// What a campaign's pruners of rules have done. Zeros where there are no such tables.
struct DerivationCounts {
  std::uint64_t all = 0;
  std::uint64_t forward = 0;
};
[[nodiscard]] REWRIGHT_API Result<DerivationCounts> count_derivations(Store& store, const std::string& pruner);

}  // namespace rewright
