// rewright compile MODEL.onnx -o DIR
//
// import -> simplify -> kernels -> loop programs -> C -> compared with the original -> DIR. Nothing is handed over that
// was not compared.
#include <rewright/base/command.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/compile_report.h"
#include "cli/compile_workplace.h"
#include "cli/interrupt.h"
#include "cli/open_sizes.h"
#include "cli/optimize_arguments.h"
#include "cli/optimize_outcome.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "compile/compile_model.h"
#include "compile/compile_regions.h"
#include "tune/user_cache.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

struct CompileArguments {
  std::string model;
  std::string folder;
  std::vector<std::string> dims, open;
  std::string target = "c";
  std::string dialect = "vectors";
  int threads = 1;
  std::string runtime = "onnxruntime";
  std::vector<std::string> inputs;
  int seconds = 300;
  bool force = false;
  bool simplify = false;  ///< The default; so that it can be said.
  bool as_it_is = false;
  bool measure = false;
  bool regions = false;
  std::string records;
  int effort = 0;
  std::string optimize = "no";
};

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

/// Where schedules are: what was said, or the user's cache where some are to be found. Empty: there are none.
Result<std::string> records_of(const CompileArguments& arguments) {
  const bool needs_none = arguments.effort == 0 && arguments.optimize != "joint";
  if (!arguments.records.empty() || needs_none) return arguments.records;
  REWRIGHT_TRY(const std::string folder, tune::user_cache());
  return folder + "/schedules";
}

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

/// The greater the effort, the more schedules of each kernel are tried first, those first that promise most, until the
/// time is over; those of earlier runs count.
Status search(const Settings& settings, const CompileArguments& arguments, const std::string& model,
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

/// A model at its sizes, as it is compiled.
struct Version {
  compile::OpenSizes sizes;
  ModelSource source;
  std::optional<OpenedModel> opened = {};
  std::size_t rewrites = 0;
  std::string rewritten = {};  ///< The model after them.
};

/// Rewritten, tuned and opened, as is asked for.
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
  REWRIGHT_CHECK(search(settings, arguments, model, records));
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

/// The model that regions are taken of, at fixed sizes: rewritten or simplified, as is asked for.
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

/// Where code is written, and where what is built of it.
struct Folders {
  std::string written, built;
};

compile::CompileOptions options_of(const CompileArguments& arguments, const Folders& folders, StepLine& line) {
  compile::CompileOptions options{.name = compile::artefact_name(fs::path(arguments.model).stem().string()),
                                  .folder = folders.written,
                                  .built = folders.built,
                                  .dialect = arguments.dialect,
                                  .threads = arguments.threads,
                                  .measure = arguments.measure,
                                  .seconds = arguments.seconds};
  options.goes_on = [&line](const std::string& step) {
    line.begin(step);
    return !interrupted();
  };
  return options;
}

struct Tools {
  const Target* target;
  const Runtime* runtime;
};
Result<Tools> tools_of(const CompileArguments& arguments, const Registry& registry) {
  REWRIGHT_TRY(const Target* target, registry.get<Target>(arguments.target));
  REWRIGHT_CHECK(target->version());
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(arguments.runtime));
  REWRIGHT_CHECK(runtime->version());
  return Tools{target, runtime};
}

/// The plugin for oneDNN, ready; none where it is not installed, or not on one thread.
Result<std::unique_ptr<CostModel>> primitives(const CompileArguments& arguments, const Registry& registry) {
  const CostModel* found = registry.find<CostModel>("onednn");
  if (found == nullptr || arguments.threads > 1) return std::unique_ptr<CostModel>();
  auto model = found->clone();
  REWRIGHT_CHECK(model->configure({}, registry));
  return model;
}

