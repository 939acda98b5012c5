#include "learn/data_set.h"

#include <rewright/learn/kernel_features.h>
#include <rewright/optimize/cost_key.h>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/files.h"
#include "base/sha256.h"
#include "store/schedule_records.h"
#include "store/sqlite_database.h"

namespace rewright::learn {
namespace {

using RowJson = nlohmann::ordered_json;

constexpr int kFileVersion = 1;
constexpr std::string_view kDatabaseStart = "SQLite format 3";
constexpr const char* kVersionKey = "rewright_kernels";

struct Measured {
  std::set<std::string> programs;
  std::vector<double> us;
  std::set<std::string> days;
};
/// By device, then by kernel.
using Measurements = std::map<std::string, std::map<std::string, Measured>>;

/// "MODEL|DEVICE" of a cache's key.
std::string_view device_of(std::string_view key) {
  const std::size_t model = key.find('|');
  return key.substr(0, model == std::string_view::npos ? model : key.find('|', model + 1));
}

Status read_cache(const std::string& file, Measurements& all) {
  REWRIGHT_TRY(const auto database, Database::open(file, Database::Mode::kRead));
  auto rows = database->prepare("SELECT key, cost_us FROM operator_costs");
  if (!rows)
    return make_error(ErrorCode::kParse,
                      "'{}' holds no measured kernels ({}); --cost-cache and rewright learn sample write such files",
                      file, rows.error().message);
  const std::string program = std::filesystem::path(file).stem().string();
  for (;;) {
    REWRIGHT_TRY(const bool is_row, rows->step());
    if (!is_row) return {};
    const std::string key = rows->text(0);
    const std::string_view device = device_of(key);
    Measured& measured = all[std::string(device)][key.substr(device.size())];
    measured.programs.insert(program);
    measured.us.push_back(rows->real(1));
  }
}

Status read_line(const RowJson& json, const std::string& device, Measurements& all) {
  try {
    const auto us = json.at("us").get<std::vector<double>>();
    if (us.empty()) return make_error(ErrorCode::kParse, "\"us\" has no time");
    for (const double time : us) {
      if (!(time > 0) || !std::isfinite(time))
        return make_error(ErrorCode::kParse, "a time of {} us; expected one above 0", time);
    }
    const auto kernel = json.at("kernel").get<std::string>();
    Measured& measured = all[device][kernel];
    for (const RowJson& program :
         json.at("program").is_array() ? json.at("program") : RowJson::array({json.at("program")}))
      measured.programs.insert(program.get<std::string>());
    measured.us.insert(measured.us.end(), us.begin(), us.end());
    if (json.contains("on")) measured.days.merge(json["on"].get<std::set<std::string>>());
  } catch (const RowJson::exception& error) {
    return make_error(ErrorCode::kParse, "not a measured kernel ({})", error.what());
  }
  return {};
}

/// Of each kernel the best schedule, as a cost model of such would say.
Status read_store(const std::string& folder, const Registry& registry, Measurements& all) {
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(folder));
  std::map<std::pair<std::string, std::string>, double> best;  // By device and kernel.
  for (const ScheduleRecord& record : records) {
    if (record.outcome != "ok") continue;
    const auto owned = from_key(record.structure, registry, record.sizes);
    if (!owned) continue;  // Loops that no operator made.
    const std::string device = fmt::format("tuned|{}, {} caches, {}", record.target, record.policy, record.processor);
    double& us = best.try_emplace({device, to_key(owned->kernel())}, record.least_us()).first->second;
    us = std::min(us, record.least_us());
  }
  if (best.empty())
    return make_error(ErrorCode::kParse, "the store '{}' has no schedule of a kernel of operators that ran", folder);
  for (const auto& [key, us] : best) {
    Measured& measured = all[key.first][key.second];
    measured.programs.insert(std::filesystem::path(folder).stem().string());
    measured.us.push_back(us);
  }
  return {};
}

Status read_start(const RowJson& json, std::string& device) {
  if (!json.is_object() || !json.contains(kVersionKey))
    return make_error(ErrorCode::kParse, "the first line has no \"{}\"; this is no file of measured kernels",
                      kVersionKey);
  if (json[kVersionKey] != kFileVersion)
    return make_error(ErrorCode::kMismatch, "kernels of version {}; this program reads version {}",
                      json[kVersionKey].dump(), kFileVersion);
  if (json.value("unit", "") != "us")
    return make_error(ErrorCode::kMismatch, "times in \"{}\"; expected \"us\"", json.value("unit", ""));
  device = json.value("device", "");
  if (device.empty()) return make_error(ErrorCode::kParse, "the first line has no \"device\"");
  return {};
}

Status read_lines(const std::string& file, const std::string& text, Measurements& all) {
  std::string device, line;
  std::istringstream lines(text);
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const RowJson json = RowJson::parse(line, nullptr, false);
    const auto at = [&](const Error& error) {
      return make_error(error.code, "{}:{}: {}", file, number, error.message);
    };
    if (json.is_discarded()) return at({ErrorCode::kParse, "not JSON"});
    if (const Status read = device.empty() ? read_start(json, device) : read_line(json, device, all); !read)
      return at(read.error());
  }
  if (device.empty()) return make_error(ErrorCode::kParse, "'{}' is empty; expected measured kernels", file);
  return {};
}

