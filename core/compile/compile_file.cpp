#include "compile/compile_file.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

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

}  // namespace

Result<CompileReport> compile_to_folder(const CompileRequest& request, const Registry& registry) {
  REWRIGHT_TRY(const Target* target, registry.get<Target>(request.target));
  REWRIGHT_CHECK(target->version());
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(request.runtime));
  REWRIGHT_CHECK(runtime->version());
  REWRIGHT_TRY(const auto staged, StagedFolder::make(request.folder, request.force));
  REWRIGHT_TRY(const BuildFolder built, BuildFolder::make());
  REWRIGHT_TRY(OpenedModel opened, open_model(request.source, registry, runtime));
  REWRIGHT_CHECK(check_given(opened.imported.graph, request.source.inputs));
  if (request.simplified) simplify(opened);
  CompileOptions options{.name = artefact_name(request.name),
                         .folder = staged->path(),
                         .built = built.path(),
                         .dialect = request.dialect,
                         .threads = request.threads,
                         .measure = request.measure,
                         .seconds = request.seconds,
                         .goes_on = request.goes_on};
  if (!request.records.empty()) {
    REWRIGHT_TRY(options.records, ScheduleRecords::read(request.records));
  }
  const OpenedVersion version{&opened};
  REWRIGHT_TRY(CompileReport report, compile_model({&version, 1}, *target, *runtime, options));
  report.time_again = {};  // What it times is gone.
  if (report.equal()) REWRIGHT_CHECK(staged->commit());
  return report;
}

}  // namespace rewright::compile
