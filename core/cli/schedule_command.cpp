// rewright schedule apply, check and explain PROGRAM SCHEDULE, rewright schedule show [PROGRAM] SCHEDULE
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/schedule_steps.h"
#include "loop/lower.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "schedule/neighbourhood.h"
#include "schedule/schedule_json.h"

namespace rewright::cli {
namespace {

struct ScheduleArguments {
  std::string program;
  std::string schedule;
  std::string output;
  std::vector<std::string> with;   ///< NAME=CHOICE, of knobs.
  std::vector<std::string> sizes;  ///< NAME=NUMBER, of the program's symbols.
  std::string dialect;             ///< Of the code to print, of target c; none: no code.
  bool loops = false;              ///< Draw the loops after each step.
  std::string report;              ///< A page; empty: none.
};

struct Read {
  loop::Program program;
  schedule::Space space;
  schedule::Schedule schedule;
};

Error in_file(const std::string& file, const Error& error) {
  return make_error(error.code, "'{}': {}", file, error.message);
}

Result<schedule::Space> read_schedule(const std::string& file, const std::vector<std::string>& with) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  auto space = schedule::read_space(text);
  if (!space) return in_file(file, space.error());
  for (const std::string& choice : with) REWRIGHT_CHECK(give(*space, choice));
  return space;
}

Result<Read> read(const ScheduleArguments& arguments) {
  REWRIGHT_TRY(const std::string program_text, read_file(arguments.program));
  auto program = loop::parse_program(program_text);
  if (!program) return in_file(arguments.program, program.error());
  REWRIGHT_TRY(const auto sizes, read_dims(arguments.sizes));
  program = loop::specialised(*program, [&](const SizeVar& size) -> std::optional<std::int64_t> {
    const auto at = sizes.find(size.text());
    return at == sizes.end() ? std::nullopt : std::optional(at->second);
  });
  if (const auto valid = loop::validate(*program); !valid && valid.error().code != ErrorCode::kBudget)
    return in_file(arguments.program, valid.error());
  REWRIGHT_TRY(schedule::Space space, read_schedule(arguments.schedule, arguments.with));
  const auto choices = given_choices(space);
  if (!choices) return in_file(arguments.schedule, choices.error());
  auto steps = schedule_of(space, *choices);
  if (!steps) return in_file(arguments.schedule, steps.error());
  return Read{*std::move(program), std::move(space), *std::move(steps)};
}

/// The scheduled program, which the validator has looked at. Errors: kUsage, "FILE: LINE: why a step does not apply".
Result<schedule::Scheduled> scheduled(const ScheduleArguments& arguments, const Read& read) {
  auto result = schedule::apply(read.program, read.schedule);
  if (!result) {
    const std::size_t step = explain(read.program, read.schedule).size() - 1;
    return make_error(result.error().code, "'{}': {}: {}", arguments.schedule, read.space.steps[step].line,
                      result.error().message);
  }
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

Result<std::string> code_of(const Settings& settings, const loop::Program& program, const std::string& dialect) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const Target* target, registry.get<Target>("c"));
  loop::TargetOptions options;
  options.dialect = dialect;
  const loop::NamedProgram named{"kernel", program};
  return target->source({&named, 1}, options);
}

