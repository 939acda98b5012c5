#include "experiment/results.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "plugin/own_folder.h"

namespace rewright::experiment {
namespace {

/// The value of the first line "KEY : VALUE" or KEY="VALUE" of a file, or "".
std::string value_in(const char* file, const std::string& key, char separator) {
  std::ifstream stream(file);
  std::string value;
  for (std::string line; value.empty() && std::getline(stream, line);) {
    const std::size_t at = line.starts_with(key) ? line.find(separator) : std::string::npos;
    if (at == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t\"", at + 1);
    if (begin != std::string::npos) value = line.substr(begin, line.find_last_not_of(" \t\"") - begin + 1);
  }
  return value;
}

Json machine() {
  utsname system{};
  uname(&system);
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE)) /
                     (1024.0 * 1024.0 * 1024.0);
  return {{"processor", value_in("/proc/cpuinfo", "model name", ':')},
          {"threads", std::max(1U, std::thread::hardware_concurrency())},
          {"memory_gib", static_cast<int>(gib + 0.5)},
          {"system", value_in("/etc/os-release", "PRETTY_NAME", '=')},
          {"kernel", std::string(system.sysname) + " " + system.release + " " + system.machine}};
}

Json to_json(const UnitResult& unit) {
  Json drawings = Json::array();
  for (const auto& [file, title] : unit.drawings) drawings.push_back({{"file", file}, {"title", title}});
  return {{"record", "unit"},
          {"run", unit.run},
          {"kind", unit.kind},
          {"key", unit.key},
          {"parameters", unit.parameters},
          {"setting", unit.setting},
          {"date", unit.date},
          {"seconds", unit.seconds},
          {"cpu_seconds", unit.cpu_seconds},
          {"drawings", std::move(drawings)},
          {"rows", unit.rows}};
}

UnitResult unit_of(const Json& json) {
  UnitResult unit;
  unit.run = json.at("run").get<std::string>();
  unit.kind = json.at("kind").get<std::string>();
  unit.key = json.at("key").get<std::string>();
  unit.parameters = json.at("parameters");
  unit.setting = json.at("setting").get<std::string>();
  unit.date = json.at("date").get<std::string>();
  unit.seconds = json.at("seconds").get<double>();
  unit.cpu_seconds = json.at("cpu_seconds").get<double>();
  for (const Json& drawing : json.at("drawings"))
    unit.drawings.emplace_back(drawing.at("file").get<std::string>(), drawing.at("title").get<std::string>());
  for (const Json& row : json.at("rows")) unit.rows.push_back(row);
  return unit;
}

}  // namespace

const UnitResult* ResultFile::find(const Manifest& manifest, const UnitSpec& unit) const {
  const RunSpec& run = manifest.runs[unit.run];
  const auto same = [&](const UnitResult& known) {
    // The order of keys says nothing: nlohmann::json sorts them.
    return known.run == run.name && known.kind == run.kind &&
           nlohmann::json(known.parameters) == nlohmann::json(unit.parameters);
  };
  const auto found = std::find_if(units.rbegin(), units.rend(), same);
  return found == units.rend() ? nullptr : &*found;
}

const Json* ResultFile::setting(const std::string& id) const {
  for (const Json& known : settings)
    if (known.value("id", "") == id) return &known;
  return nullptr;
}

Result<ResultFile> read_results(const std::string& file) {
  ResultFile results;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return results;
  REWRIGHT_TRY(const std::string text, read_file(file));
  std::istringstream stream(text);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    try {
      const Json json = Json::parse(line);
      if (json.at("record") == "setting")
        results.settings.push_back(json);
      else
        results.units.push_back(unit_of(json));
    } catch (const nlohmann::json::exception&) {
      return make_error(ErrorCode::kParse,
                        "{}:{}: this is no line of an experiment's results; take it out, or move the file away", file,
                        number);
    }
  }
  return results;
}

Status write_results(const std::string& file, const ResultFile& results) {
  std::string text;
  const auto add = [&](const Json& json) { text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; };
  for (const Json& setting : results.settings) add(setting);
  for (const UnitResult& unit : results.units) add(to_json(unit));
  return write_file(file, text);
}

Json setting_of(const Registry& registry, const std::string& git) {
  Json plugins = Json::object();
  std::string files;
  for (const LoadedPlugin& plugin : registry.plugins()) {
    plugins[plugin.name] = plugin.version;
    if (const auto hash = file_hash(plugin.file)) files += *hash;
  }
  if (const auto hash = file_hash(own_library())) files += *hash;
  Json setting = {{"machine", machine()},
                  {"program", REWRIGHT_VERSION},
                  {"git", git},
                  {"build", content_hash(files).substr(0, 16)},
                  {"plugins", std::move(plugins)}};
  Json record = {{"record", "setting"}, {"id", content_hash(setting.dump()).substr(0, 8)}};
  record.update(setting);
  return record;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Result<std::string> key_of(const std::string& kind, const Json& parameters, const std::vector<std::string>& files,
                           const std::string& build) {
  std::string text = kind + "\n" + nlohmann::json(parameters).dump() + "\n" + build + "\n";
  for (const std::string& file : files) {
    REWRIGHT_TRY(const std::string hash, file_hash(file));
    text += hash + "\n";
  }
  return content_hash(text);
}

}  // namespace rewright::experiment
