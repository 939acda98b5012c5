#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/files.h"
#include "campaign/crashes.h"
#include "campaign/phases.h"
#include "campaign/proposals.h"
#include "verify/portfolio.h"
#include "verify/worker_process.h"

namespace rewright {
namespace {

// Goals of one call of the portfolio, and of one transaction. Bounds depend on the goals' positions alone.
constexpr std::size_t kBatch = 1024;

const Error kStop{ErrorCode::kBudget, "stopped"};

// --- proposals -------------------------------------------------------------------------------------------------

// Both directions of candidates, made in parallel and written in their order.
class Proposer {
 public:
  Proposer(Run& run, GoalBook& book, std::uint64_t total)
      : run_(run), book_(book), total_(total), arena_(std::max(run.options.threads, 1)) {}

  Status add(const CandidateRecord& candidate) {
    batch_.push_back(candidate);
    return batch_.size() < kBatch ? Status() : flush();
  }
  Status flush() {
    if (run_.should_stop()) return kStop;
    std::vector<std::optional<Result<Proposal>>> made(2 * batch_.size());
    arena_.execute([&] {
      oneapi::tbb::parallel_for(std::size_t{0}, made.size(), [&](std::size_t i) {
        made[i].emplace(propose(batch_[i / 2], i % 2 == 1, FreeSizes::kVariable, run_.registry));
      });
    });
    for (std::optional<Result<Proposal>>& proposal : made) {
      if (!*proposal) return proposal->error();
      REWRIGHT_CHECK(book_.add(**std::move(proposal)));
    }
    done_ += batch_.size();
    batch_.clear();
    run_.progress.report({.phase = "generalise",
                          .unit = "candidates",
                          .done = done_,
                          .fraction = total_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(total_)});
    return {};
  }

 private:
  static constexpr std::size_t kBatch = 512;
  Run& run_;
  GoalBook& book_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  oneapi::tbb::task_arena arena_;
  std::vector<CandidateRecord> batch_;
};

// Every candidate that no pruner removed and that has not been generalised yet: all in one transaction.
Status propose_survivors(Run& run) {
  REWRIGHT_TRY(const std::int64_t proposed, run.store.count("proposals"));
  if (proposed > 0) return {};
  REWRIGHT_TRY(GoalBook book, GoalBook::open(run.store));
  REWRIGHT_TRY(const std::int64_t total,
               run.store.count("candidates", "position NOT IN (SELECT candidate FROM removals)"));
  Proposer proposer(run, book, static_cast<std::uint64_t>(total));
  return run.store.database().transaction([&]() -> Status {
    REWRIGHT_CHECK(
        run.store.candidates([&](const CandidateRecord& candidate) { return proposer.add(candidate); }, true));
    return proposer.flush();
  });
}

// --- verdicts --------------------------------------------------------------------------------------------------

Result<Rule> read_goal(const Run& run, const GoalRecord& goal) {
  REWRIGHT_TRY(Rule rule, parse_rule(goal.text, run.registry));
  rule.id = goal.id;
  rule.name = goal.name;
  REWRIGHT_CHECK(read_example(goal.example, rule));
  return rule;
}

const char* status_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kProved: return "proved";
    case VerdictKind::kRefuted: return "refuted";
    case VerdictKind::kUnknown: break;
  }
  return "unknown";
}

Status record(Run& run, GoalRecord goal, const Rule& rule, const RuleReport& report) {
  for (std::size_t place = 0; place < report.verdicts.size(); ++place) {
    const VerifierVerdict& said = report.verdicts[place];
    REWRIGHT_CHECK(run.store.add(
        VerdictRecord{goal.position, static_cast<int>(place), said.verifier, said.version, said.budget, said.verdict}));
  }
  goal.status = status_of(report.outcome.kind);
  if (report.outcome.kind == VerdictKind::kProved) {
    REWRIGHT_TRY(const Rule proved, with_conditions(rule, report.outcome.conditions));
    goal.rule = to_text(proved);
    goal.certificate = report.outcome.certificate;
    goal.trust = name_of(trust_by(goal.certificate));
  }
  return run.store.settle(goal);
}

Error contradiction_error(const Run& run, const Contradiction& found, const GoalRecord& goal) {
  const std::string file = run.store.path(fmt::format("contradiction-{}.txt", goal.id));
  const Status written = write_file(file, found.reproducer);
  return make_error(ErrorCode::kMismatch,
                    "two verifiers contradict each other, so an axiom or a verifier is wrong: {}; {}; the goal is left "
                    "open",
                    found.message, written ? fmt::format("the reproducer is '{}'", file) : written.error().message);
}

// What the batches of a phase share.
struct Bench {
  WorkerShelf processes;
  // Goals that verifiers crashed over in earlier batches: kept in the store, so that a run that goes on does as one
  // that never stopped.
  std::map<std::string, std::size_t> crashes;
};

