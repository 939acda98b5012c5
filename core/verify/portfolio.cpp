#include "verify/portfolio.h"

#include <rewright/verify/certificate.h>

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "verify/worker_process.h"

namespace rewright {
namespace {

/// A verifier of the portfolio, configured; each chunk works on a clone.
struct Member {
  VerifierChoice choice;
  const Verifier* prototype = nullptr;
  std::unique_ptr<Verifier> apart;  ///< The prototype, if it runs in a process of its own.
  std::string version;
  bool finds_conditions = false;  ///< As configured.
};

std::string version_of(const Registry& registry, const std::string& verifier) {
  for (const LoadedPlugin& plugin : registry.plugins()) {
    if (std::ranges::find(plugin.provides, "verifier " + verifier) != plugin.provides.end()) return plugin.version;
  }
  return {};
}

Result<std::vector<Member>> members_of(std::span<const VerifierChoice> choices, const Registry& registry,
                                       const PortfolioOptions& options, WorkerShelf& shelf) {
  std::vector<Member> members;
  for (const VerifierChoice& choice : choices) {
    REWRIGHT_TRY(const Verifier* prototype, registry.get<Verifier>(choice.name));
    std::unique_ptr<Verifier> apart;
    if (runs_apart(options.isolation, registry, choice.name)) {
      apart = make_apart(*prototype, registry, options.isolation, options.stop, shelf);
      prototype = apart.get();
    }
    const auto configured = prototype->clone();
    REWRIGHT_CHECK(configured->configure(choice.options));
    members.push_back({choice, prototype, std::move(apart), version_of(registry, choice.name),
                       configured->finds_conditions() && !choice.put_aside});
  }
  return members;
}

Status check_contract(const Verifier& verifier, const Rule& rule, const Verdict& verdict) {
  const bool allowed = verdict.kind == VerdictKind::kUnknown ||
                       (verdict.kind == VerdictKind::kProved ? verifier.proves() : verifier.refutes());
  if (allowed) return {};
  return make_error(ErrorCode::kPlugin, "verifier {} answered {} for rule {}, which it says it never does",
                    verifier.name(), name_of(verdict.kind), rule.name);
}

/// One verifier's verdicts on some rules. `verifier` is used where it is there; what can be used again is left in it.
Result<std::vector<Verdict>> ask(const Member& member, std::unique_ptr<Verifier>& verifier, std::span<const Rule> rules,
                                 std::span<const std::size_t> which, const AxiomSet& axioms, const Budget& budget) {
  if (member.choice.put_aside) {
    Verdict verdict;
    verdict.reason = put_aside_reason(*member.choice.put_aside);
    return std::vector<Verdict>(which.size(), verdict);
  }
  if (!verifier || !verifier->reusable()) {
    verifier = member.prototype->clone();
    REWRIGHT_CHECK(verifier->configure(member.choice.options));
  }
  std::vector<Goal> goals;
  for (const std::size_t i : which) goals.push_back({rules[i], axioms, budget});
  REWRIGHT_TRY(auto verdicts, verifier->verify(goals));
  if (verdicts.size() != goals.size())
    return make_error(ErrorCode::kPlugin, "verifier {} gave {} verdicts for {} goals; it must give one for each",
                      member.choice.name, verdicts.size(), goals.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    REWRIGHT_CHECK(check_contract(*verifier, goals[i].rule, verdicts[i]));
  return verdicts;
}

/// A proof that comes with a certificate counts if the checker accepts it, under the conditions that the verdict adds.
void replay(CertificateChecker& checker, Rule rule, Verdict& verdict) {
  if (verdict.kind != VerdictKind::kProved || verdict.certificate.empty()) return;
  rule.precondition.insert(rule.precondition.end(), verdict.conditions.begin(), verdict.conditions.end());
  const Status status = checker.check(rule, verdict.certificate);
  if (status) return;
  verdict = {};
  verdict.reason = fmt::format("its certificate is rejected: {}", status.error().message);
}

bool decided(const RuleReport& report) { return !report.decided_by.empty(); }

void settle(RuleReport& report, const Member& member, const Budget& budget, Verdict verdict) {
  if (verdict.kind != VerdictKind::kUnknown && !decided(report)) {
    report.outcome = verdict;
    report.decided_by = member.choice.name;
  }
  report.verdicts.push_back({member.choice.name, member.version, budget, std::move(verdict)});
}

void explain_unknown(RuleReport& report) {
  std::string reasons;
  for (const VerifierVerdict& said : report.verdicts)
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", said.verifier, said.verdict.reason);
  report.outcome = {};
  report.outcome.reason = reasons.empty() ? "no verifier was asked" : reasons;
}

std::string reproducer_of(const Rule& rule, const AxiomSet& axioms, const RuleReport& report) {
  std::string text = fmt::format("rule {}\n{}\n", rule.id, to_text(rule));
  for (const std::string& file : axioms.files()) text += fmt::format("axioms {}\n", file);
  for (const VerifierVerdict& said : report.verdicts) {
    text += fmt::format("verifier {} {} work={} memory_bytes={}\n  {}: {}\n", said.verifier, said.version,
                        said.budget.work, said.budget.memory_bytes, name_of(said.verdict.kind), said.verdict.reason);
    if (!said.verdict.counterexample.empty()) text += said.verdict.counterexample + "\n";
    if (!said.verdict.certificate.empty()) text += said.verdict.certificate + "\n";
  }
  return text;
}

/// A verdict of `report` of the given kind, or null. Of proofs one without conditions, if there is one.
const VerifierVerdict* find_verdict(const RuleReport& report, VerdictKind kind) {
  const VerifierVerdict* found = nullptr;
  for (const VerifierVerdict& said : report.verdicts) {
    if (said.verdict.kind == kind &&
        (!found || (!found->verdict.conditions.empty() && said.verdict.conditions.empty())))
      found = &said;
  }
  return found;
}

Contradiction contradiction_of(std::size_t index, const Rule& rule, const AxiomSet& axioms, const RuleReport& report) {
  return {index,
          fmt::format("verifiers {} and {} contradict each other on rule {} ({}): one proves it, the other "
                      "refutes it; stop and look at the reproducer",
                      find_verdict(report, VerdictKind::kProved)->verifier,
                      find_verdict(report, VerdictKind::kRefuted)->verifier, rule.name, rule.id),
          reproducer_of(rule, axioms, report)};
}

/// Runs one member over the rules `which`, chunk by chunk.
Status run_member(const Member& member, std::size_t place, std::span<const Rule> rules,
                  std::span<const std::size_t> which, const AxiomSet& axioms, const Registry& registry,
                  const PortfolioOptions& options, std::vector<RuleReport>& reports) {
  const std::size_t chunk = std::max<std::size_t>(options.chunk, 1);
  const std::size_t chunks = (which.size() + chunk - 1) / chunk;
  std::vector<std::optional<Error>> errors(chunks);
  std::mutex mutex;
  std::size_t done = 0;
  oneapi::tbb::enumerable_thread_specific<std::unique_ptr<Verifier>> verifiers;
  oneapi::tbb::enumerable_thread_specific<std::optional<CertificateChecker>> checkers;
  oneapi::tbb::parallel_for(
      std::size_t{0}, chunks,
      [&](std::size_t c) {
        if (options.stop && options.stop()) {
          errors[c] = make_error(ErrorCode::kBudget, "verification was stopped");
          return;
        }
        const auto part = which.subspan(c * chunk, std::min(chunk, which.size() - c * chunk));
        auto verdicts = ask(member, verifiers.local(), rules, part, axioms, options.budget);
        if (!verdicts) {
          errors[c] = verdicts.error();
          return;
        }
        auto& checker = checkers.local();
        if (!checker) checker.emplace(axioms.axioms(), registry);
        for (std::size_t i = 0; i < part.size(); ++i) {
          replay(*checker, rules[part[i]], (*verdicts)[i]);
          settle(reports[part[i]], member, options.budget, std::move((*verdicts)[i]));
        }
        const std::scoped_lock lock(mutex);
        done += part.size();
        if (options.progress) options.progress(place, done, which.size());
      },
      oneapi::tbb::simple_partitioner());
  for (auto& error : errors) {
    if (error) return std::move(*error);
  }
  return {};
}

/// Asks about refuted rules, which hold at their examples perhaps, those members that may find the condition.
Status seek_conditions(std::span<const Member> members, std::span<const Rule> rules, const AxiomSet& axioms,
                       const Registry& registry, const PortfolioOptions& options, std::vector<RuleReport>& reports) {
  for (std::size_t place = 0; place < members.size(); ++place) {
    if (!members[place].finds_conditions) continue;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const bool open =
          reports[i].outcome.kind == VerdictKind::kRefuted && !find_verdict(reports[i], VerdictKind::kProved);
      if (open && !rules[i].example.empty()) which.push_back(i);
    }
    REWRIGHT_CHECK(run_member(members[place], place, rules, which, axioms, registry, options, reports));
  }
  return {};
}

Status run_all(std::span<const Member> members, std::span<const Rule> rules, const AxiomSet& axioms,
               const Registry& registry, const PortfolioOptions& options, std::vector<RuleReport>& reports) {
  for (std::size_t place = 0; place < members.size(); ++place) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (options.cross_check || !decided(reports[i])) which.push_back(i);
    }
    REWRIGHT_CHECK(run_member(members[place], place, rules, which, axioms, registry, options, reports));
  }
  return options.cross_check ? Status() : seek_conditions(members, rules, axioms, registry, options, reports);
}

