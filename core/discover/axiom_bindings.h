// The parameters at which one side of an axiom can be met in a program.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rewright {

/// The applications of a program, by operator, and the ranks of its tensors. Of lists of sizes the length alone counts.
class REWRIGHT_API ProgramUses {
 public:
  void add(const Graph& graph);
  /// What the rule brings into a graph.
  void add_target(const Rule& rule);

  [[nodiscard]] const std::vector<Params>& of(const std::string& op) const;
  [[nodiscard]] bool has_rank(int rank) const { return ranks_.contains(rank); }
  /// Grows with what is new.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void add(const std::string& op, const SymbolicParams& params);
  std::map<std::string, std::vector<Params>, std::less<>> params_;
  std::set<int> ranks_;
  std::size_t size_ = 0;
};

/// Values for the axiom's parameter variables at which each application of the side with that root has the parameters
/// of some use. Variables that the side leaves open take the audit's values (axiom/domain.h). At most `most`.
/// Errors: a :domain that cannot be read.
[[nodiscard]] REWRIGHT_API Result<std::vector<ParamBinding>> bindings_at(const Axiom& axiom, std::uint32_t root,
                                                                         const ProgramUses& uses, std::size_t most);

}  // namespace rewright
