#include "verify/judged_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/sha256.h"
#include "plugin/own_folder.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 64;
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
  static const auto own = file_sha256(own_library());  // Read once a process.
  if (!own) return "";
  std::string text = *own;
  for (const LoadedPlugin& plugin : registry.plugins()) {
    const auto is_operator = [](const std::string& object) { return object.starts_with("operator "); };
    if (std::ranges::none_of(plugin.provides, is_operator)) continue;
    const auto hash = file_sha256(plugin.file);
    if (!hash) return "";
    text += joined({plugin.name, plugin.version, *hash});
  }
  return sha256(text);
}

fs::path memory_folder() {
  const fs::path cache = cache_folder();
  return cache.empty() ? cache : cache / "rewright" / "proofs";
}

/// Of this user, and nobody else may write it; what is not there is.
bool is_ours(const fs::path& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return errno == ENOENT;
  return found.st_uid == ::geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The files of programs, this and others.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator(); at.increment(failed))
    if (at->path().filename().string().size() == kDigits) files.push_back(at->path());
  return files;
}

/// The last two levels are the user's alone, whatever the umask.
void make_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::create_directories(folder.parent_path().parent_path(), ignored);
  ::mkdir(folder.parent_path().c_str(), 0700);
  ::mkdir(folder.c_str(), 0700);
}

/// Room for one more: the oldest files go.
void tidy(const fs::path& folder) {
  std::error_code failed;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::path& file : files_in(folder)) {
    const auto written = fs::last_write_time(file, failed);
    files.emplace_back(written, std::move(file));
  }
  std::ranges::sort(files);
  for (std::size_t i = 0; i + kMostFiles <= files.size(); ++i) fs::remove(files[i].second, failed);
}

}  // namespace

std::string JudgedMemory::refusal() {
  const fs::path folder = memory_folder();
  if (folder.empty()) return "";
  std::vector<fs::path> all = {folder.parent_path(), folder};
  for (fs::path& file : files_in(folder)) all.push_back(std::move(file));
  for (const fs::path& path : all) {
    if (!is_ours(path))
      return fmt::format(
          "'{}' is not yours alone to write, so that what it remembers is not believed and every proof is replayed; "
          "remove it, or give it to your user and take the right to write from all others (chmod go-w)",
          path.string());
  }
  return "";
}

JudgedMemory::JudgedMemory(const Registry& registry) {
  const fs::path folder = memory_folder();
  if (folder.empty() || !is_ours(folder) || !is_ours(folder.parent_path())) return;
  const std::string program = program_of(registry);
  if (program.empty() || !is_ours(folder / program)) return;
  file_ = (folder / program).string();
  std::ifstream lines(file_);
  for (std::string line; std::getline(lines, line);)
    if (line.size() == kDigits) known_.insert(line);
}

/// One write of whole lines to the end of the file: programs that run side by side do not cut each other's lines.
JudgedMemory::~JudgedMemory() {
  if (fresh_.empty() || file_.empty()) return;
  std::error_code ignored;
  const fs::path folder = fs::path(file_).parent_path();
  make_folder(folder);
  if (!fs::exists(file_, ignored)) tidy(folder);
  const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, fresh_.data(), fresh_.size());
  ::close(file);
}

std::string JudgedMemory::digest_of(std::initializer_list<std::string_view> parts) { return sha256(joined(parts)); }

void JudgedMemory::add(const std::string& digest) {
  if (known_.insert(digest).second) fresh_ += digest + "\n";
}

}  // namespace rewright