/// Does a refutation stand against the proof? One that proves the rule under conditions says nothing outside them, so
/// the refuter is asked again inside them. Gives nothing where there is no proof, or no refutation.
Result<std::optional<bool>> disputed(const Rule& rule, const RuleReport& report, std::span<const Member> members,
                                     const AxiomSet& axioms, const PortfolioOptions& options) {
  const auto* proved = find_verdict(report, VerdictKind::kProved);
  if (!proved || !find_verdict(report, VerdictKind::kRefuted)) return std::optional<bool>();
  if (proved->verdict.conditions.empty()) return std::optional(true);
  std::vector<Rule> inside = {rule};
  inside[0].precondition.insert(inside[0].precondition.end(), proved->verdict.conditions.begin(),
                                proved->verdict.conditions.end());
  static constexpr std::size_t kFirst[] = {0};
  for (const Member& member : members) {
    if (!member.prototype->refutes()) continue;
    std::unique_ptr<Verifier> verifier;
    REWRIGHT_TRY(const auto verdicts, ask(member, verifier, inside, kFirst, axioms, options.budget));
    if (verdicts[0].kind == VerdictKind::kRefuted) return std::optional(true);
  }
  return std::optional(false);
}

/// The rule holds where the proof says so, and nowhere else.
void take_proof(RuleReport& report) {
  const auto* proved = find_verdict(report, VerdictKind::kProved);
  report.outcome = proved->verdict;
  report.decided_by = proved->verifier;
}

}  // namespace

