// rewright learn explain|check: why a learned cost says what it says, and whether it is true here
#include <rewright/learn/kernel_features.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/cost_key.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/commands.h"
#include "cli/learn_arguments.h"
#include "cli/output.h"
#include "tune/kernel_text.h"

namespace rewright::cli {
namespace {

using learn::LearnedModel;

std::string fact(const LearnedModel& model, const char* name) {
  const auto found = model.facts.find(name);
  return found == model.facts.end() ? "" : found->second;
}

// --- explain
// -----------------------------------------------------------------------------------------------------------

struct ExplainCommand {
  std::string model, kernel;
  std::vector<std::string> data;
};

/// What the time would be by what it is if a column were 0 in all rows.
struct Contribution {
  std::string column;
  double ratio;
};

std::vector<Contribution> contributions(const LearnedModel& model, const tune::Features& features) {
  const double us = model.estimate(features).us;
  std::vector<Contribution> all;
  for (std::size_t c = 0; c < model.setting.columns.size(); ++c) {
    LearnedModel without = model;
    without.hidden.assign(model.setting.columns.size(), false);
    without.hidden[c] = true;
    all.push_back({model.setting.columns[c], us / without.estimate(features).us});
  }
  std::ranges::stable_sort(all, std::greater(),
                           [](const Contribution& each) { return std::abs(std::log(each.ratio)); });
  return all;
}

/// By the distance of the logarithms of what they count.
std::vector<const learn::Sample*> nearest_kernels(const learn::DataSet& data, const tune::Features& features) {
  const auto sums = [](const tune::Features& of) {
    std::vector<double> all(learn::kernel_columns().size());
    for (const auto& row : of.stages) {
      for (std::size_t c = 0; c < all.size(); ++c) all[c] += row[c];
    }
    for (double& each : all) each = std::log1p(each);
    return all;
  };
  const std::vector<double> here = sums(features);
  std::vector<std::pair<double, const learn::Sample*>> all;
  for (const learn::Sample& sample : data.samples) {
    const std::vector<double> there = sums(sample.features);
    double distance = sample.features.stages.size() == features.stages.size() ? 0 : 1;
    for (std::size_t c = 0; c < here.size(); ++c) distance += (here[c] - there[c]) * (here[c] - there[c]);
    all.emplace_back(distance, &sample);
  }
  std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first; });
  constexpr std::size_t kNearest = 3;
  std::vector<const learn::Sample*> found;
  for (std::size_t i = 0; i < std::min(kNearest, all.size()); ++i) found.push_back(all[i].second);
  return found;
}

Result<ExitCode> explain(const Settings& settings, const ExplainCommand& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const LearnedModel model, LearnedModel::read(arguments.model, registry));
  const auto owned = arguments.kernel.starts_with('|') ? from_key(arguments.kernel, registry)
                                                       : tune::parse_kernel(arguments.kernel, registry);
  if (!owned) return make_error(owned.error().code, "the kernel '{}': {}", arguments.kernel, owned.error().message);
  const tune::Features features = learn::features_of(owned->kernel(), model.setting.kinds);
  const Estimate estimate = model.estimate(features);
  const std::vector<std::string> outside = model.outside(features);
  const std::vector<Contribution> columns = contributions(model, features);
  std::vector<const learn::Sample*> near;
  learn::DataSet data;
  if (!arguments.data.empty()) {
    REWRIGHT_TRY(data, learn::read_data(arguments.data, fact(model, "device"), registry));
    near = nearest_kernels(data, features);
  }
  const double base_us = model.base ? model.base->predict({&features, 1}).front().us : 0;
  if (settings.json) {
    Json parts = Json::array(), kernels = Json::array();
    for (const Contribution& each : columns) parts.push_back({{"column", each.column}, {"ratio", each.ratio}});
    for (const learn::Sample* each : near) kernels.push_back({{"kernel", each->kernel}, {"us", each->label_us()}});
    print_json({{"us", estimate.us},
                {"spread_us", estimate.spread},
                {"base_us", base_us},
                {"outside", outside},
                {"columns", parts},
                {"nearest", kernels}});
    return ExitCode::kDone;
  }
  print_line(fmt::format("{:.2f} us, +- {:.2f} us, on {}", estimate.us, estimate.spread, fact(model, "device")));
  if (model.base) print_line(fmt::format("{} alone: {:.2f} us", fact(model, "base"), base_us));
  if (!outside.empty())
    print_line(fmt::format("Not like the kernels of the training: {}. So {} has the word.", fmt::join(outside, ", "),
                           model.base ? fact(model, "base") : "nobody"));
  Table table({"column", "sum", "times as long as without it"});
  table.align_right({1, 2});
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, columns.size()); ++i) {
    const auto at = static_cast<std::size_t>(std::ranges::find(model.setting.columns, columns[i].column) -
                                             model.setting.columns.begin());
    double sum = 0;
    for (const auto& row : features.stages) sum += row[at];
    table.add({columns[i].column, fmt::format("{:.6g}", sum), fmt::format("{:.2f}", columns[i].ratio)});
  }
  print(table.to_string());
  for (const learn::Sample* each : near)
    print_line(fmt::format("near: {:.2f} us measured, {:.2f} us said, {}", each->label_us(),
                           model.estimate(each->features).us, each->kernel));
  if (near.empty()) print_line("--data DATA shows the nearest measured kernels.");
  return ExitCode::kDone;
}

