// rewright learn fit|eval: what is learned from measured kernels, and how good that is
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/learn_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "learn/held_out_fit.h"
#include "learn/program_data.h"
#include "report/learning.h"

namespace rewright::cli {
namespace {

using learn::Accuracy;
using learn::FoldReport;

void show_folds(ProgressLine& progress, std::size_t done, std::size_t folds) {
  progress.show("fit", done, "folds", static_cast<double>(done) / static_cast<double>(folds));
}

Result<std::vector<FoldReport>> evaluated(const Settings& settings, const learn::DataSet& data,
                                          const std::string& split, const learn::Recipe& recipe,
                                          const Registry& registry) {
  REWRIGHT_TRY(const auto folds, learn::split(data, split));
  heed_interrupts();
  ProgressLine progress(settings.quiet);
  return learn::evaluate(data, folds, recipe, registry, [&](std::size_t done) {
    show_folds(progress, done, folds.size());
    return !interrupted();
  });
}

struct FitCommand {
  DataArguments data;
  RecipeArguments recipe;
  std::string output, split = "program";
};

Result<ExitCode> fit_model(const Settings& settings, const FitCommand& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const learn::DataSet data, arguments.data.read(registry));
  REWRIGHT_TRY(const learn::Recipe recipe, arguments.recipe.read());
  if (arguments.split != "none") heed_interrupts();
  ProgressLine progress(settings.quiet);
  REWRIGHT_TRY(learn::HeldOutFit fitted,
               learn::fit_held_out(data, recipe, arguments.split, registry, [&](std::size_t done, std::size_t folds) {
                 show_folds(progress, done, folds);
                 return !interrupted();
               }));
  progress.clear();
  const auto& [model, accuracy] = fitted;
  fitted.model.facts["options"] = fmt::format("{}", fmt::join(arguments.recipe.options, " "));
  REWRIGHT_TRY(const std::string bytes, model.to_file());
  REWRIGHT_CHECK(write_file(arguments.output, bytes));
  if (settings.json) {
    print_json({{"file", arguments.output},
                {"kernels", data.samples.size()},
                {"split", arguments.split},
                {"accuracy", accuracy_json(accuracy)},
                {"spread_factor", model.spread_factor}});
    return ExitCode::kDone;
  }
  print_line(
      fmt::format("{} learned from {} of {}.", recipe.predictor, counted(data.samples.size(), "kernel"), data.device));
  if (arguments.split != "none")
    print_line(fmt::format("Held out by {}: {} off (median of the folds), Kendall's tau {:.2f}.", arguments.split,
                           percent(accuracy.error), accuracy.tau));
  print_line(fmt::format("Written to {}, {}: rewright optimize --cost learned --cost-option file={}", arguments.output,
                         cli::bytes(bytes.size()), arguments.output));
  return ExitCode::kDone;
}

struct EvalCommand {
  DataArguments data;
  RecipeArguments recipe;
  std::string split = "program", report;
  std::int64_t seeds = 1;
};

/// The page of the last seed.
Status write_page(const EvalCommand& arguments, const learn::DataSet& data, const std::vector<FoldReport>& folds,
                  const std::string& ceiling) {
  const std::string& base = arguments.recipe.base;
  LearningReport page{"Costs by " + arguments.recipe.predictor + (base.empty() || base == "none" ? "" : " on " + base),
                      data.device,
                      arguments.split,
                      ceiling,
                      {}};
  for (const FoldReport& fold : folds) {
    HeldOut& held = page.folds.emplace_back(HeldOut{fold.name, fold.model.error, fold.model.tau, fold.base.error, {}});
    for (std::size_t i = 0; i < fold.test.size(); ++i) {
      if (fold.measured[i] < learn::kJudgedUs) continue;
      held.kernels.push_back({data.samples[fold.test[i]].kernel, fold.measured[i], fold.predicted[i].us,
                              fold.predicted[i].spread, fold.roofline[i].us});
    }
  }
  return write_file(arguments.report, learning_html(page));
}

/// Of schedules, which are put in order.
Result<ExitCode> eval_order(const Settings& settings, const EvalCommand& arguments, const Registry& registry) {
  REWRIGHT_TRY(const learn::ProgramData data, learn::read_programs(arguments.data.files.front()));
  REWRIGHT_TRY(learn::Recipe recipe, arguments.recipe.read());
  heed_interrupts();
  Json seeds = Json::array();
  Table table({"seed", "kernels", "schedules", "tau", "pairs in order", "first", "best of five", "five drawn"});
  table.align_right({0, 1, 2, 3, 4, 5, 6, 7});
  for (std::int64_t i = 0; i < arguments.seeds; ++i) {
    recipe.seed = arguments.recipe.seed + static_cast<std::uint64_t>(i);
    ProgressLine progress(settings.quiet);
    REWRIGHT_TRY(const learn::OrderAccuracy found, learn::evaluate_order(data, recipe, registry, [&](std::size_t done) {
                   progress.show("fit", done, "folds", static_cast<double>(done) / 5);
                   return !interrupted();
                 }));
    seeds.push_back({{"seed", recipe.seed},
                     {"kernels", found.kernels},
                     {"tau", found.tau},
                     {"pairs", found.pairs},
                     {"best_of_1", found.best_of_1},
                     {"best_of_5", found.best_of_5},
                     {"random_of_5", found.random_of_5}});
    table.add({fmt::format("{}", recipe.seed), with_commas(found.kernels), with_commas(found.programs),
               fmt::format("{:.3f}", found.tau), percent(found.pairs), "+" + percent(found.best_of_1),
               "+" + percent(found.best_of_5), "+" + percent(found.random_of_5)});
  }
  if (settings.json) {
    print_json({{"seeds", seeds}});
  } else {
    print(table.to_string());
    print_line(
        "Means over kernels that were held out; the last three say how much longer it takes than the best of all.");
  }
  return ExitCode::kDone;
}

Result<ExitCode> eval_recipe(const Settings& settings, const EvalCommand& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  if (arguments.data.files.size() == 1 && learn::holds_programs(arguments.data.files.front()))
    return eval_order(settings, arguments, registry);
  REWRIGHT_TRY(const learn::DataSet data, arguments.data.read(registry));
  REWRIGHT_TRY(learn::Recipe recipe, arguments.recipe.read());
  std::vector<FoldReport> folds;
  std::vector<Accuracy> by_seed;
  for (std::int64_t i = 0; i < arguments.seeds; ++i) {
    recipe.seed = arguments.recipe.seed + static_cast<std::uint64_t>(i);
    REWRIGHT_TRY(folds, evaluated(settings, data, arguments.split, recipe, registry));
    by_seed.push_back(learn::median_of(folds, &FoldReport::model));
  }
  const Accuracy base = learn::median_of(folds, &FoldReport::base);
  const learn::Noise noise = learn::noise_of(data, learn::kJudgedUs);
  const std::string ceiling = noise.repeated == 0
                                  ? "No kernel was measured twice, so that nobody knows how good one can be."
                                  : fmt::format("Measured again, {} are {} off: no model is better.",
                                                counted(noise.repeated, "kernel"), percent(noise.mean));
  if (!arguments.report.empty()) REWRIGHT_CHECK(write_page(arguments, data, folds, ceiling));
  if (settings.json) {
    Json models = Json::array(), seeds = Json::array();
    for (const FoldReport& fold : folds)
      models.push_back({{"name", fold.name},
                        {"kernels", fold.model.kernels},
                        {"error", fold.model.error},
                        {"tau", fold.model.tau},
                        {"roofline_error", fold.base.error},
                        {"roofline_tau", fold.base.tau},
                        {"outside", fold.outside},
                        {"ceiling", noise.mean}});
    for (const Accuracy& each : by_seed) seeds.push_back(accuracy_json(each));
    print_json({{"split", arguments.split},
                {"models", models},
                {"seeds", seeds},
                {"roofline", accuracy_json(base)},
                {"ceiling", noise.mean}});
    return ExitCode::kDone;
  }
  Table table({arguments.split, "kernels", "error", "median", "tau", "roofline's error", "tau", "worst by best quarter",
               "outside"});
  table.align_right({1, 2, 3, 4, 5, 6, 7, 8});
  const auto add = [&](const std::string& name, const Accuracy& model, const Accuracy& roofline,
                       const std::string& outside) {
    table.add({name, with_commas(model.kernels), percent(model.error), percent(model.median_error),
               fmt::format("{:.2f}", model.tau), percent(roofline.error), fmt::format("{:.2f}", roofline.tau),
               fmt::format("{:.1f}", model.spread_ratio), outside});
  };
  for (const FoldReport& fold : folds) add(fold.name, fold.model, fold.base, percent(fold.outside));
  for (const Accuracy& each : by_seed) add("median", each, base, "");
  print(table.to_string());
  print_line(fmt::format("Of kernels of {} us or more. {}", learn::kJudgedUs, ceiling));
  return ExitCode::kDone;
}

}  // namespace

