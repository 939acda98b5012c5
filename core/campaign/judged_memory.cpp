#include "campaign/judged_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "campaign/files.h"
#include "campaign/identity.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 32;
constexpr std::size_t kMostFiles = 8;  // Of other builds.

fs::path cache_folder() {
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && fs::path(given).is_absolute())
    return given;
  if (const char* home = std::getenv("HOME"); home != nullptr && fs::path(home).is_absolute())
    return fs::path(home) / ".cache";
  return {};
}

/// Length and text of each, so that no two lists look the same.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += fmt::format("{} ", part.size()) + std::string(part);
  return text;
}

/// The checker, the audit and the operators' meanings are code: what any other code believed is not believed.
/// "" where a file cannot be read: then nothing is remembered.
std::string program_of(const Registry& registry) {
  const auto own = file_hash(own_library());
  if (!own) return "";
  std::string text = *own;
  for (const LoadedPlugin& plugin : registry.plugins()) {
    const auto is_operator = [](const std::string& object) { return object.starts_with("operator "); };
    if (std::ranges::none_of(plugin.provides, is_operator)) continue;
    const auto hash = file_hash(plugin.file);
    if (!hash) return "";
    text += joined({plugin.name, plugin.version, *hash});
  }
  return content_hash(text);
}

bool others_may_write(const fs::path& file) {
  std::error_code failed;
  const fs::perms allowed = fs::status(file, failed).permissions();
  return !failed && allowed != fs::perms::unknown &&
         (allowed & (fs::perms::group_write | fs::perms::others_write)) != fs::perms::none;
}

/// Room for one more: the oldest files go.
void tidy(const fs::path& folder) {
  std::error_code failed;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator(); at.increment(failed)) {
    if (at->path().filename().string().size() == kDigits) files.emplace_back(at->last_write_time(failed), at->path());
  }
  std::ranges::sort(files);
  for (std::size_t i = 0; i + kMostFiles <= files.size(); ++i) fs::remove(files[i].second, failed);
}

}  // namespace

JudgedMemory::JudgedMemory(const Registry& registry) {
  const fs::path folder = cache_folder();
  const std::string program = program_of(registry);
  if (folder.empty() || program.empty()) return;
  file_ = (folder / "rewright" / "proofs" / program).string();
  if (others_may_write(file_)) {
    file_.clear();
    return;
  }
  std::ifstream lines(file_);
  for (std::string line; std::getline(lines, line);)
    if (line.size() == kDigits) known_.insert(line);
}

/// One write of whole lines to the end of the file: programs that run side by side do not cut each other's lines.
JudgedMemory::~JudgedMemory() {
  if (fresh_.empty() || file_.empty()) return;
  std::error_code ignored;
  const fs::path folder = fs::path(file_).parent_path();
  fs::create_directories(folder, ignored);
  if (!fs::exists(file_, ignored)) tidy(folder);
  const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, fresh_.data(), fresh_.size());
  ::close(file);
}

std::string JudgedMemory::digest_of(std::initializer_list<std::string_view> parts) {
  return content_hash(joined(parts));
}

void JudgedMemory::add(const std::string& digest) {
  if (known_.insert(digest).second) fresh_ += digest + "\n";
}

}  // namespace rewright