// --- check -----------------------------------------------------------------------------------------------------------

struct CheckCommand {
  std::string model, cost = "auto";
};

Result<ExitCode> check(const Settings& settings, const CheckCommand& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const LearnedModel model, LearnedModel::read(arguments.model, registry));
  const std::string device = fact(model, "device");
  const std::string name = arguments.cost == "auto" ? device.substr(0, device.find('|')) : arguments.cost;
  REWRIGHT_TRY(const CostModel* found, registry.get<CostModel>(name));
  const auto measuring = found->clone();
  REWRIGHT_CHECK(measuring->configure({}, registry));
  const Json kernels = Json::parse(fact(model, "check"), nullptr, false);
  if (!kernels.is_array() || kernels.empty())
    return make_error(ErrorCode::kParse, "'{}' names no kernels to check; rewright learn fit writes some",
                      arguments.model);
  Table table({"us here", "said", "in the training", "here by said", "kernel"});
  table.align_right({0, 1, 2, 3});
  std::vector<double> by_said, by_training;
  Json rows = Json::array();
  for (const Json& each : kernels) {
    if (!each.is_object() || !each.contains("kernel") || !each["kernel"].is_string() || !each.contains("us") ||
        !each["us"].is_number())
      return make_error(ErrorCode::kParse, "'{}': the kernels to check are damaged", arguments.model);
    REWRIGHT_TRY(const OwnedKernel owned, from_key(each["kernel"].get<std::string>(), registry));
    const Kernel kernel = owned.kernel();
    REWRIGHT_TRY(const double us, measuring->kernel_us(kernel));
    const double said = model.estimates({&kernel, 1}).front().us, before = each["us"].get<double>();
    by_said.push_back(us / said);
    by_training.push_back(us / before);
    rows.push_back({{"kernel", each["kernel"]}, {"us", us}, {"said_us", said}, {"training_us", before}});
    table.add({fmt::format("{:.2f}", us), fmt::format("{:.2f}", said), fmt::format("{:.2f}", before),
               fmt::format("{:.2f}", us / said), each["kernel"].get<std::string>()});
  }
  const auto median = [](std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  constexpr double kNear = 1.2;
  const double ratio = median(by_said);
  const bool is_near = ratio < kNear && ratio > 1 / kNear;
  if (settings.json) {
    print_json({{"device", measuring->device()},
                {"trained_on", device},
                {"median_by_said", ratio},
                {"median_by_training", median(by_training)},
                {"near", is_near},
                {"kernels", rows}});
  } else {
    print(table.to_string());
    print_line(fmt::format(
        "Half of them take {:.2f} times what is said, or less ({:.2f} times what they took in the training).", ratio,
        median(by_training)));
    print_line(fmt::format("Here: {}. Trained on: {}.", measuring->device(), device));
    if (!is_near)
      print_line("It is not of this machine: rewright learn sample measures here, rewright learn fit learns it.");
  }
  return is_near ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_learn_explaining(Program& program) {
  const Command group = program.group("learn", "Costs learned from measured kernels");
  const auto explained = std::make_shared<ExplainCommand>();
  const Command explain_command = program.command(
      group, "explain", "Says what a learned cost makes of a kernel, and why",
      {"rewright learn explain cost.onnx '(x:1x64x56x56, w:weight 64x64x3x3) conv2d[padding=same](x, w)'",
       "rewright learn explain cost.onnx '|relu|data(1, 64, 56, 56)' --data all.kernels"},
      [explained](const Settings& settings) { return explain(settings, *explained); });
  explain_command.add_option("MODEL", explained->model, "What rewright learn fit wrote").required();
  explain_command.add_option("KERNEL", explained->kernel, "Inputs with their sizes and what is computed, or a key")
      .required();
  explain_command.add_option("--data", explained->data, "Measured kernels, to name the nearest")
      .type_name("DATA")
      .repeatable();

  const auto checked = std::make_shared<CheckCommand>();
  const Command check_command = program.command(
      group, "check", "Measures twenty kernels here, and says how far a learned cost is off",
      {"rewright learn check cost.onnx"}, [checked](const Settings& settings) { return check(settings, *checked); });
  check_command.add_option("MODEL", checked->model, "What rewright learn fit wrote").required();
  check_command.add_option("--cost", checked->cost, "What measures (auto: what measured the training)").show_default();
}

}  // namespace rewright::cli
