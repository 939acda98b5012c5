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
#include <rewright/kit/derivation_pruner.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Session final : public DerivationPruneSession {
 public:
  Session() : DerivationPruneSession({.instances_only = true, .limits = {}, .stop = {}, .progress = {}}) {}

 private:
  [[nodiscard]] std::string reason(const Derivation&, std::size_t rules) const override {
    return rules == 0 ? "both sides are the same, up to the order of operands"
                      : "an instance of the other rule, up to direction and the order of operands";
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
