// A folder of experiments that goes with the object.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "experiment/run.h"
#include "support/operators.h"

namespace rewright::testing {

class Experiments {
 public:
  Experiments() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rewright-experiments-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Experiments() { std::filesystem::remove_all(path_); }
  Experiments(const Experiments&) = delete;
  Experiments& operator=(const Experiments&) = delete;

  /// Writes NAME/experiment.toml (or another file); gives its path.
  std::string write(const std::string& name, const std::string& text,
                    const std::string& file = "experiment.toml") const {
    std::filesystem::create_directories(path_ / name);
    std::ofstream(path_ / name / file) << text;
    return (path_ / name / file).string();
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name).rdbuf();
    return text.str();
  }
  [[nodiscard]] experiment::RunExperiment options(const std::string& name) const {
    experiment::RunExperiment options;
    options.folder = (path_ / "results" / name).string();
    options.lab.registry = &loaded();
    options.lab.sources = REWRIGHT_SOURCE_DIR;
    options.lab.programs = {path_.string()};
    options.lab.models = path_.string();
    return options;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Counts the lines of three small files, swept by the comment's mark.
inline constexpr const char* kCounting = R"(
[experiment]
title = "Lines"
question = "How many?"
minutes = 0.1
[[runs]]
name = "lines"
kind = "lines"
files = ["a.txt", "b.txt"]
extension = ".txt"
[runs.each]
mark = ["#", "//"]
[runs.quick]
each = { mark = ["#"] }
[[claims]]
id = "few"
claim = "There are few lines"
source = "a paper"
paper = "3"
ours = { run = "lines", field = "lines", where = { row = "sum", mark = "#" } }
at_most = 3
criterion = "at most three"
[[claims]]
id = "many"
claim = "There are many lines"
source = "a paper"
paper = "100"
ours = { run = "lines", field = "lines", where = { row = "sum", mark = "//" } }
expected = [50, 200]
at_least = 100
criterion = "at least a hundred"
note = "It was a short day."
[[claims]]
id = "elsewhere"
claim = "They are in French"
source = "another paper"
paper = "all"
because = "nobody here reads it"
[[tables]]
title = "By file"
run = "lines"
where = { row = "file" }
columns = ["mark", "file", "lines"]
[[tables]]
title = "Side by side"
run = "lines"
where = { row = "file" }
rows = "file"
across = "mark"
value = "lines"
[[plots]]
title = "Bars"
kind = "bars"
run = "lines"
where = { row = "file" }
rows = "file"
value = "lines"
)";

inline std::string write_counting(const Experiments& folder) {
  folder.write("counting", "one\n# two\n\nthree\n", "a.txt");
  folder.write("counting", "// four\n", "b.txt");
  return folder.write("counting", kCounting);
}

}  // namespace rewright::testing
