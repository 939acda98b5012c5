// An operator and a verifier that crash where the environment says so, and are harmless otherwise: CRASH_AT is
// "operator" or "verifier"; CRASH_BY is the number of a signal.
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace {
using namespace rewright;

void crash_where(std::string_view place) {
  const char* wanted = std::getenv("CRASH_AT");
  if (wanted == nullptr || wanted != place) return;
  const char* signal = std::getenv("CRASH_BY");
  raise(signal == nullptr ? SIGSEGV : std::atoi(signal));
}

class Fragile final : public OperatorOf<Fragile> {
 public:
  static OperatorInfo describe() { return {.name = "fragile", .summary = "The same, if all goes well"}; }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    crash_where("operator");
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x(i) + x(i); });
  }
};

class Nervous final : public Verifier {
 public:
  [[nodiscard]] std::string name() const override { return "nervous"; }
  [[nodiscard]] std::string summary() const override { return "Knows nothing"; }
  [[nodiscard]] bool proves() const override { return true; }
  [[nodiscard]] bool refutes() const override { return false; }
  Status configure(const Options&) override { return {}; }
  [[nodiscard]] Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    crash_where("verifier");
    std::vector<Verdict> verdicts(goals.size());
    for (Verdict& verdict : verdicts) verdict.reason = "it knows nothing";
    return verdicts;
  }
  [[nodiscard]] std::unique_ptr<Verifier> clone() const override { return std::make_unique<Nervous>(); }
};
}  // namespace

REWRIGHT_PLUGIN("operator.fragile", "1.0.0", "Crashes where it is told to") {
  registry.add(make_operator<Fragile>());
  registry.add<Verifier>(std::make_unique<Nervous>());
}