Result<PortfolioReport> verify_all(std::span<const Rule> rules, const AxiomSet& axioms,
                                   std::span<const VerifierChoice> verifiers, const Registry& registry,
                                   const PortfolioOptions& wanted) {
  PortfolioOptions options = wanted;
  options.isolation = isolation_from_environment(wanted.isolation);
  WorkerShelf shelf;
  REWRIGHT_TRY(const auto members, members_of(verifiers, registry, options, wanted.shelf ? *wanted.shelf : shelf));
  PortfolioReport report;
  report.rules.resize(rules.size());
  const int threads = std::max(options.threads, 1);
  oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(threads));
  oneapi::tbb::task_arena arena(threads);
  REWRIGHT_CHECK(arena.execute([&] { return run_all(members, rules, axioms, registry, options, report.rules); }));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    RuleReport& rule = report.rules[i];
    REWRIGHT_TRY(const std::optional<bool> dispute, disputed(rules[i], rule, members, axioms, options));
    if (dispute == std::optional(true)) {
      report.contradictions.push_back(contradiction_of(i, rules[i], axioms, rule));
      rule.outcome = {};
      rule.outcome.reason = report.contradictions.back().message;
      rule.decided_by.clear();
    } else if (dispute) {
      take_proof(rule);
    } else if (!decided(rule)) {
      explain_unknown(rule);
    }
    report.proved += rule.outcome.kind == VerdictKind::kProved;
    report.refuted += rule.outcome.kind == VerdictKind::kRefuted;
    report.unknown += rule.outcome.kind == VerdictKind::kUnknown;
  }
  return report;
}

}  // namespace rewright