Result<ExitCode> apply_schedule(const Settings& settings, const ScheduleArguments& arguments) {
  REWRIGHT_TRY(const Read given, read(arguments));
  REWRIGHT_TRY(const schedule::Scheduled made, scheduled(arguments, given));
  print_deviations(given, made, settings.quiet);
  std::string text = to_string(made.program);
  if (!arguments.dialect.empty()) {
    REWRIGHT_TRY(text, code_of(settings, made.program, arguments.dialect));
  }
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

/// A schedule in its canonical form, or the loops of a program before and after it.
Result<ExitCode> show_schedule(const Settings& settings, const std::vector<std::string>& files,
                               ScheduleArguments arguments) {
  if (files.size() == 1) {
    REWRIGHT_TRY(const schedule::Space space, read_schedule(files[0], arguments.with));
    if (settings.json) {
      print_json(to_json(space));
    } else {
      print(to_string(space));
    }
    return ExitCode::kDone;
  }
  arguments.program = files[0], arguments.schedule = files[1];
  REWRIGHT_TRY(const Read given, read(arguments));
  REWRIGHT_TRY(const schedule::Scheduled made, scheduled(arguments, given));
  print_deviations(given, made, settings.quiet);
  const std::string before = schedule::loop_drawing(given.program), after = schedule::loop_drawing(made.program);
  if (settings.json) {
    print_json({{"before", before}, {"after", after}, {"schedule", to_json(given.space)}});
  } else {
    print(fmt::format("before:\n{}\nafter:\n{}", before, after));
  }
  return ExitCode::kDone;
}

Json json_of(const schedule::ProgramSize& size) {
  return {{"loops", size.loops}, {"stores", size.stores}, {"buffers", size.buffers}};
}

Json json_of(const schedule::Step& step, const std::string& origin, const schedule::StepReport& report) {
  return {{"step", to_string(step)},
          {"from", origin},
          {"needs", report.needs},
          {"found", report.conflict ? to_string(*report.conflict) : ""},
          {"instead", report.instead},
          {"applied", report.is_applied},
          {"before", json_of(report.before)},
          {"after", json_of(report.after)}};
}

void print_report(std::size_t number, const schedule::Step& step, const std::string& origin,
                  const schedule::StepReport& report, bool ends) {
  print_line(
      fmt::format("{}  {}{}", number, to_string(step), origin.empty() ? "" : fmt::format("   (from {})", origin)));
  print_line(fmt::format("   needs    {}", report.needs));
  if (report.conflict) print_line(fmt::format("   found    {}", to_string(*report.conflict)));
  if (!report.instead.empty()) print_line(fmt::format("   instead  {}", report.instead));
  if (report.is_applied) print_line(fmt::format("   gives    {}", changes_of(report)));
  if (!report.is_applied) print_line(ends ? "   the schedule ends here" : "   left out");
}

/// Of a schedule: each step, and with --code the code before and after all.
Result<std::string> page_of(const Settings& settings, const ScheduleArguments& arguments, const Read& given,
                            bool is_legal) {
  std::vector<std::string> origins;
  for (const schedule::StepText& step : given.space.steps) origins.push_back(step.origin);
  SchedulePage page{.title = std::filesystem::path(arguments.schedule).filename().string(),
                    .lede = {},
                    .schedule = to_string(given.space),
                    .steps = loop_steps_of(given.program, given.schedule, origins),
                    .loops = schedule::loop_drawing(given.program)};
  page.lede = fmt::format("{} of {}{}", counted(given.schedule.size(), "step"),
                          std::filesystem::path(arguments.program).filename().string(),
                          is_legal ? "; what it computes stays the same." : "; the last one shown does not apply.");
  if (!arguments.dialect.empty()) {
    REWRIGHT_TRY(const std::string before, code_of(settings, given.program, arguments.dialect));
    page.programs.emplace_back("Code before", before);
    if (const auto made = apply(given.program, given.schedule)) {
      REWRIGHT_TRY(const std::string after, code_of(settings, made->program, arguments.dialect));
      page.programs.emplace_back("Code after", after);
    }
  }
  return schedule_html(page);
}

/// Exit code 1 where a step ends the schedule.
Result<ExitCode> explain_schedule(const Settings& settings, const ScheduleArguments& arguments) {
  REWRIGHT_TRY(const Read given, read(arguments));
  const auto reports = explain(given.program, given.schedule);
  const bool is_legal = apply(given.program, given.schedule).has_value();
  Json steps = Json::array();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    steps.push_back(json_of(given.schedule[i], given.space.steps[i].origin, reports[i]));
    if (settings.json) continue;
    print_report(i + 1, given.schedule[i], given.space.steps[i].origin, reports[i],
                 !is_legal && i + 1 == reports.size());
    if (arguments.loops) print_line("\n" + schedule::loop_drawing(reports[i].program));
    if (arguments.dialect.empty()) continue;
    REWRIGHT_TRY(const std::string code, code_of(settings, reports[i].program, arguments.dialect));
    print_line(code.substr(std::min(code.find("kernel("), code.size())));
  }
  if (settings.json) print_json({{"legal", is_legal}, {"steps", steps}});
  if (!arguments.report.empty()) {
    REWRIGHT_TRY(const std::string page, page_of(settings, arguments, given, is_legal));
    REWRIGHT_CHECK(write_file(arguments.report, page));
  }
  return is_legal ? ExitCode::kDone : ExitCode::kNegative;
}

