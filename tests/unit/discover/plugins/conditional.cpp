// A verifier that proves everything where the first size of x is 1, and nothing else.
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <memory>

namespace {

using namespace rewright;

class Conditional final : public Verifier {
 public:
  std::string name() const override { return "conditional"; }
  std::string summary() const override { return "Proves everything under a condition"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  bool finds_conditions() const override { return true; }
  Status configure(const Options&) override { return {}; }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    Verdict verdict;
    verdict.kind = VerdictKind::kProved;
    for (const Goal& goal : goals) {
      if (!goal.rule.inputs.empty()) verdict.conditions = {*Constraint::parse(goal.rule.inputs[0].name + ".0 = 1")};
    }
    return std::vector<Verdict>(goals.size(), verdict);
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Conditional>(); }
};

}  // namespace

REWRIGHT_PLUGIN("verifier.conditional", "0.1.0", "Proves everything under a condition") {
  registry.add<Verifier>(std::make_unique<Conditional>());
}
