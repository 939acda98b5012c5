// Kinds about axioms.
//
// "verify": one verifier on the rules of a file.
//   rules, axioms, verifier; every (only each so-many-th rule, default 1), work (budget), options
//   Rows  rules (name of the file), verifier, goals, proved, conditional, refuted, unknown, share (percent proved),
//   seconds, cpu_seconds
// "audit": axioms evaluated over a bounded domain.
//   axioms; domain ("taso", "small" or "nightly"), max_dim
//   Rows  axioms, combinations, failing, seconds, cpu_seconds; row = "failing": axiom, for each
// "prove_axioms": axioms proved from the operators' definitions, for all sizes, at each combination of ranks and
// parameters that an audit tries and some that are drawn.
//   axioms, drawn (combinations for each choice of ranks, default 40)
//   Rows  row = "file", for each, and "sum": file, axioms, combinations, proved, certified, open, share (percent
//         proved), certified_share, seconds, cpu_seconds
//         row = "open": axiom, left; row = "uncertified": axiom, left (why there is no certificate)
// "normal_forms": of both sides of each rule, as sums of products at symbolic sizes.
//   rules; every
//   Rows  rules (name of the file), goals, one_form (both sides have one, so that a look at it decides), share, proved
//         (by matching too), seconds
// "drop_axioms": axioms left out one at a time, and how few prove as much.
//   rules, axioms, every
//   Rows  row = "axiom": axiom, lost (of the goals that all axioms prove)
//         row = "sum": axioms, goals, proved, needed (whose loss loses a goal), enough (left when as many as possible
//         are left out one after the other), seconds
#include <algorithm>

#include "axiom/audit.h"
#include "campaign/rule_source.h"
#include "discover/entailment.h"
#include "experiment/kind.h"
#include "experiment/kinds/clock.h"
#include "theorem/theorem_prover.h"
#include "verify/portfolio.h"

namespace rewright::experiment {
namespace {

struct AxiomsAsked {
  std::string rules, verifier, domain;
  std::vector<std::string> axioms;
  std::int64_t every = 1, work = 0, max_dim = 4, drawn = 40;
  Options options;
};

/// Whatever a file says of their proofs, these are goals.
Result<std::vector<Rule>> goals_of(const AxiomsAsked& asked, const Registry& registry) {
  REWRIGHT_TRY(std::vector<Rule> rules, read_rule_source(asked.rules, registry));
  std::vector<Rule> goals;
  for (std::size_t i = 0; i < rules.size(); i += static_cast<std::size_t>(asked.every)) {
    rules[i].trust = Trust::kNone;
    rules[i].certificate.clear();
    goals.push_back(std::move(rules[i]));
  }
  return goals;
}

Result<Outcome> verify(const AxiomsAsked& asked, const Lab& lab) {
  if (lab.registry->find<Verifier>(asked.verifier) == nullptr)
    return Outcome{{}, {}, fmt::format("the verifier '{}' is not loaded", asked.verifier)};
  REWRIGHT_TRY(const std::vector<Rule> goals, goals_of(asked, *lab.registry));
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(asked.axioms, *lab.registry));
  PortfolioOptions options;
  options.budget.work = static_cast<std::uint64_t>(asked.work);
  options.threads = 1;
  options.stop = lab.stop;
  options.progress = [&](std::size_t, std::size_t done, std::size_t total) {
    lab.show(asked.verifier, static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(total, 1)));
  };
  const VerifierChoice choice{asked.verifier, asked.options};
  const Clock clock;
  REWRIGHT_TRY(const PortfolioReport report, verify_all(goals, axioms, std::span(&choice, 1), *lab.registry, options));
  const auto conditional = std::ranges::count_if(report.rules, [](const RuleReport& rule) {
    return rule.outcome.kind == VerdictKind::kProved && !rule.outcome.conditions.empty();
  });
  const std::size_t proved = report.proved - static_cast<std::size_t>(conditional);
  Json row = {
      {"row", "verifier"},
      {"rules", std::filesystem::path(asked.rules).stem().string()},
      {"verifier", asked.verifier},
      {"axioms", axioms.axioms().size()},
      {"goals", goals.size()},
      {"proved", proved},
      {"conditional", conditional},
      {"refuted", report.refuted},
      {"unknown", report.unknown},
      {"share", 100.0 * static_cast<double>(proved) / static_cast<double>(std::max<std::size_t>(goals.size(), 1))},
      {"seconds", clock.wall()},
      {"cpu_seconds", clock.cpu()}};
  return Outcome{{std::move(row)}, {}, {}};
}

