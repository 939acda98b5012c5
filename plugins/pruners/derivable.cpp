/// Pruner `derivable`: drops a rule that follows from those that stay, by rewriting.
///
/// Rules are gone through best first. Both sides of a rule go into one e-graph, in which the rules kept so far are
/// applied both ways; if that makes the sides equal the rule is dropped, and the chain of rule instances is its
/// derivation. So what stays is small, general and cheap, and the rest follows from it.
///
/// Options  nodes, matches: limits of one e-graph (1,500 and 40,000); a rule that needs more stays.
/// Cost     some 10 microseconds a rule that follows.
/// Source   Nandi et al.: Rewrite Rule Inference Using Equality Saturation (Ruler), OOPSLA 2021.
#include <rewright/egraph/prover.h>
#include <rewright/plugin/plugin.h>
#include <rewright/rule/pruner.h>

namespace {
using namespace rewright;

class Session final : public RulePruneSession {
 public:
  explicit Session(const SaturationLimits& limits) : limits_(limits) {}

  Result<std::vector<std::optional<RuleRemoval>>> prune(std::span<const Rule> rules, const Registry& registry,
                                                        const RulePassOptions& pass) override {
    DeriveOptions options;
    options.limits = limits_;
    options.threads = pass.threads;
    options.stop = pass.stop;
    options.progress = pass.progress;
    REWRIGHT_TRY(auto derivations, select_rules(rules, registry, options));
    std::vector<std::optional<RuleRemoval>> removals;
    for (auto& derivation : derivations) {
      removals.emplace_back();
      if (derivation) removals.back() = removal(*std::move(derivation));
    }
    return removals;
  }

 private:
  static RuleRemoval removal(Derivation derivation) {
    std::vector<std::string> by;
    for (const DerivationUse& use : derivation.uses) {
      if (by.empty() || by.back() != use.rule) by.push_back(use.rule);
    }
    std::string reason = fmt::format("follows in {} step{} from {} rule{}", derivation.steps,
                                     derivation.steps == 1 ? "" : "s", by.size(), by.size() == 1 ? "" : "s");
    return {std::move(by), std::move(reason), std::move(derivation.certificate)};
  }

  SaturationLimits limits_;
};

class Derivable final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "derivable"; }
  [[nodiscard]] std::string summary() const override { return "Drops rules that follow from those that stay"; }
  [[nodiscard]] Subject subject() const override { return Subject::kRules; }
  [[nodiscard]] Result<std::unique_ptr<RulePruneSession>> start_on_rules(const Options& options) const override {
    SaturationLimits limits;
    for (const auto& [key, value] : options) {
      const auto* number = std::get_if<std::int64_t>(&value);
      if ((key != "nodes" && key != "matches") || !number || *number < 1) {
        return make_error(ErrorCode::kUsage,
                          "pruner derivable cannot take the option '{}'; it has nodes and matches, integers from 1 on",
                          key);
      }
      (key == "nodes" ? limits.nodes : limits.matches) = static_cast<std::size_t>(*number);
    }
    return std::unique_ptr<RulePruneSession>(std::make_unique<Session>(limits));
  }
};

}  // namespace

REWRIGHT_PLUGIN("pruner.derivable", "1.0.0", "Rules that follow from others") {
  registry.add<Pruner>(std::make_unique<Derivable>());
}
