// rewright schedules ask STORE...: what is known of kernels, by class, size, machine and origin
#include <array>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/schedules.h"
#include "store/schedule_records.h"
#include "tune/nearest_record.h"
#include "tune/this_machine.h"

namespace rewright::cli {
namespace {

constexpr std::array kOrigins = {"hand", "optimiser", "transfer", "search"};

struct AskArguments {
  std::vector<std::string> stores;
  std::string kind, origin, machine;
  std::string sizes;  ///< "64,512,512,512"; empty: any.
};

/// What is known of a kernel on a machine.
struct Known {
  const ScheduleRecord* best = nullptr;
  std::size_t records = 0;
  std::map<std::string, double> us;  ///< Least, by origin.
};

/// By kernel and machine.
using Answers = std::map<std::pair<std::string, std::string>, Known>;

Answers answers_of(std::span<const ScheduleRecord> records, const AskArguments& arguments) {
  const std::string machine = arguments.machine.empty() ? tune::described_machine().fingerprint : arguments.machine;
  Answers answers;
  for (const ScheduleRecord& record : records) {
    const bool is_asked =
        (machine == "any" || record.machine == machine) && record.structure.find(arguments.kind) != std::string::npos &&
        (arguments.sizes.empty() || fmt::format("{}", fmt::join(record.sizes, ",")) == arguments.sizes) &&
        (arguments.origin.empty() || record.origin == arguments.origin);
    if (!is_asked || record.outcome != "ok") continue;
    std::string kernel = tune::filled_in(record);
    if (kernel == record.structure) kernel += fmt::format(" ({})", fmt::join(record.sizes, " "));
    Known& known = answers[{std::move(kernel), record.machine}];
    ++known.records;
    if (known.best == nullptr || record.least_us() < known.best->least_us()) known.best = &record;
    const auto [us, is_new] = known.us.try_emplace(record.origin, record.least_us());
    us->second = std::min(us->second, record.least_us());
  }
  return answers;
}

Result<ExitCode> ask(const Settings& settings, const AskArguments& arguments) {
  std::vector<ScheduleRecord> records;
  for (const std::string& store : arguments.stores) {
    REWRIGHT_TRY(const std::vector<ScheduleRecord> read, ScheduleRecords::read(store));
    records.insert(records.end(), read.begin(), read.end());
  }
  const Answers answers = answers_of(records, arguments);
  if (settings.json) {
    Json rows = Json::array();
    for (const auto& [key, known] : answers) {
      Json by_origin = Json::object();
      for (const auto& [origin, us] : known.us) by_origin[origin] = us;
      rows.push_back({{"kernel", key.first},
                      {"class", known.best->structure},
                      {"sizes", known.best->sizes},
                      {"machine", key.second},
                      {"records", known.records},
                      {"best_us", known.best->least_us()},
                      {"origin", known.best->origin},
                      {"schedule", known.best->schedule},
                      {"us_by_origin", std::move(by_origin)}});
    }
    print_json({{"kernels", std::move(rows)}});
    return answers.empty() ? ExitCode::kNegative : ExitCode::kDone;
  }
  if (answers.empty()) {
    print_line(fmt::format("none of {} is what was asked for; --machine any asks about all machines",
                           counted(records.size(), "record")));
    return ExitCode::kNegative;
  }
  Table table({"kernel", "machine", "records", "best us", "of", "hand", "optimiser", "transfer", "search"});
  table.align_right({2, 3, 5, 6, 7, 8});
  for (const auto& [key, known] : answers) {
    std::vector<std::string> cells = {key.first, key.second, fmt::format("{}", known.records),
                                      fmt::format("{:.2f}", known.best->least_us()), known.best->origin};
    for (const char* origin : kOrigins) {
      const auto us = known.us.find(origin);
      cells.push_back(us == known.us.end() ? "" : fmt::format("{:.2f}", us->second));
    }
    table.add(cells);
  }
  print(table.to_string());
  print_line(counted(answers.size(), "kernel"));
  return ExitCode::kDone;
}

}  // namespace

void add_schedules_ask(Program& program, const Command& group) {
  auto arguments = std::make_shared<AskArguments>();
  const Command command =
      program.command(group, "ask", "Tells the best that is known of each kernel, whatever it came from",
                      {"rewright schedules ask my.store", "rewright schedules ask a.store b.store --class conv2d",
                       "rewright schedules ask my.store --class matmul --sizes 64,512,512,512",
                       "rewright schedules ask my.store --origin transfer --machine any --json"},
                      [arguments](const Settings& settings) { return ask(settings, *arguments); });
  command.add_option("STORE", arguments->stores, "Stores with records").required().expected(1, -1);
  command.add_option("--class", arguments->kind, "A part of the kernel's text without sizes: an operator");
  command.add_option("--sizes", arguments->sizes, "All sizes of a kernel, in the order of s0, s1, ... in its class");
  command.add_option("--origin", arguments->origin, "Where schedules came from")
      .check(one_of({"hand", "optimiser", "transfer", "search"}));
  command.add_option("--machine", arguments->machine, "A fingerprint, or any (default: this machine's)");
}

}  // namespace rewright::cli
