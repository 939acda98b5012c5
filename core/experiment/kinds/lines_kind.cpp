// Kind "lines": lines of source code that are neither empty nor comments alone.
//
//   files    names of files, or of folders, of which the files with the extension are taken
//   extension
//   mark     what begins a comment ("//", ";")
//
// Rows  row = "file": file, lines; row = "sum": files, lines
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "experiment/kind.h"

namespace rewright::experiment {
namespace {

namespace fs = std::filesystem;

std::size_t code_lines(const std::string& text, const std::string& mark) {
  std::size_t count = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos && line.compare(begin, mark.size(), mark) != 0) ++count;
  }
  return count;
}

Result<Outcome> work(const std::vector<std::string>& files, const std::string& mark) {
  Outcome outcome;
  std::size_t sum = 0;
  for (const std::string& file : files) {
    REWRIGHT_TRY(const std::string text, read_file(file));
    const std::size_t lines = code_lines(text, mark);
    sum += lines;
    outcome.rows.push_back({{"row", "file"}, {"file", fs::path(file).filename().string()}, {"lines", lines}});
  }
  outcome.rows.push_back({{"row", "sum"}, {"files", files.size()}, {"lines", sum}});
  return outcome;
}

}  // namespace

Result<Job> lines_job(Parameters& parameters, const Lab&) {
  REWRIGHT_TRY(const std::vector<std::string> named, parameters.files("files"));
  REWRIGHT_TRY(const std::string extension, parameters.text("extension", ".cpp"));
  REWRIGHT_TRY(const std::string mark, parameters.text("mark", "//"));
  std::vector<std::string> files;
  for (const std::string& name : named) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) files.push_back(name);
    for (const auto& entry : fs::directory_iterator(name, ignored))
      if (entry.path().extension() == extension) files.push_back(entry.path().string());
  }
  if (files.empty())
    return parameters.error("files", fmt::format("'files' names no file that ends in '{}'", extension));
  std::ranges::sort(files);
  return Job{[files, mark](const Lab&) { return work(files, mark); }, files};
}

}  // namespace rewright::experiment
