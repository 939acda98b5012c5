// Kind "campaign": a campaign file, run in a store of its own; what each level and each phase leaves.
//
//   file            the campaign file
//   max_operators   in place of the file's; 0: the file's
//   first           only the first so many operators of the file; 0: all
//   verify          false: candidates and pruners alone
//   seed            in place of the file's
//
// Rows  row = "level": operators, graphs, classes, candidates, rules, seconds (of this level)
//       row = "stage": stage, position, count, share (of the candidates)
//       row = "sum":   operator (the last one taken), operators, graphs, classes, candidates, goals, proved, refuted,
//                      unknown, rules, seconds, cpu_seconds
#include <filesystem>
#include <set>

#include "campaign/runner.h"
#include "experiment/kind.h"
#include "experiment/kinds/clock.h"

namespace rewright::experiment {
namespace {

struct CampaignAsked {
  std::string file;
  std::int64_t max_operators = 0;
  std::int64_t first = 0;
  std::int64_t seed = 0;
  bool verify = true;
};

/// Leaves the first `count` operators of the file, in its order; gives their number and the last one's name.
std::pair<std::size_t, std::string> keep_first(CampaignConfig& config, std::size_t count) {
  std::vector<std::string> names;
  std::vector<OperatorChoice> kept;
  for (OperatorChoice& choice : config.enumeration.operators) {
    const std::string name = choice.op->name();
    if (names.empty() || names.back() != name) {
      if (count > 0 && names.size() == count) break;
      names.push_back(name);
    }
    kept.push_back(std::move(choice));
  }
  config.enumeration.operators = std::move(kept);
  return {names.size(), names.empty() ? "" : names.back()};
}

std::vector<Json> rows_of(const CampaignSummary& summary, const Json& about, double cpu) {
  std::vector<Json> rows;
  for (const LevelSummary& level : summary.levels) {
    Json row = {{"row", "level"},           {"operators", level.operators},   {"graphs", level.graphs},
                {"classes", level.classes}, {"candidates", level.candidates}, {"rules", level.rules},
                {"seconds", level.seconds}};
    row.update(about);
    rows.push_back(std::move(row));
  }
  int position = 0;
  const auto stage = [&](const std::string& name, std::uint64_t count) {
    Json row = {{"row", "stage"}, {"position", position++}, {"stage", name}, {"count", count}};
    if (summary.candidates > 0)
      row["share"] = 100.0 * static_cast<double>(count) / static_cast<double>(summary.candidates);
    row.update(about);
    rows.push_back(std::move(row));
  };
  stage("candidates", summary.candidates);
  for (const PrunerSummary& pruner : summary.pruners)
    if (!pruner.on_rules) stage(pruner.pruner, pruner.left);
  if (summary.goals > 0) {
    stage("goals, one per direction", summary.goals);
    stage("proved", summary.proved);
  }
  for (const PrunerSummary& pruner : summary.pruners)
    if (pruner.on_rules) stage(pruner.pruner, pruner.left);
  if (summary.goals > 0) stage("rules in the library", summary.rules);
  Json sum = {{"row", "sum"},
              {"graphs", summary.graphs},
              {"classes", summary.classes},
              {"candidates", summary.candidates},
              {"goals", summary.goals},
              {"proved", summary.proved},
              {"refuted", summary.refuted},
              {"unknown", summary.unknown},
              {"rules", summary.rules},
              {"seconds", summary.seconds},
              {"cpu_seconds", cpu}};
  sum.update(about);
  rows.push_back(std::move(sum));
  return rows;
}

Result<Outcome> work(const CampaignAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(CampaignConfig config, load_campaign(asked.file, *lab.registry));
  if (asked.max_operators > 0) config.enumeration.max_operators = static_cast<int>(asked.max_operators);
  if (asked.seed > 0) config.enumeration.seed = static_cast<std::uint64_t>(asked.seed);
  const auto [operators, last] = keep_first(config, static_cast<std::size_t>(asked.first));
  if (!asked.verify) {
    config.verifiers.clear();
    std::erase_if(config.pruners, [](const PluginUse& use) { return use.on_rules; });
  }
  RunOptions options;
  options.store = lab.work + "/store";
  options.threads = lab.threads;
  options.stop = lab.stop;
  options.progress = [&](const CampaignProgress& at) {
    lab.show(at.level > 0 ? fmt::format("{}, {} operators", at.phase, at.level) : at.phase, at.fraction);
  };
  const Clock clock;
  REWRIGHT_TRY(const CampaignSummary summary, run_campaign(config, *lab.registry, options));
  if (summary.state == CampaignSummary::State::kStopped) return stopped_early();
  const Json about = {{"campaign", summary.name}, {"kinds_of_operators", operators}, {"operator", last}};
  return Outcome{rows_of(summary, about, clock.cpu()), {}, {}};
}

}  // namespace

Result<Job> campaign_job(Parameters& parameters, const Lab& lab) {
  CampaignAsked asked;
  REWRIGHT_TRY(asked.file, parameters.file("file"));
  REWRIGHT_TRY(asked.max_operators, parameters.integer("max_operators", 0, 7, 0));
  REWRIGHT_TRY(asked.first, parameters.integer("first", 0, 1000, 0));
  REWRIGHT_TRY(asked.verify, parameters.boolean("verify", true));
  REWRIGHT_TRY(asked.seed, parameters.integer("seed", 0, 1'000'000'000, 0));
  REWRIGHT_TRY(const CampaignConfig config, load_campaign(asked.file, *lab.registry));
  Job job{[asked](const Lab& place) { return work(asked, place); }};
  if (asked.verify)
    for (const AxiomFile& axioms : config.axioms) job.files.push_back(axioms.path);
  return job;
}

}  // namespace rewright::experiment