Result<Outcome> audit_all(const AxiomsAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(asked.axioms, *lab.registry));
  AuditOptions options;
  options.domain = asked.domain == "taso"      ? AuditDomain::kTaso
                   : asked.domain == "nightly" ? AuditDomain::kNightly
                                               : AuditDomain::kSmall;
  options.max_dim = asked.max_dim;
  options.max_sizes = options.domain == AuditDomain::kTaso ? 0 : 200;
  options.max_typings = 0;
  options.threads = lab.threads;
  options.stop = lab.stop;
  options.progress = [&](std::size_t done, std::size_t total, std::uint64_t) {
    lab.show("audit", static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(total, 1)));
  };
  const Clock clock;
  REWRIGHT_TRY(const std::vector<AuditResult> results, audit(axioms.axioms(), options));
  std::uint64_t combinations = 0, failing = 0;
  Outcome outcome;
  for (const AuditResult& result : results) {
    combinations += result.combinations;
    failing += !result.holds;
    if (!result.holds) outcome.rows.push_back({{"row", "failing"}, {"axiom", result.name}});
  }
  outcome.rows.push_back({{"row", "sum"},
                          {"domain", asked.domain},
                          {"axioms", results.size()},
                          {"combinations", combinations},
                          {"failing", failing},
                          {"seconds", clock.wall()},
                          {"cpu_seconds", clock.cpu()}});
  return outcome;
}

Result<Outcome> prove_all(const AxiomsAsked& asked, const Lab& lab) {
  theorem::AxiomProofOptions options;
  options.drawn = static_cast<std::size_t>(asked.drawn);
  options.threads = lab.threads;
  options.certify = true;
  options.stop = lab.stop;
  Outcome outcome;
  const auto sum_up = [&](const char* row, const std::string& file, std::span<const theorem::AxiomProof> proofs,
                          const Clock& clock) {
    std::size_t proved = 0, certified = 0, combinations = 0;
    for (const theorem::AxiomProof& proof : proofs) {
      combinations += proof.instances;
      proved += proof.proved;
      certified += proof.is_certified();
    }
    const double share = 100.0 / static_cast<double>(std::max<std::size_t>(proofs.size(), 1));
    outcome.rows.push_back({{"row", row},
                            {"file", file},
                            {"axioms", proofs.size()},
                            {"combinations", combinations},
                            {"proved", proved},
                            {"certified", certified},
                            {"open", proofs.size() - proved},
                            {"share", share * static_cast<double>(proved)},
                            {"certified_share", share * static_cast<double>(certified)},
                            {"seconds", clock.wall()},
                            {"cpu_seconds", clock.cpu()}});
  };
  const Clock whole;
  std::vector<theorem::AxiomProof> all;
  for (const std::string& path : asked.axioms) {
    const std::string file = std::filesystem::path(path).stem().string();
    options.progress = [&](std::size_t done, std::size_t total) {
      lab.show(file, static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(total, 1)));
    };
    const Clock clock;
    REWRIGHT_TRY(const AxiomSet axioms, load_axioms(std::span(&path, 1), *lab.registry));
    REWRIGHT_TRY(const auto proofs, theorem::prove(axioms.axioms(), options));
    if (lab.stopped()) return stopped_early();
    sum_up("file", file, proofs, clock);
    for (const theorem::AxiomProof& proof : proofs) {
      if (proof.is_certified()) continue;
      outcome.rows.push_back({{"row", proof.proved ? "uncertified" : "open"},
                              {"axiom", proof.name},
                              {"left", proof.proved ? proof.uncertified : proof.reason}});
    }
    all.insert(all.end(), proofs.begin(), proofs.end());
  }
  sum_up("sum", "all", all, whole);
  return outcome;
}

