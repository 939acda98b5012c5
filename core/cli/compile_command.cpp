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
#include "cli/compile_workplace.h"
#include "cli/interrupt.h"
#include "cli/open_sizes.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "compile/compile_model.h"
#include "compile/compile_regions.h"
#include "compile/fusion_search.h"
#include "compile/known_weights.h"
#include "learn/data_set.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

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

/// Folders for one of several ways to compile.
Result<Folders> folders_for(const std::string& way, const Workplace& workplace) {
  const Folders folders{workplace.built() + "/" + way, workplace.built() + "/" + way + ".built"};
  std::error_code code;
  for (const std::string& folder : {folders.written, folders.built}) fs::create_directory(folder, code);
  if (code) return make_error(ErrorCode::kIo, "'{}' cannot be made: {}", folders.written, code.message());
  return folders;
}

/// Each way is timed as a whole, in turn; the fastest is staged. Gains are over the first.
Result<Compiled> fastest(std::vector<compile::WayToCompile> ways, Workplace& workplace) {
  if (ways.empty()) return make_error(ErrorCode::kBudget, "stopped");
  std::string chosen = ways.front().name;
  if (std::ranges::any_of(ways, [](const auto& way) { return way.report.equal(); })) {
    std::erase_if(ways, [](const auto& way) { return !way.report.equal(); });
    REWRIGHT_CHECK(compile::time_in_turn(ways, [] { return !interrupted(); }));
    chosen = std::ranges::max_element(ways, {}, [](const auto& way) { return way.gain.median; })->name;
  }
  std::error_code code;
  fs::copy(workplace.built() + "/" + chosen, workplace.staged().path(), fs::copy_options::recursive, code);
  if (code) return make_error(ErrorCode::kIo, "'{}' cannot be written: {}", workplace.staged().path(), code.message());
  double measuring_s = 0;
  for (const auto& way : ways) measuring_s += way.report.measuring_s;
  Compiled compiled{std::ranges::find(ways, chosen, &compile::WayToCompile::name)->report, std::move(ways)};
  compiled.report.measuring_s = measuring_s;
  return compiled;
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

/// What is fused: how it is searched, and where the kernels' times go.
struct FusionAsked {
  compile::FusionOptions search;
  std::string data;  ///< A file of measured kernels; may be empty.
};
/// Taken out of what is left for the cost model.
Result<FusionAsked> take_fusion_options(Options& options) {
  FusionAsked asked;
  std::int64_t best = 3, seed = 1;
  struct Number {
    const char* name;
    std::int64_t* place;
    std::int64_t least, most;
  };
  const Number numbers[] = {
      {"moves", &asked.search.moves, 1, 1'000'000}, {"best", &best, 1, 100}, {"seed", &seed, 0, 1'000'000'000}};
  for (const Number& number : numbers) {
    const auto found = options.extract(number.name);
    if (found.empty()) continue;
    const auto* value = std::get_if<std::int64_t>(&found.mapped());
    if (value == nullptr || *value < number.least || *value > number.most)
      return make_error(ErrorCode::kUsage, "--fuse-option {} is a number from {} to {}", number.name, number.least,
                        number.most);
    *number.place = *value;
  }
  asked.search.best = static_cast<std::size_t>(best);
  asked.search.seed = static_cast<std::uint64_t>(seed);
  std::string start = "usual";
  for (const auto& [name, place] : {std::pair("start", &start), std::pair("data", &asked.data)}) {
    const auto found = options.extract(name);
    if (found.empty()) continue;
    const auto* value = std::get_if<std::string>(&found.mapped());
    if (value == nullptr) return make_error(ErrorCode::kUsage, "--fuse-option {} is a text", name);
    *place = *value;
  }
  if (start != "usual" && start != "random")
    return make_error(ErrorCode::kUsage, "--fuse-option start is '{}'; there are: usual, random", start);
  asked.search.from_random = start == "random";
  return asked;
}

/// The usual choice, and others: drawn, or the best by cost.
Result<compile::FusionReport> choose_fusions(const CompileArguments& arguments, const Graph& graph,
                                             const Registry& registry, const Options& options,
                                             compile::FusionOptions search, StepLine& line) {
  if (arguments.fuse == "random") {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "--fuse random has no option '{}'; there are: best, seed, data",
                        options.begin()->first);
    return compile::random_fusions(graph, registry, search.best, search.seed);
  }
  REWRIGHT_TRY(const CostModel* model, registry.get<CostModel>(arguments.fuse));
  const auto costs = model->clone();
  REWRIGHT_CHECK(costs->configure(options, registry));
  search.goes_on = [&](std::int64_t moves) {
    if (moves % 50 == 0) line.begin(fmt::format("search what is fused, move {} of {}", moves, search.moves));
    return !interrupted();
  };
  return compile::search_fusion(graph, registry, *costs, search);
}

/// Kernels as they ran among the others.
Status keep_times(const std::string& file, const CompileArguments& arguments,
                  const std::vector<compile::WayToCompile>& ways) {
  std::map<std::string, std::vector<double>> us;
  for (const compile::WayToCompile& way : ways) {
    for (const compile::KernelTime& time : way.report.profile) {
      if (!time.key.empty() && time.us > 0) us[time.key].push_back(time.us);
    }
  }
  return learn::append_data(file, fmt::format("compiled|c {}, in its network, {}", arguments.dialect, processor_name()),
                            fs::path(arguments.model).stem().string(), us);
}

/// The model with all fused that can be, and otherwise.
Result<Compiled> fused_in_several_ways(const Settings& settings, const CompileArguments& arguments,
                                       Workplace& workplace) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const auto tools, tools_of(arguments, registry));
  REWRIGHT_TRY(Options options, read_options(arguments.fuse_options, "--fuse-option"));
  REWRIGHT_TRY(const FusionAsked asked, take_fusion_options(options));
  if (!asked.data.empty()) REWRIGHT_CHECK(keep_times(asked.data, arguments, {}));  // Can it be written?
  REWRIGHT_TRY(const std::string records, records_of(arguments));
  REWRIGHT_TRY(Version version, read_version(arguments));
  REWRIGHT_CHECK(
      prepare(settings, arguments, registry, *tools.runtime, records, workplace.built() + "/optimised.onnx", version));
  StepLine line(settings.quiet);
  line.begin("search what is fused");
  REWRIGHT_TRY(const Graph graph, compile::with_known_weights(version.opened->start()));
  REWRIGHT_TRY(compile::FusionReport found, choose_fusions(arguments, graph, registry, options, asked.search, line));
  std::vector<compile::FusionChoice> choices = {found.usual};
  choices.insert(choices.end(), found.best.begin(), found.best.end());
  std::vector<compile::WayToCompile> ways;
  for (std::size_t i = 0; i < choices.size() && !interrupted(); ++i) {
    const std::string name = i == 0 ? "usual" : fmt::format("{}", i);
    REWRIGHT_TRY(const Folders folders, folders_for(name, workplace));
    compile::CompileOptions one = options_of(arguments, folders, line);
    one.measure = true;
    one.stored = choices[i].stored;
    if (!records.empty()) {
      REWRIGHT_TRY(one.records, ScheduleRecords::read(records));
    }
    const compile::OpenedVersion opened{&*version.opened};
    REWRIGHT_TRY(compile::CompileReport report,
                 compile::compile_model({&opened, 1}, *tools.target, *tools.runtime, one));
    report.rewrites = version.rewrites;
    if (!report.not_compiled.empty()) return Compiled{std::move(report)};
    ways.push_back({name, std::move(report)});
  }
  if (!asked.data.empty()) REWRIGHT_CHECK(keep_times(asked.data, arguments, ways));
  REWRIGHT_TRY(Compiled compiled, fastest(std::move(ways), workplace));
  compiled.fusion = std::move(found);
  return compiled;
}

Result<Compiled> compiled(const Settings& settings, const CompileArguments& arguments, Workplace& workplace) {
  const auto made = [&]() -> Result<Compiled> {
    if (!arguments.fuse.empty()) return fused_in_several_ways(settings, arguments, workplace);
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
  command
      .add_option("--fuse", arguments->fuse,
                  "What is fused is searched by this cost model, or random: the best and the usual are timed as wholes")
      .type_name("COST")
      .excludes(open)
      .excludes(regions);
  command
      .add_option(
          "--fuse-option", arguments->fuse_options,
          "NAME=VALUE of the cost model, or: moves (2000), best (3: how many are timed beside the usual), start "
          "(usual, random), seed (repeatable)")
      .repeatable();
  const Argument simplify =
      command.add_flag("--simplify", arguments->simplify, "Fold what is known before a run first; the default");
  command.add_flag("--no-simplify", arguments->as_it_is, "Compile the model's nodes as they are").excludes(simplify);
  command.add_flag(
      "--measure", arguments->measure,
      "Time code, kernels and runtime on as many threads; exit code 1 if the code, which is written, is slower");
}

}  // namespace rewright::cli
