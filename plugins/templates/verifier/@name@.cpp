/// Proves a rule by equality saturation over the axioms, within few nodes. A verifier of your own may ask a solver, run a
/// program or look into a table, as long as it says Proved only of what holds: rules whose proof comes with no
/// certificate are kept apart.
///
/// Budget  one unit of work is one match of an axiom.
#include <rewright/axiom/axiom.h>
#include <rewright/egraph/prover.h>
#include <rewright/verify/verifier.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>

namespace {
using namespace rewright;

class @Name@ final : public Verifier {
 public:
  [[nodiscard]] std::string name() const override { return "@name@"; }
  [[nodiscard]] std::string summary() const override { return "Proves by equality saturation within few nodes"; }
  [[nodiscard]] bool proves() const override { return true; }
  [[nodiscard]] bool refutes() const override { return false; }
  Status configure(const Options& options) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "verifier @name@ has no option '{}'; it has none", options.begin()->first);
  }

  [[nodiscard]] Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts;
    for (const Goal& goal : goals) {
      EqualityProver prover(goal.axioms.axioms());
      SaturationLimits limits{.nodes = 500, .assume = false};
      limits.matches = std::min<std::size_t>(limits.matches, goal.budget.work);
      auto proof = prover.prove(goal.rule, limits);
      Verdict& verdict = verdicts.emplace_back();
      if (!proof) {
        verdict.reason = proof.error().message;  // Unknown.
        continue;
      }
      verdict.kind = VerdictKind::kProved;
      verdict.reason = fmt::format("in {} steps", proof->steps);
      verdict.certificate = std::move(proof->certificate);
      verdict.axioms = std::move(proof->axioms);
    }
    return verdicts;
  }
  [[nodiscard]] std::unique_ptr<Verifier> clone() const override { return std::make_unique<@Name@>(); }
};
}  // namespace

REWRIGHT_PLUGIN("verifier.@name@", "0.1.0", "Equality saturation within few nodes") {
  registry.add<Verifier>(std::make_unique<@Name@>());
}
