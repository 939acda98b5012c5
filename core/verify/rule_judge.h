// The one judge of rules, wherever they are used: in optimize, campaigns, imports, checks of certificates and Python.
//
// A rule's trust is the least of its proof's and its axioms':
//   certificate   its proof was replayed by this program, and each axiom that the source brings stood its audit;
//   solver        a solver said so when this program asked it, here or before; there is nothing to replay;
//   none          neither.
// An axiom stood its audit if its file is one of those that came with the program, word for word, and so are its
// operators (axioms/audited.txt, compiled in, has SHA-256 of the files and the operators' versions); or if it says, in
// whichever file, what one of axioms/theorems.txt says, which were proved from the definitions of the same operators;
// or if it was audited here, or before with the same operators (judged_memory.h). An axiom that fails is an error: no
// rule is made of it.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/certificate.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "verify/judged_memory.h"
#include "verify/portfolio.h"

namespace rewright {

/// The id that a row of a store gives is the hash of the rule's text. Errors: kMismatch.
REWRIGHT_API Status check_id(const Rule& rule, std::string_view id);

/// SHA-256 of what an axiom says, without its name and source: of theorems, axioms/theorems.txt has them. Errors:
/// kUnsupported: what cannot be written.
[[nodiscard]] REWRIGHT_API Result<std::string> axiom_digest(const Axiom& axiom);

class REWRIGHT_API RuleJudge {
 public:
  enum class Memory : bool { kNone, kUsed };
  /// Borrows both. Without memory every proof is replayed, and every axiom of other files audited. Audits use so many
  /// threads; 0: as many as there are cores.
  RuleJudge(const AxiomSet& axioms, const Registry& registry, Memory memory = Memory::kUsed, int threads = 0);

  /// Does the certificate prove the rule, on axioms that stood their audit? Errors: kMismatch, what does not fit, or
  /// which axiom is false, with a counterexample; kParse.
  Status prove(const Rule& rule, std::string_view certificate);
  /// Does the verifier prove it, on axioms that stood their audit? Gets several times the budget, since it was asked
  /// among others before. Errors: kMismatch where it does not, or as above; others where it cannot be asked.
  Status ask(const Rule& rule, const VerifierChoice& verifier, Budget budget);
  /// Did each of the axioms stand its audit? Errors: kMismatch, as above.
  Status check_axioms();
  /// The same of one of them.
  Status check_axiom(const Axiom& axiom);

  /// What is remembered of a proof that held; "" where an axiom file cannot be read, and nothing is remembered.
  [[nodiscard]] std::string proof_digest(const Rule& rule, std::string_view certificate) const;

  /// For steps of what is proved in the end, and for members of families, whose proofs are those of rules that were
  /// proved with other parameters; whoever asks it has asked check_axioms() or check_axiom() as well. The calling
  /// thread's own.
  [[nodiscard]] CertificateChecker& checker();

 private:
  [[nodiscard]] bool is_recorded(const Axiom& axiom, const std::string& hash) const;
  [[nodiscard]] const std::string& hash_of(const std::string& file);

  const AxiomSet& axioms_;
  const Registry& registry_;
  const int threads_;
  const bool remembers_;
  struct Checkers;
  std::shared_ptr<Checkers> checkers_;
  JudgedMemory memory_;
  std::set<std::string, std::less<>> audited_operators_, theorem_operators_;
  std::set<std::string> audited_;            ///< Names of axioms.
  std::map<std::string, std::string> hash_;  ///< SHA-256 by file; "" where it cannot be read.
  std::string basis_;                        ///< SHA-256 of the axioms; "" where a file cannot be read.
};

}  // namespace rewright