void add_choices(const Command& command, ScheduleArguments& arguments) {
  command.add_option("--with", arguments.with, "What a knob of the schedule is: NAME=CHOICE").repeatable();
  command.add_option("--size", arguments.sizes, "What a size of the program is: NAME=NUMBER").repeatable();
}

void add_files(const Command& command, ScheduleArguments& arguments) {
  command.add_option("PROGRAM", arguments.program, "A loop program, as text").required();
  command.add_option("SCHEDULE", arguments.schedule, "Transforms, one a line or with ; between, or as JSON").required();
  add_choices(command, arguments);
}

Result<ExitCode> show_neighbourhood(const Settings& settings, const std::string& file) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  const auto space = schedule::neighbourhood(text);
  if (!space) return make_error(space.error().code, "'{}': {}", file, space.error().message);
  if (settings.json) {
    print_json(schedule::to_json(*space));
  } else {
    print(schedule::to_string(*space));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_schedule(Program& program) {
  const Command group = program.group("schedule", "Schedules: how a loop program is to run");
  auto arguments = std::make_shared<ScheduleArguments>();
  const Command apply =
      program.command(group, "apply", "Prints a loop program as a schedule makes it; what it computes stays the same",
                      {"rewright schedule apply matmul.loop tiled.schedule",
                       "rewright schedule apply matmul.loop tiled.schedule -o tiled.loop",
                       "rewright schedule apply product.loop product.schedule --size M=64 --with ti=4 --code vectors"},
                      [arguments](const Settings& settings) { return apply_schedule(settings, *arguments); });
  add_files(apply, *arguments);
  apply.add_option("-o,--output", arguments->output, "A file for the program");
  apply.add_option("--code", arguments->dialect, "Print it as C of this dialect: c11, vectors, vectors-avx2 ...");
  auto checked = std::make_shared<ScheduleArguments>();
  const Command check =
      program.command(group, "check", "Says whether a schedule may be applied, and if not, which dependence forbids it",
                      {"rewright schedule check matmul.loop tiled.schedule --json"},
                      [checked](const Settings& settings) { return check_schedule(settings, *checked); });
  add_files(check, *checked);
  auto explained = std::make_shared<ScheduleArguments>();
  const Command explain =
      program.command(group, "explain", "Says of each step what it needs, what it found and what it changes",
                      {"rewright schedule explain matmul.loop tiled.schedule",
                       "rewright schedule explain matmul.loop tiled.schedule --with tj=16 --loops --code c11",
                       "rewright schedule explain matmul.loop tiled.schedule --report tiled.html"},
                      [explained](const Settings& settings) { return explain_schedule(settings, *explained); });
  add_files(explain, *explained);
  explain.add_flag("--loops", explained->loops, "Draw the loops after each step");
  explain.add_option("--code", explained->dialect,
                     "Print the C after each step, in a dialect of target c: c11, vectors");
  explain
      .add_option("--report", explained->report, "A page that steps through the loops before and after each transform")
      .type_name("FILE");
  auto files = std::make_shared<std::vector<std::string>>();
  auto shown = std::make_shared<ScheduleArguments>();
  const Command show = program.command(
      group, "show", "Prints a schedule and its knobs, or a program's loops before and after it",
      {"rewright schedule show tiled.schedule --json", "rewright schedule show matmul.loop tiled.schedule"},
      [files, shown](const Settings& settings) { return show_schedule(settings, *files, *shown); });
  show.add_option("FILE", *files, "A schedule, or a loop program and a schedule").required().expected(1, 2);
  add_choices(show, *shown);
  auto file = std::make_shared<std::string>();
  const Command near = program.command(
      group, "neighbourhood", "Prints the space of schedules near one: the factors of its splits become knobs",
      {"rewright schedule neighbourhood by-hand.schedule > near.schedule",
       "rewright tune kernel product.loop --size M=64 --size N=64 --size K=64 --sketch near.schedule --only-given"},
      [file](const Settings& settings) { return show_neighbourhood(settings, *file); });
  near.add_option("SCHEDULE", *file, "Transforms, one a line or with ; between").required();
}

}  // namespace rewright::cli
