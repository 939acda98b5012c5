#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/sync_folder.h"
#include "base/written_file.h"

namespace rewright {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

Error system_error(const char* what, const std::string& path) {
  const int code = errno;
  const char* advice = code == ENOSPC || code == EDQUOT || code == EFBIG ? "; free some space and try again" : "";
  return make_error(code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "'{}' cannot be {}: {}{}", path, what,
                    std::strerror(code), advice);
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error("read", path);
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", path);
    if (count == 0) return content;
    content.append(buffer, static_cast<std::size_t>(count));
  }
}

Status write_file(const std::string& path, std::string_view content) {
  return write_file(path, [&](int descriptor) { return write_all(descriptor, content); });
}

Status write_file(const std::string& path, const std::function<bool(int descriptor)>& write) {
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {  // A pipe or a device stays one; a folder is refused by open().
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file.get() >= 0 && write(file.get()) ? Status() : system_error("written", path);
  }
  std::error_code none;
  const std::filesystem::path real = exists ? std::filesystem::canonical(path, none) : std::filesystem::path();
  const std::string place = real.empty() ? path : real.string();  // A symbolic link stays one, too.
  const std::string temporary = fmt::format("{}.{}.tmp", place, getpid());
  const Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return system_error("written", path);
  if (!write(file.get()) || fsync(file.get()) != 0 || rename(temporary.c_str(), place.c_str()) != 0) {
    const Error error = system_error("written", path);
    unlink(temporary.c_str());
    return error;
  }
  sync_folder_of(place);
  return {};
}

std::string content_hash(std::string_view content) {
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<std::string> file_hash(const std::string& path) {
  REWRIGHT_TRY(const std::string content, read_file(path));
  return content_hash(content);
}

std::optional<std::uint64_t> read_bytes(std::string_view text) {
  std::uint64_t number = 0;
  std::size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    if (number > (std::uint64_t{1} << 50)) return std::nullopt;
    number = 10 * number + static_cast<std::uint64_t>(text[at] - '0');
  }
  const std::string_view unit = text.substr(at);
  int shift = -1;
  if (unit.empty() || unit == "B") shift = 0;
  if (unit == "K" || unit == "KiB") shift = 10;
  if (unit == "M" || unit == "MiB") shift = 20;
  if (unit == "G" || unit == "GiB") shift = 30;
  if (unit == "T" || unit == "TiB") shift = 40;
  if (at == 0 || shift < 0 || number == 0 || number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

}  // namespace rewright
