#include "study/cells.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/files.h"

namespace rewright::study {
namespace {

Json to_json(const CellResult& result) {
  Json json = {{"cell", result.cell}, {"model", result.model}, {"state", result.state}};
  if (!result.why.empty()) json["why"] = result.why;
  json["seconds"] = result.seconds;
  const auto put = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  put("us", result.us);
  put("onnxruntime_us", result.onnxruntime_us);
  put("limit_us", result.limit_us);
  put("max_abs_error", result.max_abs_error);
  put("peak_bytes", result.peak_bytes);
  if (!result.profile.empty()) json["profile"] = result.profile;
  return json;
}

/// Nothing where it is no result.
std::optional<CellResult> from_json(const Json& json) {
  const auto text = [&](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_string() ? std::optional(at->get<std::string>()) : std::nullopt;
  };
  const auto number = [&](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
  };
  if (!json.is_object() || !text("cell") || !text("model") || !text("state")) return std::nullopt;
  CellResult result{*text("cell"), *text("model"), *text("state"), text("why").value_or("")};
  result.seconds = number("seconds").value_or(0);
  result.us = number("us");
  result.onnxruntime_us = number("onnxruntime_us");
  result.limit_us = number("limit_us");
  result.max_abs_error = number("max_abs_error");
  result.peak_bytes = number("peak_bytes");
  if (const auto profile = json.find("profile"); profile != json.end()) result.profile = *profile;
  return result;
}

}  // namespace

Result<std::vector<CellResult>> read_cells(const std::string& file) {
  std::vector<CellResult> results;
  if (!std::filesystem::exists(file)) return results;
  REWRIGHT_TRY(const std::string text, read_file(file));
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;  // Cut off while it was written.
    ++line;
    const auto result = from_json(Json::parse(std::string_view(text).substr(at, end - at), nullptr, false));
    if (!result)
      return make_error(ErrorCode::kParse, "{}:{}: no cell of a study; remove the line, or give --fresh to begin anew",
                        file, line);
    results.push_back(*result);
    at = end + 1;
  }
  return results;
}

Status add_cell(const std::string& file, const CellResult& result) {
  const auto fault = [&] {
    return make_error(ErrorCode::kIo, "'{}' cannot be written: {}", file, std::strerror(errno));
  };
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return fault();
  std::string line = to_json(result).dump() + "\n";
  // Behind the last whole line.
  off_t end = ::lseek(descriptor, 0, SEEK_END);
  for (char last = 0; end > 0; --end)
    if (::pread(descriptor, &last, 1, end - 1) == 1 && last == '\n') break;
  bool is_written = ::ftruncate(descriptor, end) == 0;
  for (std::size_t at = 0; is_written && at < line.size();) {
    const ssize_t count = ::pwrite(descriptor, line.data() + at, line.size() - at, end + static_cast<off_t>(at));
    is_written = count > 0 || (count < 0 && errno == EINTR);
    if (count > 0) at += static_cast<std::size_t>(count);
  }
  is_written = is_written && ::fsync(descriptor) == 0;
  const Status status = is_written ? Status() : Status(fault());
  ::close(descriptor);
  return status;
}

std::map<std::string, Standing> standings(const Plan& plan, const std::vector<CellResult>& results,
                                          const std::map<std::string, double>& left) {
  std::map<std::string, const CellResult*> by_cell;
  for (const CellResult& result : results) by_cell[result.cell] = &result;
  std::map<std::pair<std::string, std::int64_t>, double> dense;
  const auto us_of = [&](const Cell& cell) -> std::optional<double> {
    const auto at = by_cell.find(to_string(plan, cell));
    return at != by_cell.end() && at->second->is_ok() ? at->second->us : std::nullopt;
  };
  for (const Cell& cell : cells_of(plan)) {
    if (!plan.compressions[cell.compression].is_none() || !us_of(cell)) continue;
    double& least = dense.try_emplace({cell.network, cell.threads}, *us_of(cell)).first->second;
    least = std::min(least, *us_of(cell));
  }
  std::map<std::string, Standing> found;
  for (const Cell& cell : cells_of(plan)) {
    Standing& standing = found[to_string(plan, cell)];
    const Compression& compression = plan.compressions[cell.compression];
    const auto share = left.find(cell.network + ", " + compression.name);
    if (compression.is_none()) standing.expected = 1;
    if (share != left.end() && share->second > 0) standing.expected = 1 / share->second;
    const auto fastest = dense.find({cell.network, cell.threads});
    if (fastest != dense.end() && us_of(cell)) standing.achieved = fastest->second / *us_of(cell);
  }
  return found;
}

}  // namespace rewright::study
