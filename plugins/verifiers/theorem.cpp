/// Proves rules from the operators' definitions, without axioms (<rewright/theorem/rule_theorem.h>).
///
/// The proof holds for all shapes at which both sides are defined and the precondition holds, over the real numbers. It
/// comes with a certificate where the checker's laws suffice. What it does not prove is unknown, with what is left of
/// the difference.
#include <rewright/plugin/plugin.h>
#include <rewright/theorem/rule_theorem.h>
#include <rewright/verify/verifier.h>

#include <algorithm>

namespace {

using namespace rewright;

class TheoremVerifier final : public Verifier {
 public:
  std::string name() const override { return "theorem"; }
  std::string summary() const override { return "Proves from the operators' definitions, without axioms"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  bool finds_conditions() const override { return limits_.assumes; }
  bool reusable() const override { return true; }

  Status configure(const Options& options) override {
    for (const auto& [key, value] : options) {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (key == "pivots" && number && *number >= 1) {
        limits_.pivots = *number;
      } else if (key == "cases" && number && *number >= 1 && *number <= 1'000'000) {
        limits_.cases = static_cast<int>(*number);
      } else if (const auto* flag = std::get_if<bool>(&value); key == "assume" && flag) {
        limits_.assumes = *flag;
      } else {
        return make_error(
            ErrorCode::kUsage,
            "verifier theorem cannot take the option '{}'; it has pivots and cases (integers from 1 on) and "
            "assume (true or false)",
            key);
      }
    }
    return {};
  }

  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts;
    Stopwatch watch;
    for (const Goal& goal : goals) {
      verdicts.push_back(verdict_on(goal));
      verdicts.back().seconds = watch.lap();
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override {
    auto copy = std::make_unique<TheoremVerifier>();
    copy->limits_ = limits_;
    return copy;
  }

 private:
  Verdict verdict_on(const Goal& goal) const {
    TheoremLimits limits = limits_;
    limits.pivots =
        static_cast<std::int64_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(limits.pivots), goal.budget.work));
    const RuleTheorem theorem = prove_from_definitions(goal.rule, limits);
    Verdict verdict;
    if (theorem.proved) {
      verdict.kind = VerdictKind::kProved;
      verdict.certificate = theorem.certificate;
      verdict.conditions = theorem.conditions;
      verdict.reason = "the definitions of both sides are the same number at every index";
    } else {
      constexpr std::size_t kMostText = 300;
      verdict.reason =
          theorem.reason.size() <= kMostText ? theorem.reason : theorem.reason.substr(0, kMostText) + " ..";
      std::ranges::replace(verdict.reason, '\n', ' ');
    }
    return verdict;
  }

  TheoremLimits limits_{.assumes = true};
};

}  // namespace

REWRIGHT_PLUGIN("verifier.theorem", "1.0.0", "Proves rules from the operators' definitions") {
  registry.add<Verifier>(std::make_unique<TheoremVerifier>());
}
