// rewright experiment list | run NAME... | report NAME... -o DIR
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/spelling.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/quoted.h"
#include "experiment/run.h"
#include "experiment/site.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;
using experiment::Answer;
using experiment::Findings;
using experiment::Manifest;

struct ExperimentArguments {
  std::vector<std::string> names;
  bool all = false, quick = false, fresh = false, any_build = false, readme = false, from_records = false;
  std::string experiments, results = "experiment-results", models, output;
  int threads = cores();
};

Result<std::vector<Manifest>> all_manifests(const ExperimentArguments& arguments) {
  std::string folder = arguments.experiments;
  if (folder.empty()) {
    REWRIGHT_TRY(const std::string root, own_data());
    folder = root + "/experiments";
  }
  return experiment::load_manifests(folder);
}

Result<std::vector<Manifest>> chosen_manifests(const ExperimentArguments& arguments) {
  REWRIGHT_TRY(std::vector<Manifest> known, all_manifests(arguments));
  if (arguments.all == !arguments.names.empty())
    return make_error(ErrorCode::kUsage, "name experiments, or say --all (see rewright experiment list)");
  if (arguments.all) return known;
  std::vector<std::string> names;
  for (const Manifest& manifest : known) names.push_back(manifest.name);
  std::vector<Manifest> chosen;
  for (const std::string& name : arguments.names) {
    const auto found = std::ranges::find(known, name, &Manifest::name);
    if (found == known.end()) {
      const auto near = nearest(name, names);
      return make_error(ErrorCode::kNotFound, "there is no experiment '{}'; {}there are: {}", name,
                        near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(names, ", "));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

std::string results_folder(const ExperimentArguments& arguments, const Manifest& manifest) {
  return arguments.results + (arguments.quick ? "/quick/" : "/") + manifest.name;
}

/// The commit of the source tree, or "".
std::string commit_of(const std::string& sources) {
  std::string text, folder;
  for (const char c : sources) {
    if (c == '\'') folder += "'\\'";
    folder += c;
  }
  const std::string command = fmt::format("git -C '{}' describe --always --dirty --abbrev=12 2>/dev/null", folder);
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    std::array<char, 128> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    pclose(pipe);
  }
  return text.substr(0, text.find('\n'));
}

Json to_json(const std::vector<Findings>& all) {
  Json claims = Json::array();
  for (const Findings& findings : all)
    for (Json& claim : experiment::claims_json(findings)) claims.push_back(std::move(claim));
  return claims;
}

void print_claims(const std::vector<Findings>& all) {
  Table table({"experiment", "claim", "paper", "here", "verdict"});
  for (const Findings& findings : all)
    for (const experiment::ClaimFinding& claim : findings.claims)
      table.add({findings.manifest->name, claim.claim->id, claim.claim->paper, claim.ours, claim.verdict()});
  print(table.to_string());
}

ExitCode exit_code_of(const std::vector<Findings>& all) {
  const bool hold = std::ranges::all_of(all, [](const Findings& findings) { return findings.all_claims_hold(); });
  return hold ? ExitCode::kDone : ExitCode::kNegative;
}

// --- list ------------------------------------------------------------------------------------------------------------

Result<ExitCode> list(const Settings& settings, const ExperimentArguments& arguments) {
  REWRIGHT_TRY(const std::vector<Manifest> manifests, all_manifests(arguments));
  Json experiments = Json::array(), claims = Json::array();
  Table table({"experiment", "minutes", "claims", "what it asks"});
  table.align_right({1, 2});
  for (const Manifest& manifest : manifests) {
    table.add({manifest.name, fmt::format("{:g}", manifest.minutes), fmt::format("{}", manifest.claims.size()),
               manifest.title});
    experiments.push_back({{"name", manifest.name},
                           {"title", manifest.title},
                           {"question", manifest.question},
                           {"minutes", manifest.minutes},
                           {"units", units_of(manifest, false).size()}});
    for (const experiment::Claim& claim : manifest.claims)
      claims.push_back({{"experiment", manifest.name},
                        {"id", claim.id},
                        {"claim", claim.claim},
                        {"source", claim.source},
                        {"paper", claim.paper},
                        {"ours", nullptr},
                        {"verdict", nullptr},
                        {"criterion", claim.criterion}});
  }
  if (settings.json)
    print_json({{"experiments", std::move(experiments)}, {"claims", std::move(claims)}});
  else
    print(table.to_string());
  return ExitCode::kDone;
}

// --- run -------------------------------------------------------------------------------------------------------------

Result<experiment::RunExperiment> run_options(const ExperimentArguments& arguments, const Registry& registry) {
  experiment::RunExperiment options;
  options.quick = arguments.quick;
  options.fresh = arguments.fresh;
  options.any_build = arguments.any_build;
  options.from_records = arguments.from_records;
  REWRIGHT_TRY(options.lab.sources, own_data());
  options.git = commit_of(options.lab.sources);
  std::error_code ignored;
  const fs::path build = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  options.lab.models = arguments.models.empty() ? (build / "models").string() : arguments.models;
  options.lab.programs = {(build / "tests/bin").string(), (build / "bin").string()};
  options.lab.registry = &registry;
  options.lab.threads = arguments.threads;
  options.lab.stop = interrupted;
  return options;
}

/// In quotes only where a shell needs them.
std::string word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("-_./:,+=@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? text : quoted(text);
}

std::string resume_command(const ExperimentArguments& arguments) {
  std::string command = "rewright experiment run";
  for (const std::string& name : arguments.names) command += " " + word(name);
  for (const auto& [flag, given] : {std::pair("--all", arguments.all),
                                    {"--quick", arguments.quick},
                                    {"--any-build", arguments.any_build},
                                    {"--from-records", arguments.from_records}}) {
    if (given) command += fmt::format(" {}", flag);
  }
  for (const auto& [option, value] : {std::pair("--experiments", arguments.experiments),
                                      {"--models", arguments.models},
                                      {"--results", arguments.results}}) {
    if (!value.empty()) command += fmt::format(" {} {}", option, word(value));
  }
  if (arguments.threads != cores()) command += fmt::format(" --threads {}", arguments.threads);
  return command;
}

/// Of a quick run, what it is too small for by the records that came with the program.
Result<Findings> judged(const Manifest& manifest, const experiment::ResultFile& results,
                        const ExperimentArguments& arguments, const std::map<std::string, std::string>& missing) {
  experiment::ResultFile records;
  if (arguments.quick) {
    REWRIGHT_TRY(records, experiment::read_results(experiment::records_folder(manifest) + "/results.jsonl"));
  }
  return findings_of(manifest, results, arguments.quick, missing, arguments.quick ? &records : nullptr);
}

Result<ExitCode> run(const Settings& settings, const ExperimentArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const std::vector<Manifest> manifests, chosen_manifests(arguments));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(experiment::RunExperiment options, run_options(arguments, registry));
  std::vector<Findings> all;
  std::size_t done = 0, known = 0, recorded = 0;
  bool stopped = false;
  for (const Manifest& manifest : manifests) {
    if (stopped) break;
    options.folder = results_folder(arguments, manifest);
    ProgressLine line(settings.quiet);
    options.progress = [&](std::size_t at, std::size_t of, const std::string& what, double fraction) {
      line.show(manifest.name + ", " + what, at, fmt::format("of {} units", of),
                (static_cast<double>(at) + fraction) / static_cast<double>(std::max<std::size_t>(of, 1)));
    };
    REWRIGHT_TRY(const experiment::RunOutcome outcome, run_experiment(manifest, options));
    line.clear();
    done += outcome.done;
    known += outcome.known;
    recorded += outcome.recorded;
    stopped = outcome.stopped;
    REWRIGHT_TRY(Findings findings, judged(manifest, outcome.results, arguments, outcome.missing));
    REWRIGHT_CHECK(write_outputs(findings, options.folder));
    all.push_back(std::move(findings));
  }
  if (stopped)
    note(fmt::format("Stopped. What was done is saved; go on with\n  {}", resume_command(arguments)), settings.quiet);
  if (settings.json) {
    print_json({{"state", stopped ? "stopped" : "finished"},
                {"units_done", done},
                {"units_known", known},
                {"units_recorded", recorded},
                {"results", arguments.results},
                {"claims", to_json(all)}});
  } else {
    print_claims(all);
    print_line(fmt::format("\n{} done, {} known before{}; tables, plots and raw results in {}", counted(done, "unit"),
                           known, recorded > 0 ? fmt::format(", {} from records", recorded) : "",
                           arguments.results + (arguments.quick ? "/quick" : "")));
    if (arguments.from_records && !arguments.fresh && done > 0)
      print_line(
          fmt::format("Computed here, with this machine's times: {}. The records have no such unit, or are of "
                      "other files.",
                      counted(done, "unit")));
  }
  return stopped ? ExitCode::kStopped : exit_code_of(all);
}

// --- report ----------------------------------------------------------------------------------------------------------

/// Writes the results into the README.md of each experiment, and all claims into that of their folder.
Status update_pages(const std::vector<Findings>& all) {
  const auto update = [](const std::string& file, const std::string& name, const std::string& content) -> Status {
    REWRIGHT_TRY(const std::string text, read_file(file));
    const auto updated = experiment::with_section(text, name, content);
    if (!updated) return make_error(ErrorCode::kNotFound, "{}: {}", file, updated.error().message);
    return *updated == text ? Status() : write_file(file, *updated);
  };
  for (const Findings& findings : all)
    if (findings.done > 0)
      REWRIGHT_CHECK(
          update(findings.manifest->folder + "/README.md", "results", markdown(findings, experiment::Tables::kReadme)));
  const std::string folder = fs::path(all.front().manifest->folder).parent_path().string();
  REWRIGHT_TRY(const std::vector<experiment::Work> works, experiment::load_works(folder));
  return update(folder + "/README.md", "claims", markdown(experiment::overview(all, works)));
}

Result<ExitCode> report(const Settings& settings, const ExperimentArguments& arguments) {
  if (arguments.output.empty() && !arguments.readme)
    return make_error(ErrorCode::kUsage, "where should the page go? Give -o DIR, or --readme");
  if (arguments.readme && (arguments.quick || !arguments.all))
    return make_error(ErrorCode::kUsage, "--readme goes with --all and without --quick: it says how all claims stand");
  REWRIGHT_TRY(const std::vector<Manifest> manifests, chosen_manifests(arguments));
  std::vector<Findings> all;
  for (const Manifest& manifest : manifests) {
    REWRIGHT_TRY(const auto results, experiment::read_results(results_folder(arguments, manifest) + "/results.jsonl"));
    REWRIGHT_TRY(Findings findings, judged(manifest, results, arguments, {}));
    all.push_back(std::move(findings));
  }
  if (!arguments.output.empty()) {
    std::vector<experiment::SiteEntry> entries;
    for (const Findings& findings : all) entries.push_back({&findings, results_folder(arguments, *findings.manifest)});
    const std::string folder = fs::path(manifests.front().folder).parent_path().string();
    REWRIGHT_TRY(const std::vector<experiment::Work> works, experiment::load_works(folder));
    REWRIGHT_CHECK(write_site(entries, works, arguments.output));
  }
  if (arguments.readme) REWRIGHT_CHECK(update_pages(all));
  if (settings.json) {
    print_json({{"index", arguments.output.empty() ? Json(nullptr) : Json(arguments.output + "/index.html")},
                {"claims", to_json(all)}});
  } else {
    print_claims(all);
    if (!arguments.output.empty()) print_line(fmt::format("\nOpen {}/index.html in a browser", arguments.output));
  }
  return ExitCode::kDone;
}

void add_common(const Command& command, ExperimentArguments& arguments) {
  command
      .add_option("--experiments", arguments.experiments,
                  "The folder with NAME/experiment.toml (default: the program's own)")
      .type_name("DIR");
}

Argument add_chosen(const Command& command, ExperimentArguments& arguments) {
  command.add_option("NAME", arguments.names, "Experiments; see rewright experiment list");
  command.add_flag("--all", arguments.all, "All of them");
  const Argument quick =
      command.add_flag("--quick", arguments.quick, "The cut-down version of each: all of them in minutes");
  command.add_option("--results", arguments.results, "The folder with the results of all experiments")
      .type_name("DIR")
      .show_default();
  add_common(command, arguments);
  return quick;
}

}  // namespace