PortfolioOptions portfolio_options(Run& run, Bench& bench, std::size_t before, std::size_t total) {
  PortfolioOptions options;
  options.budget = run.config.budget;
  options.threads = run.options.threads;
  options.cross_check = run.config.cross_check;
  options.stop = [&run] { return run.should_stop(); };
  options.isolation = run.config.isolation;
  options.isolation.note = [&run](const std::string& sentence) { run.log.write("verify: " + sentence); };
  options.shelf = &bench.processes;
  const std::size_t verifiers = std::max<std::size_t>(1, run.config.verifiers.size());
  options.progress = [&run, before, total, verifiers](std::size_t place, std::size_t done, std::size_t of) {
    const std::size_t batch = std::min(kBatch, total - before);
    const double part = of == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(of);
    const double seen =
        (static_cast<double>(place) + part) / static_cast<double>(verifiers) * static_cast<double>(batch);
    run.progress.report({.phase = "verify",
                         .unit = "rules",
                         .done = before + static_cast<std::uint64_t>(seen),
                         .fraction = (static_cast<double>(before) + seen) / static_cast<double>(total)});
  };
  return options;
}

std::vector<VerifierChoice> choices(const Run& run, const Bench& bench) {
  std::vector<VerifierChoice> chosen;
  for (const PluginUse& use : run.config.verifiers) {
    VerifierChoice& choice = chosen.emplace_back(use.name, use.options);
    const auto crashed = bench.crashes.find(use.name);
    if (crashed != bench.crashes.end() && crashed->second >= run.config.isolation.most_crashes)
      choice.put_aside = crashed->second;
  }
  return chosen;
}

void count_crashes(const PortfolioReport& report, Bench& bench) {
  for (const RuleReport& rule : report.rules) {
    std::set<std::string> crashed;
    for (const VerifierVerdict& said : rule.verdicts) {
      if (said.verdict.reason.starts_with(kCrashed)) crashed.insert(said.verifier);
    }
    for (const std::string& verifier : crashed) ++bench.crashes[verifier];
  }
}

Status verify_batch(Run& run, Bench& bench, std::span<const GoalRecord> goals, std::size_t before, std::size_t total) {
  std::vector<Rule> rules;
  for (const GoalRecord& goal : goals) {
    REWRIGHT_TRY(Rule rule, read_goal(run, goal));
    rules.push_back(std::move(rule));
  }
  const Result<PortfolioReport> report =
      verify_all(rules, run.axioms, choices(run, bench), run.registry, portfolio_options(run, bench, before, total));
  // An interrupt reaches the solvers' processes too: what they said since is not to be relied on.
  if (run.should_stop()) return kStop;
  if (!report) return report.error();
  if (!report->contradictions.empty()) {
    const Contradiction& first = report->contradictions.front();
    return contradiction_error(run, first, goals[first.rule]);
  }
  count_crashes(*report, bench);
  return run.store.database().transaction([&]() -> Status {
    for (std::size_t i = 0; i < goals.size(); ++i) REWRIGHT_CHECK(record(run, goals[i], rules[i], report->rules[i]));
    return {};
  });
}

Status verify_open_goals(Run& run, Bench& bench) {
  REWRIGHT_TRY(std::vector<GoalRecord> goals, run.store.goals());
  const std::size_t total = goals.size();
  std::erase_if(goals, [](const GoalRecord& goal) { return goal.status != "open"; });
  for (std::size_t at = 0; at < goals.size(); at += kBatch) {
    const std::size_t size = std::min(kBatch, goals.size() - at);
    REWRIGHT_CHECK(verify_batch(run, bench, std::span(goals).subspan(at, size), total - goals.size() + at, total));
  }
  return {};
}

// --- candidates that come back -----------------------------------------------------------------------------------

// What a removal rests on: the candidate at the end of the chain of "made superfluous by".
class Chains {
 public:
  static Result<Chains> read(Store& store) {
    Chains chains;
    REWRIGHT_TRY(
        SqlStatement rows,
        store.database().prepare("SELECT removals.candidate, other.position FROM removals JOIN candidates AS other "
                                 "ON removals.by = other.id WHERE removals.reinstated = 0"));
    REWRIGHT_TRY(bool more, rows.query());
    while (more) {
      chains.by_[rows.integer(0)] = rows.integer(1);
      REWRIGHT_TRY(more, rows.step());
    }
    REWRIGHT_TRY(SqlStatement proved,
                 store.database().prepare("SELECT DISTINCT candidate FROM proposals JOIN goals ON "
                                          "proposals.goal = goals.position WHERE status = 'proved'"));
    REWRIGHT_TRY(more, proved.query());
    while (more) {
      chains.proved_.insert(proved.integer(0));
      REWRIGHT_TRY(more, proved.step());
    }
    return chains;
  }

