// What follows from a set of axioms, by the word of a verifier.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/verifier.h>

#include <span>
#include <string>
#include <vector>

namespace rewright {

/// The verifier that is asked: `egraph` where it is loaded, else the first that can prove. Errors: kNotFound.
[[nodiscard]] REWRIGHT_API Result<std::string> default_prover(const Registry& registry);

class REWRIGHT_API Entailment {
 public:
  Entailment(const Registry& registry, std::string verifier, int threads)
      : registry_(registry), verifier_(std::move(verifier)), threads_(threads) {}

  /// Verdicts in order; only proofs without further conditions count as proved.
  [[nodiscard]] Result<std::vector<Verdict>> prove(std::span<const Rule> rules, const AxiomSet& axioms) const;

  /// Is the axiom proved from the others at up to `most` combinations of its ranks and parameters, evenly chosen?
  struct Proof {
    std::string rule;         ///< What was asked: the axiom at one combination, as a rule.
    std::string certificate;  ///< "" where the verifier gives none.
  };
  struct Answer {
    bool follows = false;
    std::size_t combinations = 0;  ///< At which it was asked; 0: it could be put nowhere.
    std::size_t proved = 0;
    std::vector<std::string> axioms;  ///< Used, where the verifier tells.
    std::string reason;               ///< Where it does not follow: what the verifier said first.
    std::vector<std::string> by;      ///< Axioms by which inputs were put otherwise before (unfold.h).
    std::vector<Proof> proofs;        ///< One for each combination that is proved.
  };
  /// What is not proved as it stands is asked again with inputs put otherwise, where `from` has the axiom that says
  /// that this is the same.
  [[nodiscard]] Result<Answer> follows(const Axiom& axiom, const AxiomSet& from, std::size_t most = 12) const;

  [[nodiscard]] const std::string& verifier() const { return verifier_; }

 private:
  Status ask_unfolded(std::vector<Rule>& open, const AxiomSet& from, Answer& answer) const;
  const Registry& registry_;
  std::string verifier_;
  int threads_;
};

/// The axiom as rules, at up to `most` combinations of ranks and parameters, evenly chosen.
[[nodiscard]] REWRIGHT_API Result<std::vector<Rule>> instances_of(const Axiom& axiom, std::size_t most);

}  // namespace rewright
