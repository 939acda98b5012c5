// rewright schedules list|show|best|ask|merge|export|import: what was measured
#include <sstream>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/schedules.h"
#include "store/schedule_records.h"
#include "tune/kernel_program.h"
#include "tune/kernel_text.h"
#include "tune/nearest_record.h"
#include "tune/this_machine.h"

namespace rewright::cli {
namespace {

struct RecordArguments {
  std::string store;
  std::vector<std::string> stores;
  std::string kernel, file, output;
  std::string target = "c", dialect, policy = "hot", machine;
  std::size_t number = 0;
};

Json summary_of(const ScheduleRecord& record, std::size_t number) {
  Json json = Json::parse(to_line(record));
  json["number"] = number;
  json["kernel"] = tune::filled_in(record);
  if (!record.batches_us.empty()) {
    json["least_us"] = record.least_us();
    json["quartiles_us"] = {record.quantile_us(0.25), record.quantile_us(0.5), record.quantile_us(0.75)};
  }
  return json;
}

void print_record(const ScheduleRecord& record, std::size_t number) {
  print_line(fmt::format("record {}: {}", number, tune::filled_in(record)));
  print_line(fmt::format("{}{}{}", record.outcome, record.text.empty() ? "" : ": ", record.text));
  if (!record.batches_us.empty()) {
    print_line(fmt::format("{:.2f} us at least, quartiles {:.2f}, {:.2f}, {:.2f}; {} of {}", record.least_us(),
                           record.quantile_us(0.25), record.quantile_us(0.5), record.quantile_us(0.75),
                           counted(record.batches_us.size(), "time"), record.policy + " caches"));
  }
  print_line(fmt::format("target {}{}{} ({}), {}, seed {}", record.target, record.dialect.empty() ? "" : " ",
                         record.dialect, record.target_version,
                         counted(static_cast<std::uint64_t>(record.threads), "thread"), record.seed));
  print_line(fmt::format("machine {} ({}), {}, {}", record.machine, record.processor, record.origin, record.recorded));
  print(record.schedule.empty() ? "(unscheduled)\n" : record.schedule);
  if (!record.schedule.empty() && !record.schedule.ends_with('\n')) print("\n");
}

/// The first line of a schedule, and how many follow.
std::string short_schedule(const std::string& text) {
  if (text.empty()) return "(unscheduled)";
  const std::string first = text.substr(0, text.find('\n'));
  const auto lines = std::ranges::count(text, '\n') + (text.ends_with('\n') ? 0 : 1);
  return lines > 1 ? fmt::format("{} (and {} more)", first, lines - 1) : first;
}

Result<ExitCode> list_records(const Settings& settings, const RecordArguments& arguments) {
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(arguments.store));
  if (settings.json) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < records.size(); ++i) rows.push_back(summary_of(records[i], i + 1));
    print_json({{"records", std::move(rows)}});
    return ExitCode::kDone;
  }
  Table table({"", "kernel", "us, least", "outcome", "policy", "machine", "origin", "schedule"});
  table.align_right({0, 2});
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ScheduleRecord& record = records[i];
    const std::string us = record.batches_us.empty() ? "" : fmt::format("{:.2f}", record.least_us());
    table.add({fmt::format("{}", i + 1), tune::filled_in(record), us, record.outcome, record.policy, record.machine,
               record.origin, short_schedule(record.schedule)});
  }
  if (!records.empty()) print(table.to_string());
  print_line(counted(records.size(), "record"));
  return ExitCode::kDone;
}

void show(const Settings& settings, const ScheduleRecord& record, std::size_t number) {
  if (settings.json) {
    print_json({{"record", summary_of(record, number)}});
  } else {
    print_record(record, number);
  }
}

Result<ExitCode> show_record(const Settings& settings, const RecordArguments& arguments) {
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(arguments.store));
  if (arguments.number < 1 || arguments.number > records.size()) {
    return make_error(ErrorCode::kNotFound, "the store '{}' has no record {}; it has {}", arguments.store,
                      arguments.number, counted(records.size(), "record"));
  }
  show(settings, records[arguments.number - 1], arguments.number);
  return ExitCode::kDone;
}

Result<ExitCode> show_best(const Settings& settings, const RecordArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  const auto kernel = tune::parse_kernel(arguments.kernel, registry);
  if (!kernel) {
    return make_error(kernel.error().code, "the kernel '{}': {}", arguments.kernel, kernel.error().message);
  }
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(arguments.store));
  std::string machine = arguments.machine.empty() ? tune::described_machine().fingerprint : arguments.machine;
  if (machine == "any") machine.clear();
  REWRIGHT_TRY(const ScheduleRecord* best,
               tune::best_record(records, key_of(kernel->kernel()),
                                 {machine, arguments.target, arguments.dialect, arguments.policy}));
  show(settings, *best, static_cast<std::size_t>(best - records.data()) + 1);
  return ExitCode::kDone;
}

