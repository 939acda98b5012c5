#include "compile/compile_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "compile/compile_page.h"
#include "compile/staged_folder.h"
#include "optimize/input_source.h"
#include "store/schedule_records.h"

namespace rewright::compile {
namespace {

namespace fs = std::filesystem;

/// What is built and run lies in a folder that goes with this object.
class BuildFolder {
 public:
  static Result<BuildFolder> make() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "rewright-compile-XXXXXX").string();
    if (error || ::mkdtemp(pattern.data()) == nullptr)
      return make_error(ErrorCode::kIo, "no folder can be made in '{}'; TMPDIR names another place",
                        fs::path(pattern).parent_path().string());
    return BuildFolder(pattern);
  }
  BuildFolder(BuildFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  ~BuildFolder() {
    if (!path_.empty()) remove_at_once(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit BuildFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct Tools {
  const Target* target;
  const Runtime* runtime;
};

Result<Tools> tools_of(const CompileRequest& request, const Registry& registry) {
  REWRIGHT_TRY(const Target* target, registry.get<Target>(request.target));
  REWRIGHT_CHECK(target->version());
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(request.runtime));
  REWRIGHT_CHECK(runtime->version());
  return Tools{target, runtime};
}

Result<CompileOptions> options_of(const CompileRequest& request, std::string folder, std::string built) {
  CompileOptions options{.name = artefact_name(request.name),
                         .folder = std::move(folder),
                         .built = std::move(built),
                         .dialect = request.dialect,
                         .threads = request.threads,
                         .measure = request.measure || !request.page.empty() || !request.algorithms.empty(),
                         .seconds = request.seconds,
                         .goes_on = request.goes_on};
  if (!request.records.empty()) {
    REWRIGHT_TRY(options.records, ScheduleRecords::read(request.records));
  }
  return options;
}

/// With each of the algorithms, and with those by which nodes are fastest: the fastest as a whole is staged.
Result<CompiledFolder> fastest_of_algorithms(const CompileRequest& request, const Tools& tools,
                                             const OpenedModel& opened, const std::string& staged,
                                             const std::string& built) {
  std::vector<WayToCompile> ways;
  const OpenedVersion version{&opened};
  const auto is_to_stop = [&] { return request.goes_on && !request.goes_on("time in turn"); };
  const CompileWay add = [&](const std::string& name, const Algorithms& algorithms) -> Result<const CompileReport*> {
    const std::string folder = built + "/" + name;
    std::error_code code;
    for (const std::string& made : {folder, folder + ".built"}) fs::create_directory(made, code);
    if (code) return make_error(ErrorCode::kIo, "'{}' cannot be made: {}", folder, code.message());
    REWRIGHT_TRY(CompileOptions options, options_of(request, folder, folder + ".built"));
    options.algorithms = algorithms;
    REWRIGHT_TRY(CompileReport report, compile_model({&version, 1}, *tools.target, *tools.runtime, options));
    ways.push_back({name, std::move(report)});
    return &ways.back().report;
  };
  REWRIGHT_TRY(AlgorithmChoice choice, choose_algorithms(opened.start(), request.algorithms, add));
  if (!ways.front().report.equal()) return CompiledFolder{std::move(ways.front().report)};
  std::erase_if(ways, [](const WayToCompile& way) { return !way.report.equal(); });
  REWRIGHT_CHECK(time_in_turn(ways, [&] { return !is_to_stop(); }));
  WayToCompile& best = *std::ranges::max_element(ways, {}, [](const WayToCompile& way) { return way.gain.median; });
  std::error_code code;
  fs::copy(built + "/" + best.name, staged, fs::copy_options::recursive, code);
  if (code) return make_error(ErrorCode::kIo, "'{}' cannot be written: {}", staged, code.message());
  return CompiledFolder{std::move(best.report), std::move(choice)};
}

Result<CompiledFolder> compiled(const CompileRequest& request, const Tools& tools, const Registry& registry,
                                const std::string& staged, const std::string& built) {
  REWRIGHT_TRY(OpenedModel opened, open_model(request.source, registry, tools.runtime));
  REWRIGHT_CHECK(check_given(opened.imported.graph, request.source.inputs));
  if (request.simplified) simplify(opened);
  if (!request.algorithms.empty()) return fastest_of_algorithms(request, tools, opened, staged, built);
  REWRIGHT_TRY(CompileOptions options, options_of(request, staged, built));
  REWRIGHT_TRY(options.algorithms, algorithm_of_all(request.algorithm, opened.start(), request.name));
  const OpenedVersion version{&opened};
  REWRIGHT_TRY(CompileReport report, compile_model({&version, 1}, *tools.target, *tools.runtime, options));
  return CompiledFolder{std::move(report)};
}

}  // namespace

Result<CompiledFolder> compile_to_folder(const CompileRequest& request, const Registry& registry) {
  if (!request.algorithm.empty() && !request.algorithms.empty())
    return make_error(ErrorCode::kUsage, "one algorithm, '{}', and several to choose from exclude each other",
                      request.algorithm);
  REWRIGHT_TRY(const Tools tools, tools_of(request, registry));
  REWRIGHT_TRY(const auto staged, StagedFolder::make(request.folder, request.force));
  REWRIGHT_TRY(const BuildFolder built, BuildFolder::make());
  REWRIGHT_TRY(CompiledFolder made, compiled(request, tools, registry, staged->path(), built.path()));
  made.report.time_again = {};  // What it times is gone.
  if (!made.report.equal()) return made;
  REWRIGHT_CHECK(staged->commit());
  if (!request.page.empty())
    REWRIGHT_CHECK(write_file(request.page, compiling_html(page_of(made.report, request.name))));
  return made;
}

}  // namespace rewright::compile
