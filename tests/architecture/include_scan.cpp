#include "architecture/include_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>

namespace architecture {
namespace {

namespace fs = std::filesystem;

// "kit" is no folder: what several plugins share in writing theirs, and nothing of core includes.
const std::map<std::string, int> kFloorOfRoom = {
    {"base", -1},    {"tensor", 0},     {"operator", 1},  {"axiom", 2},    {"graph", 2},       {"loop", 2},
    {"plugin", 2},   {"schedule", 3},   {"enumerate", 3}, {"verify", 3},   {"rule", 3},        {"onnx", 3},
    {"egraph", 3},   {"theorem", 3},    {"rewrite", 4},   {"store", 4},    {"interchange", 4}, {"campaign", 5},
    {"discover", 5}, {"optimize", 5},   {"report", 5},    {"tune", 5},     {"contract", 6},    {"compile", 6},
    {"learn", 6},    {"experiment", 7}, {"study", 7},     {"compress", 6}, {"cli", 8},         {"python", 8},
    {"worker", 8},   {"kit", 9},
};

const std::regex kPluginOnly(R"((z3|cvc5|dnnl|onnxruntime|Halide).*|oneapi/dnnl.*)");
const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");

struct Include {
  int line;
  bool quoted;
  std::string name;
};

std::vector<Include> includes_of(const fs::path& file) {
  std::vector<Include> found;
  std::ifstream stream(file);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) found.push_back({number, match[1] == "\"", match[2]});
  }
  return found;
}

// The file of the tree that an include names, relative to `root`; nothing when it is a library's.
std::optional<fs::path> resolve(const fs::path& root, const fs::path& file, const Include& include) {
  std::vector<fs::path> folders = {"core/include", "core"};
  if (include.quoted) folders.insert(folders.begin(), file.parent_path());
  for (const fs::path& folder : folders) {
    fs::path candidate = (folder / include.name).lexically_normal();
    if (fs::is_regular_file(root / candidate)) return candidate;
  }
  return std::nullopt;
}

bool starts_with(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool is_public(const fs::path& file) { return starts_with(file, "core/include"); }

// The room that a file of core/ belongs to: its folder in core/ or core/include/rewright/; nothing for no known room.
std::optional<std::string> room_of(const fs::path& file) {
  const std::string name = std::next(file.begin(), is_public(file) ? 3 : 1)->string();
  if (!kFloorOfRoom.contains(name)) return std::nullopt;
  return name;
}

// What is one plugin: a single file, or the folder below plugins/KIND.
fs::path plugin_of(const fs::path& file) {
  const auto depth = std::distance(file.begin(), file.end());
  if (*file.begin() == "operators" || depth <= 3) return file;
  auto part = file.begin();
  fs::path folder = *part++;
  folder /= *part++;
  return folder / *part;
}

std::optional<std::string> wrong_in_core(const fs::path& file, const Include& include,
                                         const std::optional<fs::path>& target) {
  if (!target) {
    if (std::regex_match(include.name, kPluginOnly))
      return "core includes no solver and no runtime: that belongs into a plugin";
    return std::nullopt;
  }
  if (*target->begin() != "core") return "core includes nothing of a plugin";
  if (is_public(file) && !is_public(*target)) return "a public header includes no private one";
  const auto from = room_of(file), to = room_of(*target);
  if (!from || !to)
    return fmt::format("{} belongs to no known room: name it in tests/architecture/include_scan.cpp",
                       (from ? *target : file).string());
  const int from_floor = kFloorOfRoom.at(*from), to_floor = kFloorOfRoom.at(*to);
  if (*from == *to || to_floor < from_floor) return std::nullopt;
  if (is_public(*target) && (to_floor == from_floor || *from == "plugin")) return std::nullopt;
  return fmt::format("room {} (floor {}) looks {} at room {} (floor {})", *from, from_floor,
                     to_floor == from_floor ? "across" : "up", *to, to_floor);
}

std::optional<std::string> wrong_in_plugin(const fs::path& file, const Include&,
                                           const std::optional<fs::path>& target) {
  if (!target || is_public(*target) || plugin_of(*target) == plugin_of(file)) return std::nullopt;
  if (*target->begin() == "core") return "a plugin includes <rewright/...> only, never core's private headers";
  return "plugins never include each other";
}

// Public headers from which includes lead back to themselves (#pragma once would hide it).
void find_circles(const std::map<std::string, std::set<std::string>>& headers, std::vector<std::string>& violations) {
  for (const auto& [start, direct] : headers) {
    std::set<std::string> reached;
    std::vector<std::string> open(direct.begin(), direct.end());
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      if (!reached.insert(next).second || !headers.contains(next)) continue;
      open.insert(open.end(), headers.at(next).begin(), headers.at(next).end());
    }
    if (reached.contains(start)) violations.push_back(fmt::format("{}: its includes lead back to it", start));
  }
}

// Two files that include each other, a header and the source of its name taken as one.
using Units = std::map<std::string, std::set<std::string>>;
void find_pairs(const Units& units, std::vector<std::string>& violations) {
  for (const auto& [unit, included] : units) {
    for (const std::string& other : included) {
      const auto back = units.find(other);
      if (unit < other && back != units.end() && back->second.contains(unit))
        violations.push_back(
            fmt::format("{} and {} include each other: what both need belongs into a third file", unit, other));
    }
  }
}

std::string unit_of(const fs::path& file) { return fs::path(file).replace_extension().string(); }

}  // namespace

Scan scan_includes(const fs::path& root) {
  Scan scan;
  std::map<std::string, std::set<std::string>> headers;
  Units units;
  for (const char* top : {"core", "operators", "plugins"}) {
    if (!fs::is_directory(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const auto extension = entry.path().extension();
      if (!entry.is_regular_file() || (extension != ".cpp" && extension != ".h")) continue;
      const fs::path file = fs::relative(entry.path(), root);
      ++scan.files;
      for (const Include& include : includes_of(entry.path())) {
        const auto target = resolve(root, file, include);
        if (is_public(file) && target) headers[file.string()].insert(target->string());
        if (target && unit_of(file) != unit_of(*target)) units[unit_of(file)].insert(unit_of(*target));
        const auto wrong =
            *file.begin() == "core" ? wrong_in_core(file, include, target) : wrong_in_plugin(file, include, target);
        if (wrong)
          scan.violations.push_back(
              fmt::format("{}:{}: includes {}: {}", file.string(), include.line, include.name, *wrong));
      }
    }
  }
  find_circles(headers, scan.violations);
  find_pairs(units, scan.violations);
  std::sort(scan.violations.begin(), scan.violations.end());
  return scan;
}

}  // namespace architecture
