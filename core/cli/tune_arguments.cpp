#include "cli/tune_arguments.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "cli/optimize_arguments.h"
#include "schedule/schedule_json.h"

namespace rewright::cli {
namespace {

/// "crossover=0.2", "population=64".
Result<Options> read_options(const std::vector<std::string>& texts) {
  Options options;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      return make_error(ErrorCode::kUsage, "the option {} is not of the form NAME=VALUE", text);
    char* end = nullptr;
    const std::string value = text.substr(at + 1);
    const double number = std::strtod(value.c_str(), &end);
    if (*end == '\0') {
      options[text.substr(0, at)] = number;
    } else {
      options[text.substr(0, at)] = value;
    }
  }
  return options;
}

/// Errors: of a file that is no schedule.
Result<std::vector<schedule::Space>> read_sketches(const std::vector<std::string>& files) {
  std::vector<schedule::Space> spaces;
  for (const std::string& file : files) {
    REWRIGHT_TRY(const std::string text, read_file(file));
    auto space = schedule::read_space(text);
    if (!space) return make_error(space.error().code, "'{}': {}", file, space.error().message);
    spaces.push_back(*std::move(space));
  }
  return spaces;
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string times_text(const tune::TuningTimes& times) {
  return fmt::format("{:.1f} s compiling, {:.1f} s measuring, {:.1f} s proposing, {:.1f} s learning", times.compiling,
                     times.measuring, times.proposing, times.learning);
}

Json times_json(const tune::TuningTimes& times) {
  return {{"compiling", times.compiling},
          {"measuring", times.measuring},
          {"generating", times.generating},
          {"proposing", times.proposing},
          {"learning", times.learning}};
}

std::string ordered_text(const tune::OrderedPairs& ordered) {
  if (ordered.pairs == 0) return "";
  return fmt::format("The predictor had {:.0f} % of {} in their order. ", 100 * ordered.share(),
                     counted(static_cast<std::uint64_t>(ordered.pairs), "pair"));
}

Json ordered_json(const tune::OrderedPairs& ordered) { return {{"pairs", ordered.pairs}, {"right", ordered.right}}; }

std::string outcome_text(const std::map<std::string, std::int64_t>& outcomes) {
  std::string text;
  for (const auto& [outcome, count] : outcomes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  return text;
}

Result<tune::TuningSetting> tuning_setting(const TuneArguments& arguments, const Registry& registry) {
  tune::TuningChoice choice = arguments.choice;
  REWRIGHT_TRY(choice.tuner_options, read_options(arguments.options));
  REWRIGHT_TRY(choice.predictor_options, read_options(arguments.predictor_options));
  REWRIGHT_TRY(std::vector<schedule::Space> given, read_sketches(arguments.sketches));
  if (arguments.only_given && given.empty() && choice.generators.empty())
    return make_error(ErrorCode::kUsage, "--only-given, and neither --sketch nor --generator gives any");
  REWRIGHT_TRY(tune::TuningSetting setting, tune::tuning_setting(choice, registry));
  setting.given = std::move(given);
  setting.only_given = arguments.only_given;
  setting.around = arguments.around;
  return setting;
}

Result<OpenedRecords> open_records(const std::string& folder) {
  OpenedRecords opened;
  if (folder.empty()) return opened;
  REWRIGHT_TRY(ScheduleRecords records, ScheduleRecords::open(folder));
  opened.records.emplace(std::move(records));
  REWRIGHT_TRY(opened.known, ScheduleRecords::read(folder));
  REWRIGHT_TRY(opened.programs, ScheduleRecords::programs(folder));
  return opened;
}

Argument add_transfer_options(const Command& command, TuneArguments& arguments, const std::string& help) {
  Argument transfer = command.add_option("--transfer", arguments.transfer, help).type_name("STORE").repeatable();
  command
      .add_flag("--strict", arguments.strict,
                "With --transfer: a step that does not fit makes a schedule invalid; else the loop gets a tail, or the "
                "step is left out")
      .needs(transfer);
  command
      .add_option("--transfers", arguments.transfers,
                  "With --transfer: schedules tried of each kernel, those of the nearest sizes first")
      .check(in_range(1, 10'000))
      .needs(transfer)
      .show_default();
  return transfer;
}

Result<std::vector<tune::DonorKernel>> read_donors(const std::string& store, const tune::TuningSetting& setting) {
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(store));
  REWRIGHT_TRY(const KernelPrograms programs, ScheduleRecords::programs(store));
  return tune::donor_kernels(records, programs, setting.measure.target, setting.measure.dialect);
}

Result<tune::TuningTask> read_task(const TuneArguments& arguments, const Registry& registry) {
  std::error_code ignored;
  if (!std::filesystem::exists(arguments.what, ignored)) return tune::kernel_task(arguments.what, registry);
  REWRIGHT_TRY(const auto sizes, read_dims(arguments.sizes));
  return tune::file_task(arguments.what, sizes);
}

void add_what(const Command& command, TuneArguments& arguments) {
  command
      .add_option("KERNEL", arguments.what,
                  "Inputs with their sizes and what is computed of them, or a loop program's file")
      .required();
  command.add_option("--size", arguments.sizes, "What a size of the loop program is: NAME=NUMBER").repeatable();
  add_code_options(command, arguments);
}

void add_code_options(const Command& command, TuneArguments& arguments) {
  command
      .add_option("--structure", arguments.choice.structure, "Levels of loops of results (S) and of sums (R) in tiles")
      .show_default();
  command
      .add_option("--dialect", arguments.choice.dialect,
                  "Of target c: vectors, vectors-avx512, vectors-avx2, vectors-portable")
      .show_default();
}

void add_search_options(const Command& command, TuneArguments& a) {
  command.add_option("--trials", a.trials, "Schedules to measure, those of the records among them")
      .check(whole_number(0))
      .show_default();
  command.add_option("--seconds", a.seconds, "To end after so many; 0: any number")
      .check(not_negative())
      .show_default();
  command.add_option("--records", a.records, "A store that what is measured is added to, and that is gone on from")
      .type_name("STORE");
  command.add_flag("--shared", a.shared,
                   "Other machines measure too: those where rewright tune worker STORE runs; as under mpirun");
  command.add_option("--tuner", a.choice.tuner, "What proposes schedules (rewright plugins list)").show_default();
  command.add_option("--predictor", a.choice.predictor, "What ranks them, or none")
      .show_default("process for bayes, else trees; roofline where that is not built");
  command.add_option("--option", a.options, "Of the tuner: NAME=VALUE").repeatable();
  command.add_option("--predictor-option", a.predictor_options, "Of the predictor: NAME=VALUE").repeatable();
  command.add_option("--orders", a.choice.orders, "How orders of loops are shown to the predictor")
      .check(one_of({"category", "scores"}))
      .show_default();
  command.add_option("--sketch", a.sketches, "A file with a schedule and its knobs, to search beside the sketches")
      .repeatable();
  command.add_option("--generator", a.choice.generators, "A plugin whose schedules are searched before the sketches")
      .repeatable();
  command.add_flag("--only-given", a.only_given, "Nothing but what --sketch and --generator give");
  command.add_flag("--around", a.around,
                   "Once nothing is left to try, the factors of the best schedule so far become knobs");
  command.add_option("--policy", a.choice.policy, "Caches before a run: hot or cold")
      .check(one_of({"hot", "cold"}))
      .show_default();
  command.add_flag("--patient", a.choice.is_patient,
                   "Time slow schedules as long as fast ones: for rewright learn to learn from");
  command.add_option("--batch", a.choice.batch, "Schedules that are proposed at a time (4 for bayes, else 8)")
      .check(whole_number(1));
  command.add_option("--seed", a.choice.seed, "Of what is proposed").show_default();
}

}  // namespace rewright::cli