/// In these folders. Nothing where the models that it would compile are `known` from before.
Result<std::optional<compile::CompileReport>> compiled_in(const Folders& folders, const Settings& settings,
                                                          const CompileArguments& arguments,
                                                          std::set<std::string>& known) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const auto tools, tools_of(arguments, registry));
  REWRIGHT_TRY(const auto given, read_dims(arguments.dims));
  REWRIGHT_TRY(const auto choices, read_open_sizes(arguments.open, given));
  REWRIGHT_TRY(const ModelSource source, read_source(arguments));
  REWRIGHT_TRY(const std::string records, records_of(arguments));
  std::deque<Version> versions;  // An opened model borrows its source.
  std::vector<compile::OpenedVersion> opened;
  std::size_t rewrites = 0;
  std::string models;
  for (const auto& sizes : choices) {
    Version& version = versions.emplace_back(sizes, source);
    REWRIGHT_CHECK(
        prepare(settings, arguments, registry, *tools.runtime, records, folders.built + "/optimised.onnx", version));
    opened.push_back({&*version.opened, sizes});
    rewrites = std::max(rewrites, version.rewrites);
    models += version.rewritten;
  }
  if (!known.insert(std::move(models)).second) return std::optional<compile::CompileReport>();
  StepLine line(settings.quiet);
  compile::CompileOptions options = options_of(arguments, folders, line);
  REWRIGHT_TRY(const std::unique_ptr<CostModel> beside, primitives(arguments, registry));
  options.beside = beside.get();
  if (!records.empty()) {
    REWRIGHT_TRY(options.records, ScheduleRecords::read(records));
  }
  REWRIGHT_TRY(compile::CompileReport report, compile::compile_model(opened, *tools.target, *tools.runtime, options));
  report.rewrites = rewrites;
  return std::optional(std::move(report));
}

/// The model as it is, by rules, and by rules and schedules together, each with its schedules, timed as wholes in turn;
/// the fastest is staged. What kernels cost one by one does not tell which that is.
Result<Compiled> fastest(const Settings& settings, const CompileArguments& arguments, Workplace& workplace) {
  std::vector<compile::WayToCompile> ways;
  std::set<std::string> known;
  std::error_code code;
  const auto written = [&](const std::string& name) { return workplace.built() + "/" + name; };
  for (const char* optimize : {"joint", "rules", "no"}) {  // The first makes the store of schedules.
    if (interrupted()) break;
    CompileArguments one = arguments;
    one.optimize = optimize;
    one.measure = true;
    const Folders folders{written(optimize), written(optimize) + ".built"};
    for (const std::string& folder : {folders.written, folders.built}) fs::create_directory(folder, code);
    if (code) return make_error(ErrorCode::kIo, "'{}' cannot be made: {}", folders.written, code.message());
    REWRIGHT_TRY(auto report, compiled_in(folders, settings, one, known));
    if (report) ways.push_back({optimize, *std::move(report)});
  }
  if (ways.empty()) return make_error(ErrorCode::kBudget, "stopped");
  // The model as it is comes first: gains are over it.
  std::ranges::stable_sort(ways, {}, [](const auto& way) { return way.report.rewrites > 0; });
  std::string chosen = ways.front().name;
  if (std::ranges::any_of(ways, [](const auto& way) { return way.report.equal(); })) {
    std::erase_if(ways, [](const auto& way) { return !way.report.equal(); });
    REWRIGHT_CHECK(compile::time_in_turn(ways, [] { return !interrupted(); }));
    chosen = std::ranges::max_element(ways, {}, [](const auto& way) { return way.gain.median; })->name;
  }
  fs::copy(written(chosen), workplace.staged().path(), fs::copy_options::recursive, code);
  if (code) return make_error(ErrorCode::kIo, "'{}' cannot be written: {}", workplace.staged().path(), code.message());
  double measuring_s = 0;
  for (const auto& way : ways) measuring_s += way.report.measuring_s;
  Compiled compiled{std::ranges::find(ways, chosen, &compile::WayToCompile::name)->report, std::move(ways)};
  compiled.report.measuring_s = measuring_s;
  return compiled;
}

