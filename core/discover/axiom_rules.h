// Axioms as rules of a program: each at the ranks and parameters that the program's tensors and applications have,
// read from left to right and from right to left.
//
// An axiom becomes a rule where the side that is looked for is an application and binds every variable of the other.
// What the rule asks of sizes is the axiom's condition and what its sides need to be defined, which the matcher checks;
// its certificate is one step, that axiom, and is replayed like any other. So a rule is as true as the axiom: each
// axiom that is taken is judged first (verify/rule_judge.h): known as audited, or audited at fewer sizes than `rewright
// axioms check` looks at.
//
// What rules bring into graphs, others may ask for: their targets' parameters and ranks count like the program's own.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace rewright {

struct AxiomRules {
  /// Trust::kCertificate; named after their axioms: "relu-relu-1a2b3c4d", "relu-relu-back-...".
  std::vector<Rule> rules;
  std::size_t used = 0;                 ///< Axioms that gave rules.
  std::size_t elsewhere = 0;            ///< The program has no such operators, parameters or ranks.
  std::vector<std::string> undirected;  ///< Names: no side is an application that binds all of the other and differs.
  std::vector<std::string> cut_short;   ///< Names: more parameters than kMostInstances.
  /// Sentences: the audit finds it false, the program has it outside of its :domain, or a proof is not accepted.
  std::vector<std::string> refused;
};
inline constexpr std::size_t kMostInstances = 200;  ///< Of one axiom, one direction and one round.

struct AxiomRuleOptions {
  int threads = 1;  ///< Of audits.
  /// So many axioms are audited; false ends the work with kBudget.
  std::function<bool(std::size_t done, std::size_t total)> progress;
};

/// In the order of the axioms. The same rules on any number of threads. Errors: a :domain that cannot be read.
[[nodiscard]] REWRIGHT_API Result<AxiomRules> rules_of_axioms(const AxiomSet& axioms, const Graph& program,
                                                              const Registry& registry,
                                                              const AxiomRuleOptions& options = {});

}  // namespace rewright
