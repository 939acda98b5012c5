// The portfolio: several verifiers, one verdict per rule.
//
// Verifiers run in the order given. A rule stays open until one proves or refutes it, so one verifier may be asked
// twice: quickly at first, and with other options where those between have left a rule open. With cross_check every
// verifier sees every rule. Work is cut into chunks whose bounds depend on the rules alone, and each chunk gets a fresh
// verifier object, or one whose answers do not depend on what it was asked before, so the report does not depend on the
// number of threads.
//
// Verifiers of plugins that did not come with the program run in processes of their own (apart.h).
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/verifier.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/apart.h"

namespace rewright {

struct VerifierChoice {
  std::string name;
  Options options;
  /// The goals that it crashed over before, if they are too many: then it is not asked.
  std::optional<std::size_t> put_aside = {};
};

/// What one verifier said of one rule.
struct VerifierVerdict {
  std::string verifier;
  std::string version;  ///< Of the plugin that provides it; "" if none is known.
  Budget budget;
  Verdict verdict;
};

/// Two verifiers that cannot both be right. The rule's outcome is then Unknown, so that it enters no library; a
/// campaign stops, and writes the reproducer to disk.
struct Contradiction {
  std::size_t rule = 0;    ///< Position in the rules given.
  std::string message;     ///< One sentence that names the rule and both verifiers.
  std::string reproducer;  ///< The rule's text, the axioms' files and names, all verdicts.
};

struct RuleReport {
  std::vector<VerifierVerdict> verdicts;  ///< In the order in which the verifiers ran.
  Verdict outcome;                        ///< The one that decided, or Unknown with every verifier's reason.
  std::string decided_by;                 ///< The verifier's name; "" if none decided.
};

struct PortfolioReport {
  std::vector<RuleReport> rules;  ///< One per rule, in order.
  std::size_t proved = 0;
  std::size_t refuted = 0;
  std::size_t unknown = 0;
  std::vector<Contradiction> contradictions;  ///< Not empty: stop the campaign.
};

/// `done` of `total` rules have been seen by the verifier at `place` in the list. Called from one thread at a time,
/// more than once a verifier.
using VerifyProgress = std::function<void(std::size_t place, std::size_t done, std::size_t total)>;

struct PortfolioOptions {
  Budget budget;  ///< For each rule and verifier.
  int threads = 1;
  bool cross_check = false;  ///< Ask every verifier about every rule, to find those that contradict each other.
  std::size_t chunk = 256;   ///< Rules that one verifier object sees.
  VerifyProgress progress;
  std::function<bool()> stop;    ///< Asked between chunks, from any thread; true ends the work with kBudget.
  Isolation isolation;           ///< REWRIGHT_SAFE in the environment goes before it.
  WorkerShelf* shelf = nullptr;  ///< For the processes of verifiers, if they are to serve more than one call.
};

/// Errors: an unknown verifier or option, a backend that fails, a verifier that answers what it says it cannot (a
/// refuter that proves) or not once per goal: kPlugin, naming the verifier and the rule.
[[nodiscard]] REWRIGHT_API Result<PortfolioReport> verify_all(std::span<const Rule> rules, const AxiomSet& axioms,
                                                              std::span<const VerifierChoice> verifiers,
                                                              const Registry& registry,
                                                              const PortfolioOptions& options = {});

}  // namespace rewright