Result<Outcome> compare_forms(const AxiomsAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(const std::vector<Rule> goals, goals_of(asked, *lab.registry));
  const Clock clock;
  std::size_t one_form = 0, proved = 0;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (lab.stopped()) return stopped_early();
    lab.show("normal forms", static_cast<double>(i) / static_cast<double>(goals.size()));
    const auto outputs = theorem::read_proof(goals[i], 0);
    proved += !outputs.empty();
    one_form += !outputs.empty() && std::ranges::all_of(outputs, &theorem::InstanceProof::one_form);
  }
  Json row = {
      {"row", "forms"},
      {"rules", std::filesystem::path(asked.rules).stem().string()},
      {"goals", goals.size()},
      {"one_form", one_form},
      {"share", 100.0 * static_cast<double>(one_form) / static_cast<double>(std::max<std::size_t>(goals.size(), 1))},
      {"proved", proved},
      {"seconds", clock.wall()}};
  return Outcome{{std::move(row)}, {}, {}};
}

class Dropper {
 public:
  Dropper(std::vector<Rule> goals, const AxiomSet& all, const Entailment& prover)
      : goals_(std::move(goals)), all_(all), prover_(prover) {}

  /// Keeps the goals that all axioms prove.
  Status begin() {
    REWRIGHT_TRY(const std::vector<Verdict> verdicts, prover_.prove(goals_, all_));
    std::vector<Rule> proved;
    for (std::size_t i = 0; i < goals_.size(); ++i)
      if (verdicts[i].kind == VerdictKind::kProved && verdicts[i].conditions.empty())
        proved.push_back(std::move(goals_[i]));
    goals_ = std::move(proved);
    return {};
  }
  [[nodiscard]] std::size_t proved() const { return goals_.size(); }
  [[nodiscard]] Result<std::size_t> lost_without(const std::vector<std::string>& names) const {
    const AxiomSet left =
        all_.filtered([&](const Axiom& axiom) { return std::ranges::find(names, axiom.name) == names.end(); });
    REWRIGHT_TRY(const std::vector<Verdict> verdicts, prover_.prove(goals_, left));
    return static_cast<std::size_t>(std::ranges::count_if(verdicts, [](const Verdict& verdict) {
      return verdict.kind != VerdictKind::kProved || !verdict.conditions.empty();
    }));
  }

 private:
  std::vector<Rule> goals_;
  const AxiomSet& all_;
  const Entailment& prover_;
};

