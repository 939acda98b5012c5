// Proofs by equality saturation: both sides of a rule go into one e-graph, axioms are applied to what is there, both
// ways, until the sides are equal. A proof holds for all shapes at which both sides are defined and the conditions
// hold, and comes as a certificate (<rewright/verify/certificate.h>). Proved rules can stand in the place of axioms:
// then the certificate is a derivation (<rewright/verify/derivation.h>).
//
// Source  Willsey et al.: egg: Fast and Extensible Equality Saturation, POPL 2021.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/derivation.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// Limits in work, so that a result does not depend on the machine.
struct SaturationLimits {
  std::size_t nodes = 1'500;     ///< Of the e-graph.
  std::size_t matches = 40'000;  ///< Of axioms, tried.
  bool assume = true;            ///< Where there is no proof without: take conditions that hold at the rule's example.
};

struct EqualityProof {
  std::string certificate;
  std::vector<Constraint> conditions;  ///< Beyond defined(source), defined(target) and the rule's precondition.
  std::vector<std::string> axioms;     ///< Names of those used, sorted.
  std::size_t steps = 0;               ///< Of all outputs' chains.
};

struct SaturationStats {
  std::size_t nodes = 0;
  std::size_t matches = 0;
};

/// Keeps what axioms come to at the ranks and parameters that it has met, so the second rule is quicker than the first.
/// To be used from one thread at a time.
class REWRIGHT_API EqualityProver {
 public:
  /// The axioms must outlive the prover.
  explicit EqualityProver(std::span<const Axiom> axioms);
  ~EqualityProver();
  EqualityProver(EqualityProver&&) noexcept;
  EqualityProver& operator=(EqualityProver&&) noexcept;

  /// Errors: kNotFound where nothing is left to apply and the sides are not equal; kBudget where a limit was reached;
  /// kUnsupported where the sides cannot be put into one e-graph.
  [[nodiscard]] Result<EqualityProof> prove(const Rule& rule, const SaturationLimits& limits = {});
  /// Of the last call.
  [[nodiscard]] const SaturationStats& stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How a rule follows from others.
struct Derivation {
  std::string certificate;          ///< Its steps name rules (<rewright/verify/derivation.h>).
  std::vector<DerivationUse> uses;  ///< Of rules, each once, sorted.
  std::size_t steps = 0;            ///< Of all outputs' chains, those that change the order of operands included.
};

/// Derives rules from rules, each of which may be used from source to target and back, at any place of either side.
/// Rules are tried in the order in which they were added; a derivation depends on them and the rule alone, not on what
/// was derived before. To be used from one thread at a time.
class REWRIGHT_API RuleDeriver {
 public:
  explicit RuleDeriver(const Registry& registry);
  ~RuleDeriver();
  RuleDeriver(RuleDeriver&&) noexcept;
  RuleDeriver& operator=(RuleDeriver&&) noexcept;

  /// False for a rule that is too large to be looked for (more than 16 applications a side, shared ones counted as
  /// often as they are used). Errors: a pattern that is defined nowhere.
  Result<bool> add(const Rule& rule);
  /// How many were added.
  [[nodiscard]] std::size_t size() const;

  /// `limits.assume` is not looked at. Errors: as EqualityProver::prove.
  [[nodiscard]] Result<Derivation> derive(const Rule& rule, const SaturationLimits& limits = {});
  /// One rule at each output, with inputs put in for the rule's, and the order of operands. Errors: kNotFound where it
  /// is no such instance; kUnsupported as derive().
  [[nodiscard]] Result<Derivation> instance(const Rule& rule);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct DeriveOptions {
  bool instances_only = false;  ///< RuleDeriver::instance in place of derive.
  SaturationLimits limits;
  int threads = 1;             ///< No result depends on it.
  std::function<bool()> stop;  ///< From any thread; true ends the work with kBudget.
  std::function<void(std::size_t done, std::size_t total)> progress;  ///< From one thread at a time.
};

/// How each rule follows from the library; nothing where it does not.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::optional<Derivation>>> derive_all(std::span<const Rule> rules,
                                                                                     std::span<const Rule> library,
                                                                                     const Registry& registry,
                                                                                     const DeriveOptions& options = {});

/// Goes through the rules in order and keeps each that does not follow from those kept before it; one answer a rule,
/// nothing where it is kept. Best first: what comes early is what the library will consist of.
///
/// Source  Nandi et al.: Rewrite Rule Inference Using Equality Saturation (Ruler), OOPSLA 2021.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::optional<Derivation>>> select_rules(
    std::span<const Rule> rules, const Registry& registry, const DeriveOptions& options = {});

}  // namespace rewright
