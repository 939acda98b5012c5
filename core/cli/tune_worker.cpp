// rewright tune worker STORE: measures for a search that runs on another machine
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/processes.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "compile/child_processes.h"
#include "tune/shared_measuring.h"
#include "tune/this_machine.h"

namespace rewright::cli {
namespace {

struct WorkerArguments {
  std::string store;
  std::int64_t patience = 60;
};

tune::SharedMeasuring::Who who() { return {tune::SharedMeasuring::this_host(), tune::described_machine().fingerprint}; }

Result<ExitCode> work(const Settings& settings, const WorkerArguments& arguments, ExitCode nothing) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  ProgressLine line(settings.quiet);
  std::size_t done = 0;
  const auto served = tune::SharedMeasuring::serve(
      measuring_folder(arguments.store), who(), registry, std::chrono::seconds(arguments.patience),
      [&] {
        line.show("measure", done, "schedules");
        return interrupted();
      },
      [&](std::size_t measured) { done = measured; });
  line.clear();
  if (!served && !interrupted()) return served.error();
  const std::string end = served ? served->end : "stopped";
  if (settings.json) {
    print_json({{"measured", done}, {"end", end}, {"stopped_early", interrupted()}});
  } else {
    note(fmt::format("{} measured for the search with {}; {}", counted(done, "schedule"), arguments.store, end),
         settings.quiet);
  }
  if (interrupted()) return ExitCode::kStopped;
  return done > 0 ? ExitCode::kDone : nothing;
}

}  // namespace

std::string measuring_folder(const std::string& store) { return store + "/measuring"; }

Result<std::optional<ExitCode>> work_of_rank(const Settings& settings, const TuneArguments& arguments) {
  const Processes processes = processes_from_environment();
  if (processes.count == 1 && !arguments.shared) return std::optional<ExitCode>();
  if (arguments.records.empty()) {
    return make_error(ErrorCode::kUsage,
                      "several processes measure for one search through its store: say --records STORE, a folder that "
                      "all of them see");
  }
  if (processes.rank == 0) return std::optional<ExitCode>();
  REWRIGHT_TRY(const ExitCode code, work(settings, {arguments.records}, ExitCode::kDone));
  return std::optional(code);
}

Result<std::unique_ptr<tune::SharedMeasuring>> shared_measuring(const TuneArguments& arguments) {
  if (processes_from_environment().count == 1 && !arguments.shared) return std::unique_ptr<tune::SharedMeasuring>();
  return tune::SharedMeasuring::lead(measuring_folder(arguments.records), who());
}

void add_tune_worker(Program& program) {
  const Command group = program.group("tune", "Searches for schedules");
  auto arguments = std::make_shared<WorkerArguments>();
  const Command command = program.command(
      group, "worker", "Measures schedules for a search on another machine of the same kind, until that ends",
      {"rewright tune model net.onnx --records my.store --shared    # here, and on each of the other machines:",
       "rewright tune worker my.store", "mpirun --map-by ppr:1:node rewright tune model net.onnx --records my.store"},
      [arguments](const Settings& settings) -> Result<ExitCode> {
        heed_interrupts();
        const StopInTime stop_in_time([] { compile::end_child_processes(); });
        return work(settings, *arguments, ExitCode::kNegative);
      });
  command
      .add_option("STORE", arguments->store, "The store that the search keeps its records in, as this machine sees it")
      .required();
  command.add_option("--patience", arguments->patience, "Seconds to wait for a search to begin")
      .check(whole_number(0))
      .show_default();
}

}  // namespace rewright::cli