void add_learn_fitting(Program& program) {
  const Command group = program.group("learn", "Costs learned from measured kernels");
  const auto fit = std::make_shared<FitCommand>();
  const Command fit_command =
      program.command(group, "fit", "Learns a cost from measured kernels, and writes it as an ONNX model",
                      {"rewright learn fit all.kernels -o cost.onnx",
                       "rewright optimize model.onnx -o faster.onnx --cost learned --cost-option file=cost.onnx"},
                      [fit](const Settings& settings) { return fit_model(settings, *fit); });
  fit->data.add_to(fit_command);
  fit->recipe.add_to(fit_command);
  fit_command.add_option("-o,--output", fit->output, "The model").type_name("FILE").required();
  std::vector<std::string> splits = learn::split_names();
  fit_command
      .add_option("--split", fit->split,
                  "What is held out to know how good it is, and how sure it may be; none: nothing")
      .show_default();

  const auto eval = std::make_shared<EvalCommand>();
  const Command eval_command =
      program.command(group, "eval", "Says how good what is learned is on kernels that were held out",
                      {"rewright learn eval all.kernels",
                       "rewright learn eval all.kernels --predictor graph --split operator --seeds 3",
                       "rewright learn eval my.programs --predictor trees --option loss=rank"},
                      [eval](const Settings& settings) { return eval_recipe(settings, *eval); });
  eval->data.add_to(eval_command);
  eval->recipe.add_to(eval_command);
  eval_command.add_option("--split", eval->split, "How test and training are kept apart")
      .check(one_of(splits))
      .show_default();
  eval_command.add_option("--report", eval->report, "Writes a page: scatter, calibration, what is most wrong")
      .type_name("FILE");
  eval_command.add_option("--seeds", eval->seeds, "So many seeds, one after the other")
      .check(whole_number(1))
      .show_default();
}

}  // namespace rewright::cli
