// Kind "recorded": what a script has measured.
//
//   file    lines of JSON, a flat object each
//
// Rows  one for each line
#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "experiment/kind.h"

namespace rewright::experiment {
namespace {

Result<Outcome> rows_of(const std::string& file) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  Outcome outcome;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    Json row = Json::parse(line, nullptr, false);
    const bool is_flat = row.is_object() && std::ranges::none_of(row, [](const Json& value) {
                           return value.is_object() || value.is_array();
                         });
    if (!is_flat) return make_error(ErrorCode::kParse, "'{}': {}: expected a flat object of JSON", file, number);
    outcome.rows.push_back(std::move(row));
  }
  return outcome;
}

}  // namespace

Result<Job> recorded_job(Parameters& parameters, const Lab&) {
  REWRIGHT_TRY(const std::string file, parameters.file("file"));
  return Job{[file](const Lab&) { return rows_of(file); }};
}

}  // namespace rewright::experiment
