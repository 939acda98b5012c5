#include "cli/own_files.h"

#include <algorithm>
#include <filesystem>

namespace rewright::cli {

namespace fs = std::filesystem;

std::string own_prefix() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path().string();
}

Roots own_roots() { return {fs::path(own_prefix()) / REWRIGHT_DATA_DIR, fs::path(REWRIGHT_SOURCE_DATA)}; }

Result<std::vector<std::string>> own_axioms(const Roots& roots) {
  std::error_code ignored;
  for (const fs::path& root : roots) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(root / "axioms", ignored)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".smt2" && name != "rejected.smt2" && name != "taso.smt2")
        files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    if (!files.empty()) return files;
  }
  return make_error(ErrorCode::kNotFound,
                    "the program's own axiom files were not found; name some with --axioms FILE...");
}

Result<std::vector<std::string>> own_libraries(const Roots& roots) {
  std::error_code ignored;
  for (const fs::path& root : roots) {
    std::vector<std::string> files;
    for (const char* name : {"library.rules", "networks.rules", "constants.rules"}) {
      const fs::path file = root / "experiments/library" / name;
      if (fs::is_regular_file(file, ignored)) files.push_back(file.string());
    }
    if (!files.empty()) return files;
  }
  return make_error(ErrorCode::kNotFound,
                    "the program's own library of rules was not found; name a store or a file with --rules");
}

Result<std::string> own_data(const Roots& roots) {
  std::error_code ignored;
  for (const fs::path& root : roots) {
    if (fs::is_directory(root / "experiments", ignored)) return root.string();
  }
  return make_error(ErrorCode::kNotFound,
                    "the experiments that came with the program were not found; install it again");
}

Result<std::string> own_templates(const Roots& roots) {
  std::error_code ignored;
  for (const fs::path& root : roots) {
    const fs::path folder = root / "plugins/templates";
    if (fs::is_directory(folder, ignored)) return folder.string();
  }
  return make_error(ErrorCode::kNotFound, "the templates that came with the program were not found; install it again");
}

}  // namespace rewright::cli