void add_experiment(Program& program) {
  const Command group = program.group("experiment", "Experiments: what papers claim, and whether it holds here");
  auto listed = std::make_shared<ExperimentArguments>();
  const Command list_command = program.command(
      group, "list", "Lists the experiments, with their claims in --json",
      {"rewright experiment list", "rewright experiment list --json | tail -n 1 | jq '.claims[].claim'"},
      [listed](const Settings& settings) { return list(settings, *listed); });
  add_common(list_command, *listed);

  auto chosen = std::make_shared<ExperimentArguments>();
  const Command run_command = program.command(
      group, "run", "Runs experiments and says which claims hold; what is done already is not done again",
      {"rewright experiment run pruning", "rewright experiment run --all --quick",
       "rewright experiment run --all --results results --threads 2",
       "rewright experiment run learn tuning --from-records",
       "rewright experiment run mine --experiments my-experiments --fresh"},
      [chosen](const Settings& settings) { return run(settings, *chosen); });
  const Argument quick = add_chosen(run_command, *chosen);
  run_command
      .add_option("--models", chosen->models,
                  "The folder with the models (default: beside the program, where the build puts them)")
      .type_name("DIR");
  run_command.add_option("--threads", chosen->threads, "Threads, where an experiment does not name their number")
      .type_name("N")
      .check(in_range(1, 1024));
  const Argument fresh = run_command.add_flag("--fresh", chosen->fresh, "Forget earlier results");
  run_command
      .add_flag("--any-build", chosen->any_build,
                "What another build of the program has done with the same files counts, too")
      .excludes(fresh);
  run_command
      .add_flag(
          "--from-records", chosen->from_records,
          "Measure nothing: take from the records that came with the program what was measured, and what was computed "
          "from the same files; compute the rest again (with --fresh: all that is not measured)")
      .excludes(quick);

  auto reported = std::make_shared<ExperimentArguments>();
  const Command report_command = program.command(
      group, "report", "Makes pages of the results of experiments: the claims, tables, plots, drawings",
      {"rewright experiment report --all -o site", "rewright experiment report pruning --results results -o site",
       "rewright experiment report --all --results experiments/results --readme"},
      [reported](const Settings& settings) { return report(settings, *reported); });
  add_chosen(report_command, *reported);
  report_command.add_option("-o,--output", reported->output, "The page's folder: DIR/index.html").type_name("DIR");
  report_command.add_flag("--readme", reported->readme,
                          "Write the results into the README.md of each experiment and of their folder");
}

}  // namespace rewright::cli
