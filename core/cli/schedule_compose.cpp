// rewright schedule compose KERNEL --tiles ORIGIN --lanes ORIGIN ...: a schedule whose parts come from several origins
#include <rewright/tune/generator.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/tune_arguments.h"
#include "schedule/apply.h"
#include "schedule/schedule_parts.h"
#include "schedule/explain.h"
#include "schedule/neighbourhood.h"
#include "schedule/one_shot.h"
#include "schedule/schedule_json.h"
#include "tune/this_machine.h"

namespace rewright::cli {
namespace {

constexpr const char* kSuggested = "suggested";
constexpr int kDraws = 64;  ///< Of knobs, to see whether a schedule applies.

struct ComposeArguments {
  TuneArguments kernel;
  std::array<std::string, schedule::kParts.size()> origins;  ///< By part; empty: the part is left out.
  bool near = false;
  std::string output;
};

/// What is known of the kernel here.
struct Workshop {
  tune::TuningTask task;
  schedule::SketchOptions sketches;
};

Result<schedule::Space> best_of_store(const std::string& store, const Workshop& workshop, const std::string& dialect) {
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(store));
  const std::string machine = tune::described_machine().fingerprint;
  const ScheduleRecord* best = nullptr;
  for (const ScheduleRecord& record : records) {
    const bool is_of_it = record.structure == workshop.task.structure && record.sizes == workshop.task.sizes &&
                          record.machine == machine && record.dialect == dialect && record.outcome == "ok" &&
                          !record.schedule.empty();
    if (is_of_it && (best == nullptr || record.least_us() < best->least_us())) best = &record;
  }
  if (best == nullptr)
    return make_error(ErrorCode::kNotFound,
                      "'{0}' has no schedule of this kernel that ran on this machine; rewright tune kernel KERNEL "
                      "--records {0} searches for some",
                      store);
  return schedule::parse_space(best->schedule);
}

/// Of a file, a store of records, a generator, or the schedule that needs no search.
Result<schedule::Space> space_from(const std::string& origin, const Workshop& workshop, const std::string& dialect,
                                   const Registry& registry) {
  std::error_code ignored;
  if (std::filesystem::is_directory(origin, ignored)) return best_of_store(origin, workshop, dialect);
  if (std::filesystem::exists(origin, ignored)) {
    REWRIGHT_TRY(const std::string text, read_file(origin));
    auto space = schedule::read_space(text);
    if (!space) return make_error(space.error().code, "'{}': {}", origin, space.error().message);
    return space;
  }
  if (origin == kSuggested)
    return schedule::parse_space(to_string(schedule::one_shot(workshop.task.program, workshop.sketches.unit).steps));
  const Generator* generator = registry.find<Generator>(origin);
  if (generator == nullptr) {
    return make_error(ErrorCode::kNotFound,
                      "'{}' is neither a file, nor a store of records, nor a generator (rewright plugins list), nor "
                      "'suggested'",
                      origin);
  }
  REWRIGHT_TRY(const tune::Machine machine, tune::measured_machine());
  const auto texts = generator->schedules(workshop.task.program, machine);
  for (const std::string& sentence : generator->notes(workshop.task.program, machine)) note(sentence, false);
  if (texts.empty()) return make_error(ErrorCode::kUnsupported, "generator {} has no schedule for this kernel", origin);
  return schedule::parse_space(texts.front());
}

/// As a word that stands in a schedule.
std::string origin_name(const std::string& origin) {
  std::string name = std::filesystem::path(origin).filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isspace(c) != 0 || c == ';' || c == '#'; }, '_');
  return name;
}

/// Errors: kUsage, the first step that does not apply, and where it is from; with knobs, where no choice was met that
/// applies.
Status check(const schedule::Space& space, const loop::Program& program) {
  Error error;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto choices = schedule::random_choices(space, static_cast<std::uint64_t>(draw));
    if (!choices) return make_error(ErrorCode::kUsage, "no choice of its knobs meets its constraints");
    REWRIGHT_TRY(const schedule::Schedule steps, schedule_of(space, *choices));
    const auto made = schedule::apply(program, steps);
    if (made) return {};
    const std::size_t at = schedule::explain(program, steps).size() - 1;
    error = make_error(ErrorCode::kUsage, "what was put together does not fit: {} (from {}); {}", made.error().message,
                       space.steps[at].origin,
                       "take that part from where its neighbours are from, or write 'or skip' behind the step");
    if (space.knobs.empty()) break;
  }
  return error;
}

