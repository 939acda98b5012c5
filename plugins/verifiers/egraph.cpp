/// Proves rules by equality saturation over the axioms, with certificates (<rewright/egraph/prover.h>).
///
/// The proof holds for all shapes at which both sides are defined and the precondition holds. Where there is none, one
/// is sought under conditions that hold at the rule's example; they are then the verdict's conditions.
#include <rewright/axiom/axiom.h>
#include <rewright/egraph/prover.h>
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <algorithm>

namespace {

using namespace rewright;

class EGraphVerifier final : public Verifier {
 public:
  std::string name() const override { return "egraph"; }
  std::string summary() const override { return "Proves by equality saturation over the axioms, with certificates"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  bool finds_conditions() const override { return limits_.assume; }
  bool reusable() const override { return true; }

  Status configure(const Options& options) override {
    for (const auto& [key, value] : options) {
      const auto* number = std::get_if<std::int64_t>(&value);
      const auto* flag = std::get_if<bool>(&value);
      if ((key == "nodes" || key == "matches") && number && *number >= 1) {
        (key == "nodes" ? limits_.nodes : limits_.matches) = static_cast<std::size_t>(*number);
      } else if (key == "assume" && flag) {
        limits_.assume = *flag;
      } else {
        return make_error(ErrorCode::kUsage,
                          "verifier egraph cannot take the option '{}'; it has nodes and matches (integers from 1 on) "
                          "and assume (true or false)",
                          key);
      }
    }
    return {};
  }

  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts;
    Stopwatch watch;
    for (const Goal& goal : goals) {
      if (!prover_ || axioms_ != &goal.axioms) {
        prover_.emplace(goal.axioms.axioms());
        axioms_ = &goal.axioms;
      }
      verdicts.push_back(verdict_on(goal));
      verdicts.back().seconds = watch.lap();
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<EGraphVerifier>(); }

 private:
  Verdict verdict_on(const Goal& goal) {
    SaturationLimits limits = limits_;
    limits.matches = std::min<std::size_t>(limits.matches, goal.budget.work);
    auto proof = prover_->prove(goal.rule, limits);
    Verdict verdict;
    if (!proof) {
      verdict.reason = proof.error().message;
      return verdict;
    }
    verdict.kind = VerdictKind::kProved;
    verdict.reason =
        fmt::format("{}the axioms lead from one side to the other in {} step{}",
                    proof->conditions.empty() ? "" : "under conditions, ", proof->steps, proof->steps == 1 ? "" : "s");
    verdict.certificate = std::move(proof->certificate);
    verdict.conditions = std::move(proof->conditions);
    verdict.axioms = std::move(proof->axioms);
    return verdict;
  }

  SaturationLimits limits_;
  const AxiomSet* axioms_ = nullptr;
  std::optional<EqualityProver> prover_;
};

}  // namespace

REWRIGHT_PLUGIN("verifier.egraph", "1.0.0", "Proves rules by equality saturation, with certificates") {
  registry.add<Verifier>(std::make_unique<EGraphVerifier>());
}
