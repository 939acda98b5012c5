// rewright campaign run FILE | status STORE
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "campaign/config.h"
#include "campaign/operator_versions.h"
#include "campaign/runner.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/processes.h"
#include "cli/program.h"
#include "cli/progress.h"

namespace rewright::cli {
namespace {

struct RunArguments {
  std::string file;
  std::string store;
  int threads = cores();
  std::string memory;
  double checkpoint_seconds = 5;
  bool resume = false;
  bool fresh = false;
  bool until_enumerated = false;
};

Json to_json(const CampaignSummary& summary) {
  Json levels = Json::array();
  for (const LevelSummary& level : summary.levels) {
    levels.push_back({{"operators", level.operators},
                      {"graphs", level.graphs},
                      {"classes", level.classes},
                      {"candidates", level.candidates},
                      {"rules", level.rules},
                      {"seconds", level.seconds},
                      {"peak_memory_bytes", level.peak_memory_bytes}});
  }
  Json pruners = Json::array();
  for (const PrunerSummary& pruner : summary.pruners) {
    pruners.push_back({{"pruner", pruner.pruner}, {"removed", pruner.removed}, {"left", pruner.left}});
    if (pruner.on_rules) pruners.back()["forward"] = pruner.forward;
  }
  Json crashes = Json::array();
  for (const CrashSummary& crash : summary.crashes) {
    crashes.push_back({{"verifier", crash.verifier},
                       {"goals", crash.goals},
                       {"first", crash.first},
                       {"reason", crash.reason},
                       {"not_asked", crash.not_asked}});
  }
  return {{"name", summary.name},
          {"store", summary.store},
          {"phases", summary.phases_done},
          {"graphs", summary.graphs},
          {"classes", summary.classes},
          {"candidates", summary.candidates},
          {"pruners", std::move(pruners)},
          {"reinstated", summary.reinstated},
          {"goals", summary.goals},
          {"proved", summary.proved},
          {"conditional", summary.conditional},
          {"refuted", summary.refuted},
          {"unknown", summary.unknown},
          {"open", summary.open},
          {"crashes", std::move(crashes)},
          {"generalised", summary.generalised},
          {"rules", summary.rules},
          {"seconds", summary.seconds},
          {"peak_memory_bytes", summary.peak_memory_bytes},
          {"levels", std::move(levels)}};
}

void print_levels(const CampaignSummary& summary) {
  if (summary.levels.empty()) return;  // Rules that were merged or imported have none.
  Table table({"operators", "graphs", "classes", "candidates", "rules", "time", "peak memory"});
  table.align_right({0, 1, 2, 3, 4, 5, 6});
  for (const LevelSummary& level : summary.levels) {
    table.add({fmt::format("{}", level.operators), with_commas(level.graphs), with_commas(level.classes),
               with_commas(level.candidates), with_commas(level.rules), duration(level.seconds),
               bytes(level.peak_memory_bytes)});
  }
  print(table.to_string());
}

void print_funnel(const CampaignSummary& summary) {
  Table table({"", ""});
  table.align_right({1});
  table.add({"candidates", with_commas(summary.candidates)});
  for (const PrunerSummary& pruner : summary.pruners) {
    if (!pruner.on_rules) table.add({fmt::format("after pruner {}", pruner.pruner), with_commas(pruner.left)});
  }
  if (summary.reinstated > 0) table.add({"taken back", with_commas(summary.reinstated)});
  table.add({"goals (one per direction)", with_commas(summary.goals)});
  table.add({"  proved", with_commas(summary.proved)});
  if (summary.conditional > 0) table.add({"    under a condition", with_commas(summary.conditional)});
  table.add({"  refuted", with_commas(summary.refuted)});
  table.add({"  unknown", with_commas(summary.unknown)});
  if (summary.open > 0) table.add({"  open", with_commas(summary.open)});
  if (summary.generalised > 0) {
    table.add({"more general forms, rules of files", with_commas(summary.generalised)});
  }
  std::uint64_t derived = 0, forward = 0;
  for (const PrunerSummary& pruner : summary.pruners) {
    if (!pruner.on_rules) continue;
    table.add({fmt::format("rules after pruner {}", pruner.pruner), with_commas(pruner.left)});
    derived += pruner.removed;
    forward += pruner.forward;
  }
  table.add({"rules in the library", with_commas(summary.rules)});
  if (derived > 0) {
    table.add({"rules that follow from it", with_commas(derived)});
    table.add({"  by using it from source to target alone", with_commas(forward)});
  }
  print(table.to_string());
}

void print_crashes(const CampaignSummary& summary) {
  for (const CrashSummary& crash : summary.crashes) {
    print_line(fmt::format(
        "\nThe verifier {} crashed over {} goal{}, which it left unknown; the first is {}, {}: {}.{}", crash.verifier,
        with_commas(crash.goals), crash.goals == 1 ? "" : "s", crash.first, crash.rule, crash.reason,
        crash.not_asked == 0
            ? ""
            : fmt::format(" It was then put aside, and not asked about {} more.", with_commas(crash.not_asked))));
  }
}

void print_summary(const CampaignSummary& summary) {
  print_levels(summary);
  print_funnel(summary);
  print_crashes(summary);
  print_line(fmt::format("\n{} in all, at most {} of memory; results in {}", duration(summary.seconds),
                         bytes(summary.peak_memory_bytes), summary.store));
}

std::string resume_command(const RunArguments& arguments) {
  return fmt::format("rewright campaign run {} --store {} --resume", arguments.file, arguments.store);
}

Result<RunOptions> run_options(const RunArguments& arguments, ProgressLine& line) {
  RunOptions options;
  options.store = arguments.store;
  options.threads = arguments.threads;
  options.checkpoint_seconds = arguments.checkpoint_seconds;
  options.resume = arguments.resume;
  options.fresh = arguments.fresh;
  if (!arguments.memory.empty()) {
    REWRIGHT_TRY(options.memory_bytes, parse_bytes(arguments.memory));
  }
  options.stop = interrupted;
  const Processes processes = processes_from_environment();
  options.rank = processes.rank;
  options.ranks = processes.count;
  options.token = processes.token;
  if (options.ranks > 1) {
    // A launcher that is killed outright leaves its processes behind, and nobody else would end them.
    options.stop = [launcher = getppid()] { return interrupted() || getppid() != launcher; };
  }
  options.progress = [&line](const CampaignProgress& at) {
    const std::string what = at.level > 0 ? fmt::format("{}, {} operators", at.phase, at.level) : at.phase;
    line.show(what, at.done, at.unit, at.fraction);
  };
  return options;
}

/// Stops at the first phase that one process does alone.
void stop_once_enumerated(RunOptions& options, const std::shared_ptr<std::atomic<bool>>& enumerated) {
  options.stop = [stop = options.stop, enumerated] { return *enumerated || stop(); };
  options.progress = [show = options.progress, enumerated](const CampaignProgress& at) {
    show(at);
    if (at.phase != "enumerate") *enumerated = true;
  };
}

/// The campaign; where it cannot be read, the plugins that the store had and that are not there may be why.
Result<CampaignConfig> campaign_for(const RunArguments& arguments, const Registry& registry) {
  Result<CampaignConfig> config = load_campaign(arguments.file, registry);
  if (config || !std::filesystem::is_directory(arguments.store)) return config;
  const std::vector<std::string> missing = missing_plugins(arguments.store, registry);
  if (missing.empty()) return config;
  return make_error(config.error().code,
                    "{}; '{}' was made with {}, not loaded now: give the file with --plugin FILE.so, or its folder in "
                    "REWRIGHT_PLUGIN_PATH",
                    config.error().message, arguments.store, fmt::join(missing, " and "));
}

Result<ExitCode> run(const Settings& settings, RunArguments arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const CampaignConfig config, campaign_for(arguments, registry));
  if (arguments.store.empty()) arguments.store = config.store;
  if (arguments.store.empty()) {
    return make_error(ErrorCode::kUsage,
                      "where should the results go? Give --store DIR, or 'store' in [campaign] of {}", arguments.file);
  }
  ProgressLine line(settings.quiet);
  REWRIGHT_TRY(RunOptions options, run_options(arguments, line));
  const auto enumerated = std::make_shared<std::atomic<bool>>(false);
  if (arguments.until_enumerated) stop_once_enumerated(options, enumerated);
  Result<CampaignSummary> summary = run_campaign(config, registry, options);
  line.clear();
  if (!summary) return summary.error();
  if (*enumerated && !interrupted()) summary->stopped_by = "its graphs are enumerated";
  if (options.rank > 0)
    return summary->state == CampaignSummary::State::kStopped ? ExitCode::kStopped : ExitCode::kDone;
  const bool stopped = summary->state == CampaignSummary::State::kStopped;
  if (summary->was_finished) {
    note(fmt::format("Campaign {} is done already, with the same file, plugins and axioms: nothing to do.",
                     summary->name),
         settings.quiet);
  }
  if (stopped) {
    note(fmt::format("Campaign {} stopped: {}. What was done is saved; go on with\n  {}", summary->name,
                     summary->stopped_by, resume_command(arguments)),
         settings.quiet);
  }
  if (settings.json) {
    Json json = to_json(*summary);
    json["state"] = stopped ? "stopped" : "finished";
    print_json(json);
  } else {
    print_summary(*summary);
  }
  return stopped ? ExitCode::kStopped : ExitCode::kDone;
}

const char* state_of(CampaignSummary::State state) {
  switch (state) {
    case CampaignSummary::State::kFinished: return "finished";
    case CampaignSummary::State::kStopped: return "stopped";
    case CampaignSummary::State::kRunning: break;
  }
  return "running";
}

Result<ExitCode> status(const Settings& settings, const std::string& store) {
  REWRIGHT_TRY(const CampaignSummary summary, campaign_summary(store));
  CampaignProgress at;
  at.phase = summary.phases_done.empty() ? "enumerate" : summary.phases_done.back();
  if (summary.state != CampaignSummary::State::kFinished) {
    if (const Result<CampaignProgress> written = read_progress(store + "/progress.json")) at = *written;
  }
  const int level = at.level > 0 ? at.level : (summary.levels.empty() ? 0 : summary.levels.back().operators);
  const bool running = summary.state == CampaignSummary::State::kRunning;
  const std::uint64_t graphs = summary.graphs + (at.phase == "enumerate" && running ? at.done : 0);
  if (settings.json) {
    Json json = to_json(summary);
    json["state"] = state_of(summary.state);
    json["phase"] = at.phase;
    json["level"] = level;
    json["graphs"] = graphs;
    json["rate"] = running ? at.rate : 0.0;
    json["eta_seconds"] = running && at.eta_seconds >= 0 ? Json(at.eta_seconds) : Json(nullptr);
    print_json(json);
    return ExitCode::kDone;
  }
  print_line(fmt::format("campaign {}: {}", summary.name, state_of(summary.state)));
  if (summary.state != CampaignSummary::State::kFinished && !at.unit.empty()) {
    print_line(fmt::format("phase {}{}: {} {}, {:.0f} %{}{}", at.phase,
                           at.level > 0 ? fmt::format(", {} operators", at.level) : "", with_commas(at.done), at.unit,
                           100 * at.fraction, running ? fmt::format(", {:.0f} {}/s", at.rate, at.unit) : "",
                           running && at.eta_seconds >= 0 ? fmt::format(", {} left", duration(at.eta_seconds)) : ""));
  }
  print_summary(summary);
  return ExitCode::kDone;
}

void add_run(Program& program, const Command& group) {
  auto arguments = std::make_shared<RunArguments>();
  const Command command = program.command(
      group, "run", "Enumerates, prunes and verifies what a campaign file asks for; the rules go to a store",
      {"rewright campaign run experiments/quickstart/campaign.toml --store quickstart.store",
       "rewright campaign run big.toml --store big.store --threads 2 --memory 4G --resume",
       "rewright campaign run big.toml --store big.store --json | tail -n 1 | jq .rules",
       "mpirun -np 4 rewright campaign run big.toml --store /shared/big.store --threads 2"},
      [arguments](const Settings& settings) { return run(settings, *arguments); });
  command.add_option("FILE", arguments->file, "The campaign file (TOML)").required();
  command.add_option("--store", arguments->store, "The folder for the results (default: the file's 'store')")
      .type_name("DIR");
  command.add_option("--threads", arguments->threads, "Threads; no result depends on their number")
      .type_name("N")
      .check(in_range(1, 1024));
  command.add_option("--memory", arguments->memory, "Stop, resumable, when more memory than this is used: 512M, 4G")
      .type_name("SIZE");
  command
      .add_option("--checkpoint", arguments->checkpoint_seconds,
                  "Keep finished work of an enumeration that takes longer than this, for --resume")
      .type_name("SECONDS")
      .check(not_negative());
  const Argument resume =
      command.add_flag("--resume", arguments->resume, "Go on with the unfinished run in the store, if there is one");
  command.add_flag("--until-enumerated", arguments->until_enumerated,
                   "Stop, resumable, where processes that were started together have no more to share");
  command.add_flag("--fresh", arguments->fresh, "Forget what the store holds and start over").excludes(resume);
}

}  // namespace

void add_campaign(Program& program) {
  const Command group =
      program.group("campaign", "Campaigns: find rules by enumeration, prove them, keep them in a store");
  add_run(program, group);
  auto store = std::make_shared<std::string>();
  const Command command =
      program.command(group, "status", "Shows where a campaign stands; it may be running",
                      {"rewright campaign status quickstart.store", "rewright campaign status quickstart.store --json"},
                      [store](const Settings& settings) { return status(settings, *store); });
  command.add_option("STORE", *store, "The campaign's store").required();
}

}  // namespace rewright::cli
