/// Pruner `derivable`: drops a rule that follows from those that stay, by rewriting.
///
/// Rules are gone through best first. Both sides of a rule go into one e-graph, in which the rules kept so far are
/// applied both ways; if that makes the sides equal the rule is dropped, and the chain of rule instances is its
/// derivation. So what stays is small, general and cheap, and the rest follows from it.
///
/// Options  nodes, matches: limits of one e-graph (1,500 and 40,000); a rule that needs more stays.
/// Cost     some 10 microseconds a rule that follows.
/// Source   Nandi et al.: Rewrite Rule Inference Using Equality Saturation (Ruler), OOPSLA 2021.
#include <rewright/kit/derivation_pruner.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Session final : public DerivationPruneSession {
 public:
  using DerivationPruneSession::DerivationPruneSession;

 private:
  [[nodiscard]] std::string reason(const Derivation& derivation, std::size_t rules) const override {
    return fmt::format("follows in {} step{} from {} rule{}", derivation.steps, derivation.steps == 1 ? "" : "s", rules,
                       rules == 1 ? "" : "s");
  }
};

class Derivable final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "derivable"; }
  [[nodiscard]] std::string summary() const override { return "Drops rules that follow from those that stay"; }
  [[nodiscard]] Subject subject() const override { return Subject::kRules; }
  [[nodiscard]] Result<std::unique_ptr<RulePruneSession>> start_on_rules(const Options& options) const override {
    DeriveOptions derive;
    SaturationLimits& limits = derive.limits;
    for (const auto& [key, value] : options) {
      const auto* number = std::get_if<std::int64_t>(&value);
      if ((key != "nodes" && key != "matches") || !number || *number < 1) {
        return make_error(ErrorCode::kUsage,
                          "pruner derivable cannot take the option '{}'; it has nodes and matches, integers from 1 on",
                          key);
      }
      (key == "nodes" ? limits.nodes : limits.matches) = static_cast<std::size_t>(*number);
    }
    return std::unique_ptr<RulePruneSession>(std::make_unique<Session>(std::move(derive)));
  }
};

}  // namespace

REWRIGHT_PLUGIN("pruner.derivable", "1.0.0", "Rules that follow from others") {
  registry.add<Pruner>(std::make_unique<Derivable>());
}