  // Removed candidates whose removal rests on one that is not proved, in order of position.
  [[nodiscard]] std::vector<std::int64_t> unfounded() const {
    std::vector<std::int64_t> found;
    for (const auto& [candidate, by] : by_) {
      std::int64_t root = by;
      std::size_t steps = 0;
      for (auto next = by_.find(root); next != by_.end() && ++steps <= by_.size(); next = by_.find(root)) {
        root = next->second;
      }
      if (!proved_.contains(root)) found.push_back(candidate);
    }
    return found;
  }

 private:
  std::map<std::int64_t, std::int64_t> by_;
  std::set<std::int64_t> proved_;
};

// Takes back removals that lead to goals nobody has looked at yet. Gives how many.
Result<std::size_t> reinstate(Run& run) {
  REWRIGHT_TRY(const Chains chains, Chains::read(run.store));
  REWRIGHT_TRY(GoalBook book, GoalBook::open(run.store));
  std::size_t count = 0;
  REWRIGHT_CHECK(run.store.database().transaction([&]() -> Status {
    for (const std::int64_t position : chains.unfounded()) {
      if (run.should_stop()) return kStop;
      REWRIGHT_TRY(const CandidateRecord candidate, run.store.candidate(position));
      REWRIGHT_TRY(Proposal forward, propose(candidate, false, FreeSizes::kVariable, run.registry));
      REWRIGHT_TRY(Proposal backward, propose(candidate, true, FreeSizes::kVariable, run.registry));
      bool has_news = book.has_news(forward) || book.has_news(backward);
      for (const bool reversed : {false, true}) {
        // The rule over all sizes may be known and not proved, and the one over this candidate's numbers be new.
        if (has_news || book.is_proved(reversed ? backward : forward)) continue;
        REWRIGHT_TRY(const Proposal numbers, propose(candidate, reversed, FreeSizes::kNumber, run.registry));
        has_news = book.has_news(numbers);
      }
      if (!has_news) continue;
      REWRIGHT_CHECK(run.store.reinstate(position));
      REWRIGHT_CHECK(book.add(std::move(forward)));
      REWRIGHT_CHECK(book.add(std::move(backward)));
      ++count;
    }
    return {};
  }));
  return count;
}

// A rule over all sizes may fail where the rule over the candidate's own numbers holds: those that are not proved get a
// second try. Gives the number of new goals.
Result<std::size_t> retry_with_numbers(Run& run) {
  std::vector<std::pair<std::int64_t, bool>> failed;
  REWRIGHT_TRY(SqlStatement rows,
               run.store.database().prepare(
                   "SELECT candidate, reversed FROM proposals AS p LEFT JOIN goals ON p.goal = position "
                   "WHERE numbers = 0 AND (goal IS NULL OR status <> 'proved') AND NOT EXISTS (SELECT 1 "
                   "FROM proposals AS q WHERE q.candidate = p.candidate AND q.reversed = p.reversed AND "
                   "q.numbers = 1) ORDER BY candidate, reversed"));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    failed.emplace_back(rows.integer(0), rows.integer(1) != 0);
    REWRIGHT_TRY(more, rows.step());
  }
  REWRIGHT_TRY(GoalBook book, GoalBook::open(run.store));
  std::size_t count = 0;
  REWRIGHT_CHECK(run.store.database().transaction([&]() -> Status {
    for (const auto& [position, reversed] : failed) {
      if (run.should_stop()) return kStop;
      REWRIGHT_TRY(const CandidateRecord candidate, run.store.candidate(position));
      REWRIGHT_TRY(Proposal proposal, propose(candidate, reversed, FreeSizes::kNumber, run.registry));
      count += book.has_news(proposal) ? 1 : 0;
      REWRIGHT_CHECK(book.add(std::move(proposal)));
    }
    return {};
  }));
  return count;
}

Status verify_in_rounds(Run& run) {
  REWRIGHT_CHECK(propose_survivors(run));
  Bench bench;
  REWRIGHT_TRY(bench.crashes, count_crashes(run.store));
  while (true) {
    REWRIGHT_CHECK(verify_open_goals(run, bench));
    REWRIGHT_TRY(const std::size_t again, retry_with_numbers(run));
    if (again > 0) continue;
    REWRIGHT_TRY(const std::size_t back, reinstate(run));
    if (back == 0) break;
  }
  return run.store.database().transaction([&] { return run.store.finish("verify"); });
}

}  // namespace

Result<bool> verify_phase(Run& run) {
  const Status status = verify_in_rounds(run);
  if (status) return true;
  if (run.stopped_by != nullptr) return false;
  return status.error();
}

}  // namespace rewright
