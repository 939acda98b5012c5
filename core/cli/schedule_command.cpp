// rewright schedule apply PROGRAM SCHEDULE, rewright schedule check PROGRAM SCHEDULE
#include <memory>
#include <string>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "loop/validator.h"
#include "schedule/apply.h"

namespace rewright::cli {
namespace {

struct ScheduleArguments {
  std::string program;
  std::string schedule;
  std::string output;
};

struct Read {
  loop::Program program;
  schedule::Schedule schedule;
};

Error in_file(const std::string& file, const Error& error) {
  return make_error(error.code, "'{}': {}", file, error.message);
}

Result<Read> read(const ScheduleArguments& arguments) {
  REWRIGHT_TRY(const std::string program_text, read_file(arguments.program));
  REWRIGHT_TRY(const std::string schedule_text, read_file(arguments.schedule));
  auto program = loop::parse_program(program_text);
  if (!program) return in_file(arguments.program, program.error());
  if (const auto valid = loop::validate(*program); !valid && valid.error().code != ErrorCode::kBudget)
    return in_file(arguments.program, valid.error());
  auto steps = schedule::parse_schedule(schedule_text);
  if (!steps) return in_file(arguments.schedule, steps.error());
  return Read{*std::move(program), *std::move(steps)};
}

/// The scheduled program, which the validator has looked at.
Result<schedule::Scheduled> scheduled(const ScheduleArguments& arguments, const Read& read) {
  auto result = schedule::apply(read.program, read.schedule);
  if (!result) return in_file(arguments.schedule, result.error());
  const auto valid = loop::validate(result->program);
  if (!valid && valid.error().code != ErrorCode::kBudget)
    return make_error(ErrorCode::kInternal, "'{}' makes a program that cannot be run: {}", arguments.schedule,
                      valid.error().message);
  return result;
}

void print_deviations(const Read& read, const schedule::Scheduled& made, bool quiet) {
  for (const schedule::Deviation& deviation : made.deviations)
    note(fmt::format("step {}, {}: {}; {}", deviation.step + 1, to_string(read.schedule[deviation.step].transform),
                     to_string(deviation.conflict),
                     deviation.instead.empty() ? "left out" : deviation.instead + " instead"),
         quiet);
}

Result<ExitCode> apply_schedule(const Settings& settings, const ScheduleArguments& arguments) {
  REWRIGHT_TRY(const Read given, read(arguments));
  REWRIGHT_TRY(const schedule::Scheduled made, scheduled(arguments, given));
  print_deviations(given, made, settings.quiet);
  const std::string text = to_string(made.program);
  if (!arguments.output.empty()) {
    REWRIGHT_CHECK(write_file(arguments.output, text));
  } else if (settings.json) {
    print_json({{"program", text}, {"deviations", made.deviations.size()}});
  } else {
    print(text);
  }
  return ExitCode::kDone;
}

/// Exit code 1 and why where a step is illegal.
Result<ExitCode> check_schedule(const Settings& settings, const ScheduleArguments& arguments) {
  REWRIGHT_TRY(const Read given, read(arguments));
  const auto made = scheduled(arguments, given);
  if (!made && made.error().code != ErrorCode::kUsage) return made.error();
  if (made) print_deviations(given, *made, settings.quiet);
  if (settings.json) {
    print_json({{"legal", made.has_value()}, {"reason", made ? "" : made.error().message}});
  } else {
    const std::size_t steps = given.schedule.size();
    print_line(made ? fmt::format("{} {} legal", steps, steps == 1 ? "step," : "steps, all") : made.error().message);
  }
  return made ? ExitCode::kDone : ExitCode::kNegative;
}

void add_files(const Command& command, ScheduleArguments& arguments) {
  command.add_option("PROGRAM", arguments.program, "A loop program, as text").required();
  command.add_option("SCHEDULE", arguments.schedule, "Transforms, one a line or with ; between").required();
}

}  // namespace

void add_schedule(Program& program) {
  const Command group = program.group("schedule", "Schedules: how a loop program is to run");
  auto arguments = std::make_shared<ScheduleArguments>();
  const Command apply =
      program.command(group, "apply", "Prints a loop program as a schedule makes it; what it computes stays the same",
                      {"rewright schedule apply matmul.loop tiled.schedule",
                       "rewright schedule apply matmul.loop tiled.schedule -o tiled.loop"},
                      [arguments](const Settings& settings) { return apply_schedule(settings, *arguments); });
  add_files(apply, *arguments);
  apply.add_option("-o,--output", arguments->output, "A file for the program");
  auto checked = std::make_shared<ScheduleArguments>();
  const Command check =
      program.command(group, "check", "Says whether a schedule may be applied, and if not, which dependence forbids it",
                      {"rewright schedule check matmul.loop tiled.schedule --json"},
                      [checked](const Settings& settings) { return check_schedule(settings, *checked); });
  add_files(check, *checked);
}

}  // namespace rewright::cli
