#include "cli/learn_arguments.h"

#include "cli/optimize_arguments.h"
#include "cli/output.h"

namespace rewright::cli {

void DataArguments::add_to(const Command& command) {
  command
      .add_option(
          "DATA", files,
          "Measured kernels: cost caches, stores with schedules, and files that rewright learn data or sample wrote")
      .required()
      .expected(1, -1);
  command.add_option("--device", device, "A part of the device's name, where there are several").type_name("PART");
}

Result<learn::DataSet> DataArguments::read(const Registry& registry) const {
  return learn::read_data(files, device, registry);
}

void RecipeArguments::add_to(const Command& command) {
  command.add_option("--predictor", predictor, "What learns (rewright plugins list)").show_default();
  command.add_option("--option", options, "Of the predictor: NAME=VALUE").repeatable();
  command.add_option("--base", base, "What the predictor learns the ratio to; none: it learns the time").show_default();
  command.add_option("--seed", seed, "Of the predictor").show_default();
}

Result<learn::Recipe> RecipeArguments::read() const {
  learn::Recipe recipe{.predictor = predictor, .base = base == "none" ? "" : base, .seed = seed};
  REWRIGHT_TRY(recipe.options, read_options(options, "--option"));
  return recipe;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Json accuracy_json(const learn::Accuracy& accuracy) {
  return {{"kernels", accuracy.kernels},     {"error", accuracy.error}, {"median_error", accuracy.median_error},
          {"within_10", accuracy.within_10}, {"tau", accuracy.tau},     {"spread_ratio", accuracy.spread_ratio}};
}

}  // namespace rewright::cli
