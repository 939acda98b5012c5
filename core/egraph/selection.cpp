// Many rules at once. Blocks of rules are tested in parallel against what was kept before the block; what is left of it
// is then gone through in order. Blocks depend on the rules' order alone, and a derivation on the rules that were added
// and the one that is derived, so the answer is the same on any number of threads.
#include <rewright/egraph/prover.h>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>

namespace rewright {
namespace {

constexpr std::size_t kBlock = 512;

class Derivers {
 public:
  Derivers(const Registry& registry, const DeriveOptions& options)
      : options_(options), arena_(options.threads), derivers_([&registry] { return RuleDeriver(registry); }) {}

  Status add(const Rule& rule) {
    // A rule that cannot be used is found out here, before any thread's deriver meets it.
    const auto equations = equations_of(rule);
    if (!equations) return equations.error();
    kept_.push_back(&rule);
    return {};
  }

  /// Answers for those rules of the block that have none yet. False if it was stopped.
  bool test(std::span<const Rule> rules, std::span<std::optional<Derivation>> answers) {
    std::atomic<bool> stopped = false;
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rules.size(), 8), [&](const auto& range) {
        if (stopped || (options_.stop && options_.stop())) {
          stopped = true;
          return;
        }
        RuleDeriver& deriver = current();
        for (std::size_t i = range.begin(); i < range.end(); ++i) answers[i] = ask(deriver, rules[i]);
      });
    });
    return !stopped;
  }
  std::optional<Derivation> test(const Rule& rule) { return ask(current(), rule); }
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

 private:
  RuleDeriver& current() {
    RuleDeriver& deriver = derivers_.local();
    while (deriver.size() < kept_.size()) (void)deriver.add(*kept_[deriver.size()]);
    return deriver;
  }
  std::optional<Derivation> ask(RuleDeriver& deriver, const Rule& rule) {
    auto found = options_.instances_only ? deriver.instance(rule) : deriver.derive(rule, options_.limits);
    if (!found) return std::nullopt;
    return *std::move(found);
  }

  const DeriveOptions& options_;
  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<RuleDeriver> derivers_;
  std::vector<const Rule*> kept_;
};

const Error kStopped{ErrorCode::kBudget, "stopped"};

}  // namespace

Result<std::vector<std::optional<Derivation>>> derive_all(std::span<const Rule> rules, std::span<const Rule> library,
                                                          const Registry& registry, const DeriveOptions& options) {
  Derivers derivers(registry, options);
  for (const Rule& rule : library) REWRIGHT_CHECK(derivers.add(rule));
  std::vector<std::optional<Derivation>> answers(rules.size());
  for (std::size_t at = 0; at < rules.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, rules.size() - at);
    if (!derivers.test(rules.subspan(at, size), std::span(answers).subspan(at, size))) return kStopped;
    if (options.progress) options.progress(at + size, rules.size());
  }
  return answers;
}

Result<std::vector<std::optional<Derivation>>> select_rules(std::span<const Rule> rules, const Registry& registry,
                                                            const DeriveOptions& options) {
  Derivers derivers(registry, options);
  std::vector<std::optional<Derivation>> answers(rules.size());
  for (std::size_t at = 0; at < rules.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, rules.size() - at);
    const std::size_t before = derivers.kept();
    if (!derivers.test(rules.subspan(at, size), std::span(answers).subspan(at, size))) return kStopped;
    for (std::size_t i = at; i < at + size; ++i) {
      if (!answers[i] && derivers.kept() > before) answers[i] = derivers.test(rules[i]);
      if (!answers[i]) REWRIGHT_CHECK(derivers.add(rules[i]));
    }
    if (options.stop && options.stop()) return kStopped;
    if (options.progress) options.progress(at + size, rules.size());
  }
  return answers;
}

}  // namespace rewright
