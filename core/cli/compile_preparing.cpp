#include "cli/compile_preparing.h"

#include <array>
#include <filesystem>

#include "base/files.h"
#include "cli/compile_workplace.h"
#include "cli/open_sizes.h"
#include "cli/optimize_arguments.h"
#include "cli/optimize_outcome.h"
#include "cli/tune_arguments.h"
#include "tune/user_cache.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

/// The model that rules make of it. "rules": by modelled costs, whatever schedules there are. "joint": kernels cost
/// what their best schedules take, of as many as the effort tries; the search begins at the model and at what "rules"
/// makes of it, and the cheaper of both results counts.
Result<OptimizedBefore> rewritten(const Settings& settings, const CompileArguments& arguments,
                                  const std::string& records, const std::string& output) {
  constexpr std::array<int, 3> kSeconds = {30, 120, 900}, kTrials = {1, 8, 48};
  const auto effort = static_cast<std::size_t>(arguments.effort);
  OptimizeArguments optimize;
  optimize.input = arguments.model;
  optimize.output = output;
  optimize.dims = arguments.dims;
  optimize.inputs = arguments.inputs;
  optimize.runtime = arguments.runtime;
  optimize.seconds = 2 * kSeconds[effort];
  optimize.freeze = optimize.no_measure = optimize.no_record = true;
  StepLine line(settings.quiet);
  Settings inside = settings;
  inside.quiet = true;
  line.begin(fmt::format("search rules, {} s at most", 2 * kSeconds[effort]));
  if (arguments.optimize == "rules") return optimize_before(optimize, inside);

  OptimizeArguments joint = optimize;
  joint.cost = "tuned";
  joint.cost_options = {"records=" + records, "fallback=flops", fmt::format("trials={}", kTrials[effort]),
                        fmt::format("seconds={}", kSeconds[effort])};
  joint.search = "greedy";  // Few kernels are asked about.
  joint.threads = 1;
  joint.seconds = kSeconds[effort];
  optimize.output = output + ".rules.onnx";
  REWRIGHT_TRY(const OptimizedBefore rules, optimize_before(optimize, inside));
  line.begin(fmt::format("search rules and schedules, {} s at most", 2 * kSeconds[effort]));
  REWRIGHT_TRY(OptimizedBefore from_model, optimize_before(joint, inside));
  if (rules.rewrites == 0) return from_model;
  joint.input = optimize.output;
  joint.dims.clear();  // They are fixed there.
  REWRIGHT_TRY(OptimizedBefore from_rules, optimize_before(joint, inside));
  if (from_rules.cost_us > from_model.cost_us) return from_model;
  from_rules.rewrites += rules.rewrites;
  return from_rules;
}

}  // namespace

Result<ModelSource> read_source(const CompileArguments& arguments) {
  const std::string parent = fs::path(arguments.model).parent_path().string();
  ModelSource source;
  source.file = "'" + arguments.model + "'";
  source.directory = parent.empty() ? "." : parent;
  source.freeze = true;
  REWRIGHT_TRY(source.inputs, read_inputs(arguments.inputs));
  REWRIGHT_TRY(source.bytes, read_file(arguments.model));
  return source;
}

Result<std::string> records_of(const CompileArguments& arguments) {
  const bool needs_none = arguments.effort == 0 && arguments.optimize != "joint";
  if (!arguments.records.empty() || needs_none) return arguments.records;
  REWRIGHT_TRY(const std::string folder, tune::user_cache());
  return folder + "/schedules";
}

Status search_schedules(const Settings& settings, const CompileArguments& arguments, const std::string& model,
                        const std::string& records) {
  constexpr std::array<std::int64_t, 3> kTrials = {0, 8, 48};
  constexpr std::array<int, 3> kSeconds = {0, 240, 900};
  if (arguments.effort == 0) return {};
  TuneArguments tune;
  tune.what = model;
  tune.sizes = arguments.dims;
  tune.choice.dialect = arguments.dialect;
  tune.records = records;
  tune.seconds = kSeconds[static_cast<std::size_t>(arguments.effort)];
  return tune_before(settings, tune, kTrials[static_cast<std::size_t>(arguments.effort)]);
}

Status prepare(const Settings& settings, CompileArguments arguments, const Registry& registry, const Runtime& runtime,
               const std::string& records, const std::string& rewritten_model, Version& version) {
  for (const auto& [name, size] : version.sizes) arguments.dims.push_back(fmt::format("{}={}", name, size));
  REWRIGHT_TRY(version.source.sizes, read_dims(arguments.dims));
  std::optional<OptimizedBefore> optimized;
  std::string model = arguments.model;
  if (arguments.optimize != "no") {
    REWRIGHT_TRY(optimized, rewritten(settings, arguments, records, rewritten_model));
    version.rewrites = optimized->rewrites;
  }
  if (version.rewrites > 0) {
    model = rewritten_model;
    arguments.dims.clear();  // They are fixed there.
  }
  REWRIGHT_CHECK(search_schedules(settings, arguments, model, records));
  StepLine line(settings.quiet);
  REWRIGHT_TRY(version.opened, open_model(version.source, registry, &runtime));
  OpenedModel& opened = *version.opened;
  REWRIGHT_CHECK(check_given(opened.imported.graph, version.source.inputs));
  if (version.rewrites > 0) {
    version.rewritten = optimized->bytes;
    return start_from(opened, version.rewritten);
  }
  if (!arguments.as_it_is) simplify(opened);
  return {};
}

Result<Version> read_version(const CompileArguments& arguments) {
  Version version;
  REWRIGHT_TRY(version.source, read_source(arguments));
  return version;
}

Result<std::string> start_of(const CompileArguments& arguments, const Version& version) {
  const OpenedModel& opened = *version.opened;
  if (version.rewrites > 0) return version.rewritten;
  if (arguments.as_it_is) return version.source.bytes;
  REWRIGHT_TRY(Simplified simplified,
               simplify_model(std::as_bytes(std::span(version.source.bytes)), {.dimensions = opened.sizes.front(),
                                                                               .file = version.source.file,
                                                                               .directory = version.source.directory,
                                                                               .freeze = true}));
  return simplified.model.empty() ? version.source.bytes : std::move(simplified.model);
}

}  // namespace rewright::cli
