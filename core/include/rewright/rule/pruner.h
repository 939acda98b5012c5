// Pruners: plugins that drop what something else makes superfluous. Some work on candidates, before anything is proved,
// the others on proved rules; a campaign's chain holds both, in its order.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/options.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// Two graphs with the same inputs and the same fingerprint; the target is the one that is simpler or first.
struct Candidate {
  std::string id;  ///< Names it in reports and in the store.
  Graph source;
  Graph target;
};

/// Why a candidate was dropped.
struct Removal {
  std::string by;      ///< Id of the candidate that makes it superfluous; empty if it is superfluous by itself.
  std::string reason;  ///< One sentence.
};

/// One pass over candidates in a fixed order. Called by one thread at a time, not always the same one.
class REWRIGHT_API PruneSession {
 public:
  virtual ~PruneSession();
  /// Nothing: the candidate stays (and may make later ones superfluous).
  [[nodiscard]] virtual std::optional<Removal> offer(const Candidate& candidate) = 0;
};

/// Why a rule was dropped.
struct RuleRemoval {
  std::vector<std::string> by;  ///< Ids of the rules that make it superfluous; they stay.
  std::string reason;           ///< One sentence.
  std::string derivation;       ///< How it follows from those (<rewright/verify/derivation.h>).
};

/// What a pass over proved rules may use. The result must not depend on the number of threads.
struct RulePassOptions {
  int threads = 1;
  std::function<bool()> stop;  ///< Asked from time to time, from any thread; true ends the pass with kBudget.
  std::function<void(std::size_t done, std::size_t total)> progress;  ///< From one thread at a time.
};

class REWRIGHT_API RulePruneSession {
 public:
  virtual ~RulePruneSession();
  /// One answer a rule, in order; nothing: the rule stays. The rules come best first.
  [[nodiscard]] virtual Result<std::vector<std::optional<RuleRemoval>>> prune(std::span<const Rule> rules,
                                                                              const Registry& registry,
                                                                              const RulePassOptions& options) = 0;
};

class Pruner;
template <>
inline constexpr std::uint32_t kAbiVersion<Pruner> = 6;

class REWRIGHT_API Pruner {
 public:
  virtual ~Pruner();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;

  enum class Subject { kCandidates, kRules };
  [[nodiscard]] virtual Subject subject() const { return Subject::kCandidates; }
  /// A pass over the pruner's subject; the other start gives kUnsupported. Errors: an option that it does not take.
  [[nodiscard]] virtual Result<std::unique_ptr<PruneSession>> start(const Options& options) const;
  [[nodiscard]] virtual Result<std::unique_ptr<RulePruneSession>> start_on_rules(const Options& options) const;
};

}  // namespace rewright
