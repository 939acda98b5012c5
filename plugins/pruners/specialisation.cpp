/// Pruner `specialisation`: drops a rule that is an instance of another one that stays.
///
/// An instance puts something in for the other rule's inputs: terms, or one tensor for several. So rules go that differ
/// from a more general one in
///   equal inputs that need not be equal   relu(x + x) = ... where relu(x + y) = ... holds
///   a size that the other leaves open     split[sizes=[x.0, 3]](...) where split[sizes=[x.0, s0]](...) holds
///   a condition that the other does without
///   the order of a commutative operator's operands, the direction, names.
/// All outputs must be instances of the same rule.
///
/// Cost    one e-graph of the rule's own terms, matched at its outputs against the rules that stay.
#include <rewright/egraph/prover.h>
#include <rewright/plugin/plugin.h>
#include <rewright/rule/pruner.h>

namespace {
using namespace rewright;

class Session final : public RulePruneSession {
 public:
  Result<std::vector<std::optional<RuleRemoval>>> prune(std::span<const Rule> rules, const Registry& registry,
                                                        const RulePassOptions& pass) override {
    DeriveOptions options;
    options.instances_only = true;
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
      const char* reason = by.empty() ? "both sides are the same, up to the order of operands"
                                      : "an instance of the other rule, up to direction and the order of operands";
      removals.back() = RuleRemoval{std::move(by), reason, std::move(derivation->certificate)};
    }
    return removals;
  }
};

class Specialisation final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "specialisation"; }
  [[nodiscard]] std::string summary() const override { return "Drops rules that are instances of more general ones"; }
  [[nodiscard]] Subject subject() const override { return Subject::kRules; }
  [[nodiscard]] Result<std::unique_ptr<RulePruneSession>> start_on_rules(const Options& options) const override {
    if (!options.empty()) {
      return make_error(ErrorCode::kUsage, "pruner specialisation has no option '{}'", options.begin()->first);
    }
    return std::unique_ptr<RulePruneSession>(std::make_unique<Session>());
  }
};

}  // namespace

REWRIGHT_PLUGIN("pruner.specialisation", "1.0.0", "Rules that are instances of more general ones") {
  registry.add<Pruner>(std::make_unique<Specialisation>());
}