Result<Compiled> compiled(const Settings& settings, const CompileArguments& arguments, Workplace& workplace) {
  const auto made = [&]() -> Result<Compiled> {
    if (arguments.optimize == "joint") return fastest(settings, arguments, workplace);
    std::set<std::string> known;
    REWRIGHT_TRY(auto report, compiled_in({workplace.staged().path(), workplace.built()}, settings, arguments, known));
    return Compiled{*std::move(report), {}};
  };
  REWRIGHT_TRY(Compiled compiled, made());
  if (compiled.report.equal() && !interrupted()) REWRIGHT_CHECK(workplace.staged().commit());
  return compiled;
}

/// The model's operators as far as they are faster as C, and the rest as it is.
Result<compile::RegionsReport> compiled_regions(const Settings& settings, const CompileArguments& arguments,
                                                Workplace& workplace) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const auto tools, tools_of(arguments, registry));
  REWRIGHT_TRY(Version version, read_version(arguments));
  REWRIGHT_TRY(const std::string records, records_of(arguments));
  CompileArguments whole = arguments;
  whole.effort = 0;  // Schedules are searched for regions.
  REWRIGHT_CHECK(
      prepare(settings, whole, registry, *tools.runtime, records, workplace.built() + "/optimised.onnx", version));
  REWRIGHT_TRY(const std::string start, start_of(arguments, version));
  StepLine line(settings.quiet);
  compile::RegionOptions options;
  options.compile = options_of(arguments, {workplace.staged().path(), workplace.built()}, line);
  options.schedules = [&](const std::string& file) -> Result<std::vector<ScheduleRecord>> {
    if (records.empty()) return std::vector<ScheduleRecord>();
    CompileArguments region = arguments;
    region.dims.clear();
    REWRIGHT_CHECK(search(settings, region, file, records));
    return ScheduleRecords::read(records);
  };
  REWRIGHT_TRY(compile::RegionsReport report,
               compile::compile_regions(*version.opened, start, *tools.target, *tools.runtime, options));
  if (report.equivalence.equal() && report.kept() > 0 && !interrupted()) REWRIGHT_CHECK(workplace.staged().commit());
  return report;
}

/// What is said of a file by the name that it was to have.
Error in_place(Error error, const std::string& staged, const std::string& folder) {
  for (std::size_t at = 0; (at = error.message.find(staged, at)) != std::string::npos; at += folder.size()) {
    error.message.replace(at, staged.size(), folder);
  }
  return error;
}

/// Once, whichever thread is first.
void stop(const Settings& settings, Workplace& workplace, std::once_flag& once) {
  std::call_once(once, [&] {
    const bool is_written = !workplace.clear();
    if (settings.json) print_json({{"stopped_early", true}, {"written", is_written}});
    note(is_written ? "stopped after the result was written" : "stopped; nothing was written", settings.quiet);
  });
}