Result<std::size_t> add_all(const std::string& store, const std::vector<ScheduleRecord>& records) {
  REWRIGHT_TRY(ScheduleRecords all, ScheduleRecords::open(store));
  std::size_t added = 0;
  for (const ScheduleRecord& record : records) {
    REWRIGHT_TRY(const bool is_new, all.add(record));
    added += is_new ? 1 : 0;
  }
  return added;
}

void say_added(const Settings& settings, std::size_t added, std::size_t read, const std::string& store) {
  if (settings.json) {
    print_json({{"read", read}, {"added", added}});
  } else {
    print_line(fmt::format("{} read; {} new, added to {}", counted(read, "record"), added, store));
  }
}

Result<ExitCode> merge_records(const Settings& settings, const RecordArguments& arguments) {
  std::vector<ScheduleRecord> all;
  for (const std::string& store : arguments.stores) {
    REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(store));
    all.insert(all.end(), records.begin(), records.end());
  }
  REWRIGHT_TRY(const std::size_t added, add_all(arguments.output, all));
  say_added(settings, added, all.size(), arguments.output);
  return ExitCode::kDone;
}

Result<ExitCode> export_records(const Settings& settings, const RecordArguments& arguments) {
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(arguments.store));
  std::string text;
  for (const ScheduleRecord& record : records) text += to_line(record) + "\n";
  if (arguments.output.empty()) {
    print(text);
  } else {
    REWRIGHT_CHECK(write_file(arguments.output, text));
  }
  if (settings.json) print_json({{"records", records.size()}});
  return ExitCode::kDone;
}

/// All lines are read before the first is added.
Result<ExitCode> import_records(const Settings& settings, const RecordArguments& arguments) {
  REWRIGHT_TRY(const std::string text, read_file(arguments.file));
  std::vector<ScheduleRecord> records;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    auto record = record_of_line(line);
    if (!record) {
      return make_error(record.error().code, "'{}', line {}: {}; nothing was added", arguments.file, number,
                        record.error().message);
    }
    records.push_back(*std::move(record));
  }
  REWRIGHT_TRY(const std::size_t added, add_all(arguments.store, records));
  say_added(settings, added, records.size(), arguments.store);
  return ExitCode::kDone;
}

using RecordAction = Result<ExitCode> (*)(const Settings&, const RecordArguments&);

}  // namespace

void add_schedules(Program& program) {
  const Command group = program.group("schedules", "Records: schedules that were measured, in a store");
  const auto command = [&](const char* name, const char* summary, const std::vector<std::string>& examples,
                           RecordAction action) {
    auto arguments = std::make_shared<RecordArguments>();
    return std::pair(
        program.command(group, name, summary, examples,
                        [arguments, action](const Settings& settings) { return action(settings, *arguments); }),
        arguments);
  };
  const auto with_store = [&](const char* name, const char* summary, const std::vector<std::string>& examples,
                              RecordAction action) {
    const auto made = command(name, summary, examples, action);
    made.first.add_option("STORE", made.second->store, "A store with records").required();
    return made;
  };
  with_store("list", "Lists records, in the order in which they were measured", {"rewright schedules list my.store"},
             list_records);
  const auto [shown, number] =
      with_store("show", "Shows one record with its schedule", {"rewright schedules show my.store 3"}, show_record);
  shown.add_option("NUMBER", number->number, "As listed").required();
  const auto [best, asked] =
      with_store("best", "Shows the fastest record of a kernel on this machine, or what is nearest",
                 {"rewright schedules best my.store '(x:512x512, w:512x512) matmul(x, w)'"}, show_best);
  best.add_option("KERNEL", asked->kernel, "Inputs with their sizes, and what is computed of them").required();
  best.add_option("--target", asked->target, "What compiled it").show_default();
  best.add_option("--dialect", asked->dialect, "Which kind of code (default: any)");
  best.add_option("--policy", asked->policy, "Caches before a run: hot or cold")
      .check(one_of({"hot", "cold"}))
      .show_default();
  best.add_option("--machine", asked->machine, "A fingerprint, or any (default: this machine's)");
  add_schedules_ask(program, group);
  const auto [merge, stores] = command("merge", "Adds the records of several stores to one",
                                       {"rewright schedules merge a.store b.store -o all.store"}, merge_records);
  merge.add_option("STORE", stores->stores, "Stores with records").required().expected(1, -1);
  merge.add_option("-o,--output", stores->output, "The store that they are added to").required();
  const auto [exported, output] = with_store("export", "Writes records, a line of JSON each",
                                             {"rewright schedules export my.store -o records.jsonl"}, export_records);
  exported.add_option("-o,--output", output->output, "A file (default: standard output)");
  const auto [imported, input] = with_store("import", "Adds records that were exported",
                                            {"rewright schedules import my.store records.jsonl"}, import_records);
  imported.add_option("FILE", input->file, "What rewright schedules export wrote").required();
}

}  // namespace rewright::cli
