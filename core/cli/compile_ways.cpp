#include "cli/compile_ways.h"

#include <algorithm>
#include <filesystem>

#include "cli/interrupt.h"

namespace rewright::cli {

namespace fs = std::filesystem;

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

Result<Tools> tools_of(const CompileArguments& arguments, const Registry& registry) {
  REWRIGHT_TRY(const Target* target, registry.get<Target>(arguments.target));
  REWRIGHT_CHECK(target->version());
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(arguments.runtime));
  REWRIGHT_CHECK(runtime->version());
  return Tools{target, runtime};
}

Result<Folders> folders_for(const std::string& way, const Workplace& workplace) {
  const Folders folders{workplace.built() + "/" + way, workplace.built() + "/" + way + ".built"};
  std::error_code code;
  for (const std::string& folder : {folders.written, folders.built}) fs::create_directory(folder, code);
  if (code) return make_error(ErrorCode::kIo, "'{}' cannot be made: {}", folders.written, code.message());
  return folders;
}

Result<std::unique_ptr<SeveralWays>> SeveralWays::of(const Settings& settings, const CompileArguments& arguments,
                                                     const Workplace& workplace) {
  REWRIGHT_TRY(Registry registry, settings.registry());
  std::unique_ptr<SeveralWays> made(new SeveralWays(arguments, workplace, std::move(registry), settings.quiet));
  REWRIGHT_TRY(const auto tools, tools_of(arguments, made->registry_));
  REWRIGHT_TRY(const std::string records, records_of(arguments));
  REWRIGHT_TRY(made->version_, read_version(arguments));
  REWRIGHT_CHECK(prepare(settings, arguments, made->registry_, *tools.runtime, records,
                         workplace.built() + "/optimised.onnx", made->version_));
  if (!records.empty()) {
    REWRIGHT_TRY(made->records_, ScheduleRecords::read(records));
  }
  return made;
}

Status SeveralWays::add(const std::string& name, const std::function<void(compile::CompileOptions&)>& change) {
  REWRIGHT_TRY(const auto tools, tools_of(arguments_, registry_));
  REWRIGHT_TRY(const Folders folders, folders_for(name, workplace_));
  compile::CompileOptions options = options_of(arguments_, folders, line_);
  options.measure = true;
  options.records = records_;
  change(options);
  const compile::OpenedVersion opened{&*version_.opened};
  REWRIGHT_TRY(compile::CompileReport report,
               compile::compile_model({&opened, 1}, *tools.target, *tools.runtime, options));
  report.rewrites = version_.rewrites;
  ways_.push_back({name, std::move(report)});
  return {};
}

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

}  // namespace rewright::cli
