/// Refutes rules by interval arithmetic: where the two sides' intervals have nothing in common, they differ, with no
/// tolerance to argue about; exp, log and the like included, which no exact number can stand for.
///
/// Shapes   those of the rule's example.
/// Values   quarters between -4 and 4, from a fixed seed, at 16 points.
/// Answers  Refuted with the point and both intervals, otherwise Unknown.
/// Budget   one unit of work is one operation on intervals.
#include "interval.h"

#include <rewright/base/mixing.h>
#include <rewright/kit/rule_terms.h>
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <algorithm>

namespace {
using namespace rewright;
using interval::Interval;

Verdict unknown(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

class IntervalVerifier final : public Verifier {
 public:
  [[nodiscard]] std::string name() const override { return "interval"; }
  [[nodiscard]] std::string summary() const override { return "Refutes by interval arithmetic, without a tolerance"; }
  [[nodiscard]] bool proves() const override { return false; }
  [[nodiscard]] bool refutes() const override { return true; }
  [[nodiscard]] bool reusable() const override { return true; }
  Status configure(const Options& options) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "verifier interval has no option '{}'; it has none", options.begin()->first);
  }
  [[nodiscard]] Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts;
    for (const Goal& goal : goals) verdicts.push_back(judge(goal));
    return verdicts;
  }
  [[nodiscard]] std::unique_ptr<Verifier> clone() const override { return std::make_unique<IntervalVerifier>(); }

 private:
  static constexpr int kPoints = 16;

  static Verdict judge(const Goal& goal) {
    const auto terms = terms_at_example(goal.rule, 256);
    if (!terms) return unknown(terms.error().message);
    const TermProgram source(terms->source), target(terms->target);
    const std::uint64_t work = source.steps().size() + target.steps().size();
    Random random(1);
    std::vector<double> values(terms->variables.size());
    int point = 0;
    for (; point < kPoints && work * static_cast<std::uint64_t>(point + 1) <= goal.budget.work; ++point) {
      for (double& value : values) value = static_cast<double>(random.below(33)) / 4 - 4;
      const auto variable = [&](std::uint32_t i) { return Interval::from_double(values[i]); };
      const auto left = source.run<Interval>(variable), right = target.run<Interval>(variable);
      for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i].apart_from(right[i])) return refuted(i, left[i], right[i], terms->variables, values);
    }
    return unknown(fmt::format("the intervals meet at {} points", point));
  }

  static Verdict refuted(std::size_t place, const Interval& left, const Interval& right,
                         const std::vector<std::string>& names, const std::vector<double>& values) {
    Verdict verdict;
    verdict.kind = VerdictKind::kRefuted;
    verdict.reason = fmt::format("number {} of the outputs lies in [{}, {}] on the left and in [{}, {}] on the right",
                                 place, left.low(), left.high(), right.low(), right.high());
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 32); ++i)
      verdict.counterexample += fmt::format("{}{} = {}", i == 0 ? "" : ", ", names[i], values[i]);
    return verdict;
  }
};
}  // namespace

REWRIGHT_PLUGIN("verifier.interval", "1.0.0", "Interval arithmetic") {
  registry.add<Verifier>(std::make_unique<IntervalVerifier>());
}
