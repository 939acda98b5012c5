// rewright learn data|sample: measured kernels
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/learn_arguments.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "learn/program_data.h"
#include "learn/sampling.h"

namespace rewright::cli {
namespace {

struct DataCommand {
  DataArguments data;
  bool best = false;
  std::string output;
};

/// Of a store, or of a file of such.
Result<ExitCode> show_programs(const Settings& settings, const DataCommand& arguments, const Registry& registry) {
  constexpr std::size_t kLeastOfKernel = 12;
  const std::string& from = arguments.data.files.front();
  REWRIGHT_TRY(const learn::ProgramData data, std::filesystem::is_directory(from)
                                                  ? learn::programs_of_store(from, kLeastOfKernel, registry)
                                                  : learn::read_programs(from));
  if (!arguments.output.empty()) REWRIGHT_CHECK(learn::write_programs(arguments.output, data));
  std::set<std::string> kernels;
  for (const tune::Observation& each : data.programs) kernels.insert(each.task);
  if (settings.json) {
    print_json({{"device", data.device}, {"schedules", data.programs.size()}, {"kernels", kernels.size()}});
  } else {
    print_line(fmt::format("{}: {} of {}", data.device, counted(data.programs.size(), "schedule"),
                           counted(kernels.size(), "kernel")));
  }
  return ExitCode::kDone;
}

Result<ExitCode> show_data(const Settings& settings, const DataCommand& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  if (const std::string& from = arguments.data.files.front();
      arguments.data.files.size() == 1 && !arguments.best &&
      (std::filesystem::is_directory(from) || learn::holds_programs(from)))
    return show_programs(settings, arguments, registry);
  REWRIGHT_TRY(const learn::DataSet data, arguments.data.read(registry));
  if (!arguments.output.empty()) REWRIGHT_CHECK(learn::write_data(arguments.output, data));
  std::map<std::string, std::size_t> programs;
  std::map<std::string, std::vector<double>> kinds;
  std::size_t shared = 0, judged = 0;
  for (const learn::Sample& sample : data.samples) {
    for (const std::string& program : sample.programs) ++programs[program];
    kinds[sample.kind].push_back(sample.label_us());
    shared += sample.programs.size() > 1 ? 1 : 0;
    judged += sample.label_us() >= learn::kJudgedUs ? 1 : 0;
  }
  const learn::Noise noise = learn::noise_of(data, learn::kJudgedUs);
  if (settings.json) {
    print_json({{"device", data.device},
                {"hash", data.hash()},
                {"kernels", data.samples.size()},
                {"judged", judged},
                {"programs", programs},
                {"shared", shared},
                {"unknown", data.unknown},
                {"infinite", data.infinite},
                {"repeated", noise.repeated},
                {"noise_mean", noise.mean},
                {"noise_median", noise.median}});
    return ExitCode::kDone;
  }
  print_line(fmt::format("{}: {} of {}, {} of them in several; {} take {} us or more", data.device,
                         counted(data.samples.size(), "kernel"), counted(programs.size(), "program"), shared, judged,
                         learn::kJudgedUs));
  if (data.unknown > 0)
    print_line(fmt::format("{} left out, of operators that are not there", counted(data.unknown, "kernel")));
  if (data.infinite > 0)
    print_line(fmt::format("{} left out that could not be measured", counted(data.infinite, "kernel")));
  print_line(noise.repeated == 0
                 ? "No kernel was measured twice: measure again into another file to learn how sure the times are."
                 : fmt::format("Measured twice: {}, the second time is {} off, the median {}: no prediction is better.",
                               counted(noise.repeated, "kernel"), percent(noise.mean), percent(noise.median)));
  Table table({"operator", "kernels", "us, least", "median", "greatest"});
  table.align_right({1, 2, 3, 4});
  for (auto& [kind, times] : kinds) {
    std::ranges::sort(times);
    table.add({kind, with_commas(times.size()), fmt::format("{:.2f}", times.front()),
               fmt::format("{:.2f}", times[times.size() / 2]), fmt::format("{:.2f}", times.back())});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

struct SampleCommand {
  learn::SamplingOptions sampling;
  std::string cost = "onnxruntime";
  std::vector<std::string> cost_options;
  double minutes = 5;
};

Result<ExitCode> sample_kernels(const Settings& settings, const SampleCommand& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const CostModel* found, registry.get<CostModel>(arguments.cost));
  const auto model = found->clone();
  REWRIGHT_TRY(const Options options, read_options(arguments.cost_options, "--cost-option"));
  REWRIGHT_CHECK(model->configure(options, registry));
  heed_interrupts();
  ProgressLine progress(settings.quiet);
  learn::SamplingOptions sampling = arguments.sampling;
  sampling.seconds = 60 * arguments.minutes;
  sampling.goes_on = [&](std::size_t kernels, double share) {
    progress.show(share < 0.5 ? "measure" : "measure again", kernels, "kernels", share);
    return !interrupted();
  };
  REWRIGHT_TRY(const learn::SamplingReport report, learn::sample(*model, sampling, registry));
  progress.clear();
  if (settings.json) {
    print_json({{"file", sampling.file},
                {"kernels", report.new_kernels},
                {"repeated", report.repeated},
                {"failed", report.failed},
                {"discarded", report.discarded}});
  } else {
    print_line(fmt::format("{} measured, {} again, in {}.", counted(report.new_kernels, "kernel"), report.repeated,
                           sampling.file));
    if (report.failed > 0)
      print_line(fmt::format("{} cannot be measured by {}.", counted(report.failed, "kernel"), arguments.cost));
    if (report.discarded > 0)
      print_line(fmt::format("{} done again, as the reference kernel took another time afterwards than before.",
                             counted(report.discarded, "block")));
  }
  return interrupted() ? ExitCode::kStopped : ExitCode::kDone;
}

}  // namespace

void add_learn_data(Program& program) {
  const Command group = program.group("learn", "Costs learned from measured kernels");
  const auto data = std::make_shared<DataCommand>();
  const Command data_command = program.command(
      group, "data", "Says what measured kernels there are, and how sure their times are",
      {"rewright learn data my.cache", "rewright learn data *.cache -o all.kernels",
       "rewright learn data my.store -o my.programs", "rewright learn data a.store b.store --best -o tuned.kernels"},
      [data](const Settings& settings) { return show_data(settings, *data); });
  data->data.add_to(data_command);
  data_command.add_flag("--best", data->best, "Of a store each kernel's best schedule, not all");
  data_command.add_option("-o,--output", data->output, "Writes them as one file, a line of JSON each")
      .type_name("FILE");

  const auto sample = std::make_shared<SampleCommand>();
  const Command sample_command =
      program.command(group, "sample", "Measures kernels of models, and the same with other sizes",
                      {"rewright learn sample model.onnx other.onnx -o my.kernels --minutes 10"},
                      [sample](const Settings& settings) { return sample_kernels(settings, *sample); });
  sample_command.add_option("MODEL", sample->sampling.models, "ONNX models").required().expected(1, -1);
  sample_command.add_option("-o,--output", sample->sampling.file, "Measured kernels; more are added to what is there")
      .type_name("FILE")
      .required();
  sample_command.add_option("--minutes", sample->minutes, "How long; half of it measures again")
      .check(positive())
      .show_default();
  sample_command.add_option("--cost", sample->cost, "The cost model that measures").show_default();
  sample_command.add_option("--cost-option", sample->cost_options, "Of the cost model: NAME=VALUE").repeatable();
  sample_command.add_option("--seed", sample->sampling.seed, "Of the sizes").show_default();
}

}  // namespace rewright::cli
