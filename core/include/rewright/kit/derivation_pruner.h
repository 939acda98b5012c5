// What pruners share that drop rules which follow from those that stay.
#pragma once

#include <rewright/egraph/prover.h>
#include <rewright/rule/pruner.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

/// Goes through the rules by select_rules(). A member says which derivations count, by the options that it starts with,
/// and gives the reason for dropping a rule.
class DerivationPruneSession : public RulePruneSession {
 public:
  explicit DerivationPruneSession(DeriveOptions options) : options_(std::move(options)) {}

  Result<std::vector<std::optional<RuleRemoval>>> prune(std::span<const Rule> rules, const Registry& registry,
                                                        const RulePassOptions& pass) final {
    DeriveOptions options = options_;
    options.threads = pass.threads;
    options.stop = pass.stop;
    options.progress = pass.progress;
    REWRIGHT_TRY(auto derivations, select_rules(rules, registry, options));
    std::vector<std::optional<RuleRemoval>> removals;
    for (auto& derivation : derivations) {
      removals.emplace_back();
      if (!derivation) continue;
      std::vector<std::string> by;
      for (const DerivationUse& use : derivation->uses) {
        if (by.empty() || by.back() != use.rule) by.push_back(use.rule);
      }
      std::string why = reason(*derivation, by.size());
      removals.back() = RuleRemoval{std::move(by), std::move(why), std::move(derivation->certificate)};
    }
    return removals;
  }

 private:
  /// One sentence on a rule that follows from `rules` others.
  [[nodiscard]] virtual std::string reason(const Derivation& derivation, std::size_t rules) const = 0;

  DeriveOptions options_;
};

}  // namespace rewright