Result<ExitCode> compile_command(const Settings& settings, const CompileArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  heed_interrupts();
  REWRIGHT_TRY(const auto workplace, Workplace::make(arguments.folder, arguments.force));
  std::once_flag stopped;
  const StopInTime stop_in_time([&] { stop(settings, *workplace, stopped); });
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  if (arguments.regions) {
    const auto report = compiled_regions(settings, arguments, *workplace);
    if (interrupted()) {
      stop(settings, *workplace, stopped);
      return ExitCode::kStopped;
    }
    if (!report) return in_place(report.error(), workplace->staged().path(), arguments.folder);
    if (settings.json) {
      print_json(compile_json(*report, seconds()));
    } else {
      print_compile_report(*report, compile::artefact_name(fs::path(arguments.model).stem().string()), arguments.folder,
                           seconds());
    }
    const bool is_good = report->kept() > 0 && report->equivalence.equal() && !report->times->slower();
    return is_good ? ExitCode::kDone : ExitCode::kNegative;
  }
  const auto done = compiled(settings, arguments, *workplace);
  if (interrupted()) {
    stop(settings, *workplace, stopped);
    return ExitCode::kStopped;
  }
  if (!done) return in_place(done.error(), workplace->staged().path(), arguments.folder);
  const compile::CompileReport& report = done->report;
  if (settings.json) {
    print_json(compile_json(*done, seconds() - report.measuring_s));
  } else {
    print_compile_report(*done, arguments.folder, seconds() - report.measuring_s);
  }
  return report.equal() && !report.worst().is_slower() ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_compile(Program& program) {
  auto arguments = std::make_shared<CompileArguments>();
  const Command command = program.command(
      program.root(), "compile", "Compiles a model to C that computes the same",
      {"rewright compile model.onnx -o model_c", "rewright compile model.onnx -o model_c --dim batch=1 --measure",
       "rewright compile model.onnx -o model_c --effort 2 --records my.store --measure",
       "rewright compile model.onnx -o model_c --optimize joint --effort 2 --measure",
       "rewright compile model.onnx -o model_c --open batch=1..8 --dim sequence=128",
       "rewright compile model.onnx -o model_c --regions",
       "rewright compile model.onnx -o model_c --input mask=1 --force --json"},
      [arguments](const Settings& settings) { return compile_command(settings, *arguments); });
  command.add_option("MODEL", arguments->model, "The ONNX model").required();
  command.add_option("-o,--output", arguments->folder, "The folder for code and weights").required();
  command
      .add_option("--dim", arguments->dims,
                  "NAME=SIZE: a size that the model leaves open (repeatable; default: a plausible one)")
      .repeatable();
  const Argument open =
      command
          .add_option(
              "--open", arguments->open,
              "NAME=1..16 or NAME=1,2,4: code for each of these sizes, which a run chooses between (repeatable)")
          .repeatable();
  command
      .add_option("--input", arguments->inputs,
                  "NAME=SOURCE: what an input holds when outputs are compared, as of rewright optimize (repeatable)")
      .repeatable();
  command.add_option("--target", arguments->target, "What writes the code").show_default();
  command
      .add_option("--dialect", arguments->dialect,
                  "c11: plain C, as it is; vectors: scheduled, for this processor; vectors-avx512, vectors-avx2, "
                  "vectors-portable: for others")
      .show_default();
  command.add_option("--runtime", arguments->runtime, "What the result is compared with").show_default();
  command.add_option("--threads", arguments->threads, "That a run uses, where code has vectors")
      .check(in_range(1, 256))
      .show_default();
  command.add_option("--seconds", arguments->seconds, "How long the compiler, and a run, may take")
      .check(positive())
      .show_default();
  command
      .add_option(
          "--effort", arguments->effort,
          "Schedules tried of each kernel first: 0 none, 1 some (4 minutes at most), 2 many (15 minutes at most)")
      .check(in_range(0, 2))
      .show_default();
  command
      .add_option(
          "--optimize", arguments->optimize,
          "Rules first: no; rules, by modelled costs; joint, both of these and by what kernels take with their best "
          "schedules, each timed as a whole: the fastest")
      .check(one_of({"no", "rules", "joint"}))
      .show_default();
  command
      .add_option(
          "--records", arguments->records,
          "A store with schedules, of which each kernel takes its best (with --effort, default: in the user's cache)")
      .type_name("STORE");
  command
      .add_flag("--regions", arguments->regions,
                "For ONNX Runtime: what can be compiled and is faster becomes an operator of NAME.onnx; the rest stays")
      .excludes(open);
  command.add_flag("--force", arguments->force, "Write into a folder that exists");
  const Argument simplify =
      command.add_flag("--simplify", arguments->simplify, "Fold what is known before a run first; the default");
  command.add_flag("--no-simplify", arguments->as_it_is, "Compile the model's nodes as they are").excludes(simplify);
  command.add_flag(
      "--measure", arguments->measure,
      "Time code, kernels and runtime on as many threads; exit code 1 if the code, which is written, is slower");
}

}  // namespace rewright::cli