Result<Outcome> drop(const AxiomsAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(std::vector<Rule> goals, goals_of(asked, *lab.registry));
  const std::size_t asked_goals = goals.size();
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(asked.axioms, *lab.registry));
  REWRIGHT_TRY(const std::string name, default_prover(*lab.registry));
  const Entailment prover(*lab.registry, name, lab.threads);
  const Clock clock;
  Dropper dropper(std::move(goals), axioms, prover);
  REWRIGHT_CHECK(dropper.begin());
  Outcome outcome;
  std::vector<std::string> useless, without;
  const double count = static_cast<double>(axioms.axioms().size());
  for (const Axiom& axiom : axioms.axioms()) {
    if (lab.stopped()) return stopped_early();
    lab.show("axioms dropped", static_cast<double>(outcome.rows.size()) / count);
    REWRIGHT_TRY(const std::size_t lost, dropper.lost_without({axiom.name}));
    if (lost == 0) useless.push_back(axiom.name);
    outcome.rows.push_back({{"row", "axiom"}, {"axiom", axiom.name}, {"lost", lost}});
  }
  // Two may each be superfluous because of the other: one after the other, later ones first.
  for (auto axiom = useless.rbegin(); axiom != useless.rend(); ++axiom) {
    if (lab.stopped()) return stopped_early();
    lab.show("axioms left out", static_cast<double>(without.size()) / count);
    without.push_back(*axiom);
    REWRIGHT_TRY(const std::size_t lost, dropper.lost_without(without));
    if (lost > 0) without.pop_back();
  }
  outcome.rows.push_back({{"row", "sum"},
                          {"axioms", axioms.axioms().size()},
                          {"goals", asked_goals},
                          {"proved", dropper.proved()},
                          {"needed", axioms.axioms().size() - useless.size()},
                          {"enough", axioms.axioms().size() - without.size()},
                          {"seconds", clock.wall()}});
  return outcome;
}

Status read_goals(Parameters& parameters, AxiomsAsked& asked) {
  REWRIGHT_TRY(asked.rules, parameters.file("rules"));
  REWRIGHT_TRY(asked.every, parameters.integer("every", 1, 1'000'000, 1));
  return {};
}

Status read_axioms(Parameters& parameters, AxiomsAsked& asked) {
  REWRIGHT_TRY(asked.axioms, parameters.files("axioms"));
  if (asked.axioms.empty()) return parameters.error("axioms", "the run needs the key 'axioms': files of axioms");
  return {};
}

}  // namespace

Result<Job> verify_job(Parameters& parameters, const Lab&) {
  AxiomsAsked asked;
  REWRIGHT_CHECK(read_goals(parameters, asked));
  REWRIGHT_CHECK(read_axioms(parameters, asked));
  REWRIGHT_TRY(asked.verifier, parameters.text("verifier"));
  REWRIGHT_TRY(asked.work, parameters.integer("work", 1, 1'000'000'000, 10'000'000));
  REWRIGHT_TRY(asked.options, parameters.options("options"));
  return Job{[asked](const Lab& place) { return verify(asked, place); }};
}

Result<Job> audit_job(Parameters& parameters, const Lab&) {
  AxiomsAsked asked;
  REWRIGHT_CHECK(read_axioms(parameters, asked));
  REWRIGHT_TRY(asked.domain, parameters.text("domain", "taso"));
  if (asked.domain != "taso" && asked.domain != "small" && asked.domain != "nightly")
    return parameters.error("domain", fmt::format("'domain' is '{}'; there are: taso, small, nightly", asked.domain));
  REWRIGHT_TRY(asked.max_dim, parameters.integer("max_dim", 1, 8, 4));
  return Job{[asked](const Lab& place) { return audit_all(asked, place); }};
}

Result<Job> prove_axioms_job(Parameters& parameters, const Lab&) {
  AxiomsAsked asked;
  REWRIGHT_CHECK(read_axioms(parameters, asked));
  REWRIGHT_TRY(asked.drawn, parameters.integer("drawn", 0, 10'000, 40));
  return Job{[asked](const Lab& place) { return prove_all(asked, place); }};
}

Result<Job> normal_forms_job(Parameters& parameters, const Lab&) {
  AxiomsAsked asked;
  REWRIGHT_CHECK(read_goals(parameters, asked));
  return Job{[asked](const Lab& place) { return compare_forms(asked, place); }};
}

Result<Job> drop_axioms_job(Parameters& parameters, const Lab&) {
  AxiomsAsked asked;
  REWRIGHT_CHECK(read_goals(parameters, asked));
  REWRIGHT_CHECK(read_axioms(parameters, asked));
  return Job{[asked](const Lab& place) { return drop(asked, place); }};
}

}  // namespace rewright::experiment