Result<ExitCode> compose(const Settings& settings, const ComposeArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  Workshop workshop;
  REWRIGHT_TRY(workshop.task, read_task(arguments.kernel, registry));
  REWRIGHT_TRY(workshop.sketches, tune::sketch_options(arguments.kernel.choice));
  std::vector<schedule::Source> sources;
  std::vector<std::string> read;
  for (const schedule::Part part : schedule::kParts) {
    const std::string& origin = arguments.origins[static_cast<std::size_t>(part)];
    if (origin.empty()) continue;
    const auto known = std::ranges::find(read, origin);
    if (known != read.end()) {
      sources[static_cast<std::size_t>(known - read.begin())].parts.push_back(part);
      continue;
    }
    REWRIGHT_TRY(schedule::Space space, space_from(origin, workshop, arguments.kernel.choice.dialect, registry));
    sources.push_back({origin_name(origin), std::move(space), {part}});
    read.push_back(origin);
  }
  if (sources.empty())
    return make_error(ErrorCode::kUsage, "nothing is to be put together: say where --tiles, --lanes ... come from");
  REWRIGHT_TRY(schedule::Space space, schedule::composed(sources));
  if (arguments.near) {
    REWRIGHT_TRY(space, schedule::neighbourhood(to_string(space)));
  }
  REWRIGHT_CHECK(check(space, workshop.task.program));
  std::map<std::string, std::size_t> steps;
  for (const schedule::StepText& step : space.steps) ++steps[step.origin];
  std::string counts;
  for (const auto& [origin, count] : steps)
    counts += fmt::format("{}{} from {}", counts.empty() ? "" : ", ", count, origin);
  note(fmt::format("steps: {}", counts), settings.quiet);
  const std::string text = settings.json ? schedule::to_json(space).dump(2) + "\n" : to_string(space);
  if (!arguments.output.empty()) {
    REWRIGHT_CHECK(write_file(arguments.output, text));
  } else {
    print(text);
  }
  return ExitCode::kDone;
}

}  // namespace

void add_schedule_composing(Program& program) {
  const Command group = program.group("schedule", "Schedules: how a loop program is to run");
  auto arguments = std::make_shared<ComposeArguments>();
  const Command command = program.command(
      group, "compose", "Puts a schedule together whose parts come from several origins, and says which from where",
      {"rewright schedule compose '(x:512x512, w:512x512 weight) matmul(x, w)' --tiles projective-tiles "
       "--lanes by-hand.schedule --layout my.store",
       "rewright schedule compose product.loop --size M=64 --size N=64 --size K=64 --tiles my.schedule --lanes "
       "suggested --near -o near.schedule",
       "rewright tune kernel product.loop --size M=64 --size N=64 --size K=64 --sketch near.schedule --only-given"},
      [arguments](const Settings& settings) { return compose(settings, *arguments); });
  add_what(command, arguments->kernel);
  constexpr std::array<const char*, schedule::kParts.size()> kWhat = {
      "Where what is computed on the way is kept: inline, compute-at, cache, rfactor",
      "Which iterations follow each other: split, fuse, reorder, distribute",
      "Which iterations run at once: vectorise, unroll, tensorise", "How tensors lie in memory: pack",
      "Which iterations run on several cores: parallelise"};
  for (const schedule::Part part : schedule::kParts) {
    const auto place = static_cast<std::size_t>(part);
    command
        .add_option(
            fmt::format("--{}", name_of(part)), arguments->origins[place],
            fmt::format("{}; from a file, a generator, a store of records (its best), or 'suggested'", kWhat[place]))
        .type_name("ORIGIN");
  }
  command.add_flag("--near", arguments->near, "The factors of its splits become knobs, for rewright tune --sketch");
  command.add_option("-o,--output", arguments->output, "A file for the schedule");
}

}  // namespace rewright::cli
