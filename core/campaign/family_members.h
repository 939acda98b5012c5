// Which parameters of a rule may be free, and which members of families a program or other rules ask for.
#pragma once

#include <rewright/graph/graph.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign/family.h"

namespace rewright {

/// The parameters that applications have somewhere, and the ranks of tensors.
class REWRIGHT_API ParameterUses {
 public:
  void add(const Graph& graph);
  /// Of the target alone, or of both sides.
  void add(const Rule& rule, bool target_only = false);
  [[nodiscard]] bool empty() const { return params_.empty() && ranks_.empty(); }

 private:
  friend class MemberSearch;
  std::map<std::string, std::set<std::vector<std::string>>, std::less<>> params_;  ///< By operator: values as texts.
  std::set<int> ranks_;
};

/// The parameters of the rule that may have other values, found by putting some in and replaying the proof. In the
/// order in which the source has them, the rank last.
[[nodiscard]] REWRIGHT_API std::vector<ParamText> free_parameters(const Rule& rule, std::span<const Axiom> axioms,
                                                                  const Registry& registry,
                                                                  CertificateChecker& checker);

/// The values of the free parameters at which the source's applications are all among the uses, the family's own values
/// left out; at most kMostMembers.
[[nodiscard]] REWRIGHT_API std::vector<std::vector<std::string>> members_for(const Family& family,
                                                                             const ParameterUses& uses);
inline constexpr std::size_t kMostMembers = 64;

}  // namespace rewright
