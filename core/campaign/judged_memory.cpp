#include "campaign/judged_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "campaign/files.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 32;

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

std::string program_of(const Registry& registry) {
  std::string text = REWRIGHT_VERSION;
  for (const LoadedPlugin& plugin : registry.plugins()) {
    bool has_operator = false;
    for (const std::string& object : plugin.provides) has_operator = has_operator || object.starts_with("operator ");
    if (!has_operator) continue;
    const auto hash = file_hash(plugin.file);
    text += joined({plugin.name, plugin.version, hash ? *hash : ""});
  }
  return content_hash(text);
}

}  // namespace

JudgedMemory::JudgedMemory(const Registry& registry) : program_(program_of(registry)) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return;
  file_ = (folder / "rewright" / "judged").string();
  std::ifstream lines(file_);
  for (std::string line; std::getline(lines, line);)
    if (line.size() == kDigits) known_.insert(line);
}

/// One write of whole lines to the end of the file: programs that run side by side do not cut each other's lines.
JudgedMemory::~JudgedMemory() {
  if (fresh_.empty() || file_.empty()) return;
  std::error_code ignored;
  fs::create_directories(fs::path(file_).parent_path(), ignored);
  const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, fresh_.data(), fresh_.size());
  ::close(file);
}

std::string JudgedMemory::digest_of(std::initializer_list<std::string_view> parts) const {
  return content_hash(program_ + joined(parts));
}

void JudgedMemory::add(const std::string& digest) {
  if (known_.insert(digest).second) fresh_ += digest + "\n";
}

}  // namespace rewright
