// Verifiers that break their word, for the portfolio's tests.
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <algorithm>
#include <cstdlib>

namespace {

using namespace rewright;

/// Says the same of every rule.
class Stubborn final : public Verifier {
 public:
  Stubborn(std::string name, VerdictKind answer, bool proves, bool refutes, std::size_t missing,
           std::string certificate = "")
      : name_(std::move(name)),
        answer_(answer),
        proves_(proves),
        refutes_(refutes),
        missing_(missing),
        certificate_(std::move(certificate)) {}
  std::string name() const override { return name_; }
  std::string summary() const override { return "Says the same of every rule"; }
  bool proves() const override { return proves_; }
  bool refutes() const override { return refutes_; }
  Status configure(const Options&) override { return {}; }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    Verdict verdict;
    verdict.kind = answer_;
    verdict.reason = "as ever";
    verdict.certificate = certificate_;
    return std::vector<Verdict>(goals.size() - std::min(missing_, goals.size()), verdict);
  }
  std::unique_ptr<Verifier> clone() const override {
    return std::make_unique<Stubborn>(name_, answer_, proves_, refutes_, missing_, certificate_);
  }

 private:
  std::string name_;
  VerdictKind answer_;
  bool proves_, refutes_;
  std::size_t missing_;
  std::string certificate_;
};

/// Crashes over several goals, and forgets one that it is asked about by itself.
class Forgetful final : public Verifier {
 public:
  std::string name() const override { return "forgets-a-single-one"; }
  std::string summary() const override { return "Crashes over several rules, and forgets a single one"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  Status configure(const Options&) override { return {}; }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    if (goals.size() > 1) std::abort();
    return std::vector<Verdict>();
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Forgetful>(); }
};

}  // namespace

REWRIGHT_PLUGIN("verifier.liars", "0.1.0", "Verifiers that break their word") {
  const auto add = [&](const char* name, VerdictKind answer, bool proves, bool refutes, std::size_t missing) {
    registry.add<Verifier>(std::make_unique<Stubborn>(name, answer, proves, refutes, missing));
  };
  add("believes-all", VerdictKind::kProved, true, false, 0);
  add("doubts-all", VerdictKind::kRefuted, false, true, 0);
  add("oversteps", VerdictKind::kProved, false, true, 0);
  add("forgets-one", VerdictKind::kUnknown, true, true, 1);
  registry.add<Verifier>(
      std::make_unique<Stubborn>("forges", VerdictKind::kProved, true, false, 0, "certificate 1\noutput 0\n"));
  registry.add<Verifier>(std::make_unique<Forgetful>());
}
