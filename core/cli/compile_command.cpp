// rewright compile MODEL.onnx -o DIR
//
// import -> simplify -> kernels -> loop programs -> C -> compared with the original -> DIR. Nothing is handed over that
// was not compared.
#include <rewright/base/command.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/compile_preparing.h"
#include "cli/compile_report.h"
#include "cli/compile_ways.h"
#include "cli/compile_workplace.h"
#include "cli/interrupt.h"
#include "cli/open_sizes.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "compile/compile_model.h"
#include "compile/compile_page.h"
#include "compile/compile_regions.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

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
  REWRIGHT_TRY(options.algorithms,
               compile::algorithm_of_all(arguments.algorithm, opened.front().model->start(), arguments.model));
  if (!records.empty()) {
    REWRIGHT_TRY(options.records, ScheduleRecords::read(records));
  }
  REWRIGHT_TRY(compile::CompileReport report, compile::compile_model(opened, *tools.target, *tools.runtime, options));
  report.rewrites = rewrites;
  return std::optional(std::move(report));
}

/// The model as it is, by rules, and by rules and schedules together, each with its schedules. What kernels cost one by
/// one does not tell which is fastest.
Result<Compiled> rewritten_in_several_ways(const Settings& settings, const CompileArguments& arguments,
                                           Workplace& workplace) {
  std::vector<compile::WayToCompile> ways;
  std::set<std::string> known;
  for (const char* optimize : {"joint", "rules", "no"}) {  // The first makes the store of schedules.
    if (interrupted()) break;
    CompileArguments one = arguments;
    one.optimize = optimize;
    one.measure = true;
    REWRIGHT_TRY(const Folders folders, folders_for(optimize, workplace));
    REWRIGHT_TRY(auto report, compiled_in(folders, settings, one, known));
    if (report) ways.push_back({optimize, *std::move(report)});
  }
  // The model as it is comes first.
  std::ranges::stable_sort(ways, {}, [](const auto& way) { return way.report.rewrites > 0; });
  return fastest(std::move(ways), workplace);
}

Result<Compiled> compiled(const Settings& settings, const CompileArguments& arguments, Workplace& workplace) {
  const auto made = [&]() -> Result<Compiled> {
    if (!arguments.fuse.empty()) return fused_in_several_ways(settings, arguments, workplace);
    if (!arguments.algorithms.empty()) return computed_in_several_ways(settings, arguments, workplace);
    if (arguments.in_context > 0) return chosen_in_context(settings, arguments, workplace);
    if (arguments.optimize == "joint") return rewritten_in_several_ways(settings, arguments, workplace);
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
    REWRIGHT_CHECK(search_schedules(settings, region, file, records));
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
  if (!arguments.report.empty() && report.equal())
    REWRIGHT_CHECK(write_file(arguments.report, compiling_html(compile::page_of(
                                                    done->report, fs::path(arguments.model).filename().string()))));
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
       "rewright compile model.onnx -o model_c --records my.store --in-context 3",
       "rewright compile model.onnx -o model_c --algorithms all --measure",
       "rewright compile model.onnx -o model_c --algorithm im2col --measure",
       "rewright compile model.onnx -o model_c --open batch=1..8 --dim sequence=128",
       "rewright compile model.onnx -o model_c --measure --report kernels.html",
       "rewright compile model.onnx -o model_c --regions",
       "rewright compile model.onnx -o model_c --fuse random --fuse-option best=8 --fuse-option data=my.kernels",
       "rewright compile model.onnx -o model_c --fuse learned --fuse-option file=learned.onnx",
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
  const Argument regions =
      command
          .add_flag(
              "--regions", arguments->regions,
              "For ONNX Runtime: what can be compiled and is faster becomes an operator of NAME.onnx; the rest stays")
          .excludes(open);
  command.add_flag("--force", arguments->force, "Write into a folder that exists");
  const Argument fuse =
      command
          .add_option(
              "--fuse", arguments->fuse,
              "What is fused is searched by this cost model, or random: the best and the usual are timed as wholes")
          .type_name("COST")
          .excludes(open)
          .excludes(regions);
  std::vector<std::string> algorithms = compile::algorithm_names();
  const Argument algorithm =
      command
          .add_option("--algorithm", arguments->algorithm,
                      "By which all convolutions that it fits are computed, whether that is faster or not")
          .check(one_of(algorithms))
          .excludes(open)
          .excludes(regions)
          .excludes(fuse);
  algorithms.emplace_back("all");
  const Argument choice =
      command
          .add_option("--algorithms", arguments->algorithms,
                      "By which convolutions may be computed: each is timed in the model, and a node takes the one by "
                      "which it is fastest there (repeatable)")
          .check(one_of(algorithms))
          .repeatable()
          .excludes(open)
          .excludes(regions)
          .excludes(fuse)
          .excludes(algorithm);
  command
      .add_option("--in-context", arguments->in_context,
                  "So many of each kernel's best schedules are timed among the other kernels, where the fastest alone "
                  "may not be the fastest")
      .check(in_range(2, 16))
      .excludes(open)
      .excludes(regions)
      .excludes(fuse)
      .excludes(algorithm)
      .excludes(choice);
  command
      .add_option(
          "--fuse-option", arguments->fuse_options,
          "NAME=VALUE of the cost model, or: moves (2000), best (3: how many are timed beside the usual), start "
          "(usual, random), seed (repeatable)")
      .repeatable();
  const Argument simplify =
      command.add_flag("--simplify", arguments->simplify, "Fold what is known before a run first; the default");
  command.add_flag("--no-simplify", arguments->as_it_is, "Compile the model's nodes as they are").excludes(simplify);
  const Argument measure = command.add_flag(
      "--measure", arguments->measure,
      "Time code, kernels and runtime on as many threads; exit code 1 if the code, which is written, is slower");
  command
      .add_option("--report", arguments->report,
                  "A page of the kernels: time and share of each, and what this machine allows")
      .type_name("FILE")
      .needs(measure)
      .excludes(regions);
}

}  // namespace rewright::cli