std::string line_of(const RowJson& programs, const std::string& kernel, const std::vector<double>& us,
                    const std::set<std::string>& days) {
  RowJson row = {{"program", programs}, {"kernel", kernel}, {"us", us}};
  if (!days.empty()) row["on"] = days;
  return row.dump() + "\n";
}

std::string first_line(const std::string& device) {
  return RowJson({{kVersionKey, kFileVersion}, {"unit", "us"}, {"device", device}}).dump() + "\n";
}

Result<std::string> chosen(const Measurements& all, const std::string& part) {
  std::vector<std::string> names, fitting;
  for (const auto& [device, kernels] : all) {
    names.push_back(device);
    if (device.find(part) != std::string::npos) fitting.push_back(device);
  }
  if (fitting.size() == 1) return fitting.front();
  return make_error(ErrorCode::kUsage, "the files have kernels of {}{}; name one by --device PART",
                    names.empty() ? "no device" : fmt::format("{}", fmt::join(names, "; ")),
                    part.empty() ? "" : fmt::format(", of which {} have '{}' in their names", fitting.size(), part));
}

/// Features, root and kind.
bool describe(Sample& sample, const std::vector<std::string>& kinds, const Registry& registry) {
  const auto owned = from_key(sample.kernel, registry);
  if (!owned) return false;
  const Kernel kernel = owned->kernel();
  sample.features = features_of(kernel, kinds);
  std::size_t most = 0;
  for (std::size_t i = 1; i < kernel.applications.size(); ++i) {
    if (sample.features.stages[i][0] > sample.features.stages[most][0]) most = i;
  }
  sample.root = to_key(kernel.applications[most]);
  sample.kind = kernel.applications[most].op.name();
  sample.chain = chain_of(kernel);
  return true;
}

}  // namespace

std::string today() { return utc_now().substr(0, std::string_view("2026-01-31").size()); }

double Sample::label_us() const { return *std::ranges::min_element(us); }

std::string DataSet::hash() const {
  std::string text = device;
  for (const Sample& sample : samples) text += fmt::format("\n{} {}", sample.kernel, fmt::join(sample.us, " "));
  return sha256(text).substr(0, 16);
}

Result<DataSet> read_data(const std::vector<std::string>& files, const std::string& device, const Registry& registry) {
  Measurements all;
  for (const std::string& file : files) {
    if (std::filesystem::is_directory(file)) {
      REWRIGHT_CHECK(read_store(file, registry, all));
      continue;
    }
    REWRIGHT_TRY(const std::string bytes, read_file(file));
    REWRIGHT_CHECK(bytes.starts_with(kDatabaseStart) ? read_cache(file, all) : read_lines(file, bytes, all));
  }
  REWRIGHT_TRY(const std::string name, chosen(all, device));
  DataSet data{name, {""}, {}};
  for (auto& [kernel, measured] : all[name]) {
    std::erase_if(measured.us, [](double us) { return !(us > 0) || !std::isfinite(us); });
    if (measured.us.empty()) {
      ++data.infinite;
      continue;
    }
    data.samples.push_back({kernel, std::move(measured.programs), std::move(measured.us)});
    data.samples.back().days = std::move(measured.days);
  }
  std::set<std::string> kinds;
  for (const Sample& sample : data.samples) {
    if (const auto owned = from_key(sample.kernel, registry)) {
      for (const Application& application : owned->kernel().applications) kinds.insert(application.op.name());
    }
  }
  data.kinds.insert(data.kinds.end(), kinds.begin(), kinds.end());
  data.unknown = std::erase_if(data.samples, [&](Sample& sample) { return !describe(sample, data.kinds, registry); });
  return data;
}

Status append_data(const std::string& file, const std::string& device, const std::string& program,
                   const std::map<std::string, std::vector<double>>& us) {
  std::string text = first_line(device);
  if (std::filesystem::exists(file)) {
    REWRIGHT_TRY(text, read_file(file));
    Measurements known;
    REWRIGHT_CHECK(read_lines(file, text, known));
    if (!text.starts_with(first_line(device)))
      return make_error(ErrorCode::kMismatch, "'{}' has kernels of another device than {}: name another file", file,
                        device);
  }
  for (const auto& [kernel, times] : us) text += line_of(program, kernel, times, {today()});
  return write_file(file, text);
}

Status write_data(const std::string& file, const DataSet& data) {
  std::string text = first_line(data.device);
  for (const Sample& sample : data.samples) text += line_of(sample.programs, sample.kernel, sample.us, sample.days);
  return write_file(file, text);
}

Noise noise_of(const DataSet& data, double least_us) {
  std::vector<double> off;
  for (const Sample& sample : data.samples) {
    if (sample.us.size() > 1 && sample.label_us() >= least_us)
      off.push_back(std::abs(sample.us[1] - sample.us[0]) / sample.us[0]);
  }
  if (off.empty()) return {};
  std::ranges::sort(off);
  double sum = 0;
  for (const double each : off) sum += each;
  return {off.size(), sum / static_cast<double>(off.size()), off[off.size() / 2]};
}

}  // namespace rewright::learn
