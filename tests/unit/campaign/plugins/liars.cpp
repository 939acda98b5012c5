// Plugins that are wrong on purpose: verifiers that answer without looking, pruners that drop too much.
#include <rewright/plugin/plugin.h>
#include <rewright/rule/pruner.h>
#include <rewright/verify/verifier.h>

namespace {
using namespace rewright;

class Liar final : public Verifier {
 public:
  Liar(std::string name, VerdictKind answer) : name_(std::move(name)), answer_(answer) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string summary() const override { return "Answers without looking"; }
  [[nodiscard]] bool proves() const override { return answer_ == VerdictKind::kProved; }
  [[nodiscard]] bool refutes() const override { return answer_ == VerdictKind::kRefuted; }
  Status configure(const Options&) override { return {}; }
  [[nodiscard]] Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts(goals.size());
    for (Verdict& verdict : verdicts) {
      verdict.kind = answer_;
      verdict.reason = "it was not looked at";
      if (answer_ == VerdictKind::kRefuted) verdict.counterexample = "none";
    }
    return verdicts;
  }
  [[nodiscard]] std::unique_ptr<Verifier> clone() const override { return std::make_unique<Liar>(name_, answer_); }

 private:
  std::string name_;
  VerdictKind answer_;
};

class Session final : public PruneSession {
 public:
  std::optional<Removal> offer(const Candidate& candidate) override {
    if (first_.empty()) {
      first_ = candidate.id;
      return std::nullopt;
    }
    return Removal{first_, "everything follows from the first"};
  }

 private:
  std::string first_;
};

class AllButFirst final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "all_but_first"; }
  [[nodiscard]] std::string summary() const override { return "Drops every candidate but the first"; }
  [[nodiscard]] Result<std::unique_ptr<PruneSession>> start(const Options&) const override {
    return std::unique_ptr<PruneSession>(std::make_unique<Session>());
  }
};

/// Drops four rules with derivations that prove nothing, or (too_few) has no answer for the last.
class SweepingSession final : public RulePruneSession {
 public:
  explicit SweepingSession(const Options& options) : options_(options) {}
  [[nodiscard]] Result<std::vector<std::optional<RuleRemoval>>> prune(std::span<const Rule> rules, const Registry&,
                                                                      const RulePassOptions&) override {
    std::vector<std::optional<RuleRemoval>> removals(rules.size() - options_.count("too_few"));
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string& other = rules[(i + 1) % 4].id;
      removals[i] = {{other}, "it follows from the next", "certificate 1\noutput 0\n"};
      if (options_.contains("by_each_other"))
        removals[i]->derivation += fmt::format(". > {}.0@00000000 x0=x0\n", other);
    }
    return removals;
  }

 private:
  Options options_;
};

class Sweeping final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "sweeping"; }
  [[nodiscard]] std::string summary() const override { return "Drops rules that are needed"; }
  [[nodiscard]] Subject subject() const override { return Subject::kRules; }
  [[nodiscard]] Result<std::unique_ptr<RulePruneSession>> start_on_rules(const Options& options) const override {
    return std::unique_ptr<RulePruneSession>(std::make_unique<SweepingSession>(options));
  }
};

}  // namespace

REWRIGHT_PLUGIN("test.liars", "1.0.0", "Verifiers and pruners that are wrong on purpose") {
  registry.add<Verifier>(std::make_unique<Liar>("optimist", VerdictKind::kProved));
  registry.add<Verifier>(std::make_unique<Liar>("pessimist", VerdictKind::kRefuted));
  registry.add<Pruner>(std::make_unique<AllButFirst>());
  registry.add<Pruner>(std::make_unique<Sweeping>());
}
