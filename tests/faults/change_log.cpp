// Preloaded into the program: writes each change of a file or folder to a log, as far as it went well, so that
// power_cut.py can work out what a disk may hold if the power fails at any moment.
//
//   REWRIGHT_LOG         the log: "KIND AT SIZE PATH\n" and SIZE bytes for each change
//   REWRIGHT_LOG_UNDER   the folder; changes elsewhere are left out
//
// What is not seen: changes through mmap (SQLite's index of its write-ahead log, which a crash makes void) and through
// C's streams (the log file of a campaign).
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_below(const std::string& path) {
  const char* folder = setting("REWRIGHT_LOG_UNDER");
  return *folder != '\0' && path.compare(0, std::strlen(folder), folder) == 0;
}

std::string path_of(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path));
  return length < 0 ? std::string() : std::string(path, static_cast<std::size_t>(length));
}
std::string path_of(int folder, const char* name) {
  return folder == AT_FDCWD || *name == '/' ? std::string(name) : path_of(folder) + "/" + name;
}

int open_log() {
  const char* name = setting("REWRIGHT_LOG");
  if (*name == '\0') return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
}

void put(const void* data, std::size_t size) {
  static const int log = open_log();
  if (size > 0 && syscall(SYS_write, log, data, size) != static_cast<long>(size)) std::abort();
}

/// One change at a time, so that the log has them in their order.
class Turn {
 public:
  Turn() {
    while (taken_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Turn() { taken_.clear(std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static inline std::atomic_flag taken_;
};

void tell(const char* kind, const std::string& path, off_t at = 0, const void* data = nullptr, std::size_t size = 0) {
  const int code = errno;
  char line[PATH_MAX + 64];
  const int length =
      std::snprintf(line, sizeof(line), "%s %ld %zu %s\n", kind, static_cast<long>(at), size, path.c_str());
  put(line, static_cast<std::size_t>(length));
  put(data, size);
  errno = code;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Makes a change of a place; what it did is told unless it failed, or lies elsewhere.
template <class Make, class Told>
auto change(const std::string& path, const Make& make, const Told& told) {
  if (!is_below(path)) return make();
  const Turn turn;
  const auto answer = make();
  if (answer >= 0) told(answer);
  return answer;
}
template <class Make>
int change_told_as(const char* kind, const std::string& path, const Make& make) {
  return change(path, make, [&](int) { tell(kind, path); });
}

/// An open that may make a file, or make it empty.
int open_file(const char* name, int flags, mode_t mode) {
  const auto make = [&] { return static_cast<int>(syscall(SYS_openat, AT_FDCWD, name, flags, mode)); };
  if ((flags & (O_CREAT | O_TRUNC)) == 0) return make();
  const bool there = access(name, F_OK) == 0;
  return change(name, make, [&](int) {
    if (!there) tell("create", name);
    if (there && (flags & O_TRUNC) != 0) tell("truncate", name);
  });
}

ssize_t write_at(int file, const void* data, off_t at, ssize_t (*make)(int, const void*, std::size_t, off_t),
                 std::size_t size) {
  const std::string path = path_of(file);
  return change(
      path, [&] { return make(file, data, size, at); },
      [&](ssize_t written) {
        // Where a write without a place has ended is where the file stands now.
        const off_t from = at >= 0 ? at : lseek(file, 0, SEEK_CUR) - written;
        tell("write", path, from, data, static_cast<std::size_t>(written));
      });
}

}  // namespace

#define INTERPOSED extern "C" __attribute__((visibility("default")))

INTERPOSED int open(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(name, flags, mode);
}

INTERPOSED int open64(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(name, flags, mode);
}

/// What C++'s streams open files with: made, or made empty, before.
INTERPOSED std::FILE* fopen64(const char* name, const char* mode) {
  static auto* const real_fopen = real<std::FILE*(const char*, const char*)>("fopen64");
  if (*mode != 'r') {
    const int file = open_file(name, O_WRONLY | O_CREAT | O_CLOEXEC | (*mode == 'w' ? O_TRUNC : 0), 0666);
    if (file < 0) return nullptr;
    close(file);
  }
  return real_fopen(name, mode);
}
INTERPOSED std::FILE* fopen(const char* name, const char* mode) { return fopen64(name, mode); }

INTERPOSED ssize_t write(int file, const void* data, size_t size) {
  return write_at(
      file, data, -1,
      [](int to, const void* from, std::size_t bytes, off_t) {
        return static_cast<ssize_t>(syscall(SYS_write, to, from, bytes));
      },
      size);
}

INTERPOSED ssize_t writev(int file, const iovec* parts, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return write(file, all.data(), all.size());
}

INTERPOSED ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  return write_at(
      file, data, at,
      [](int to, const void* from, std::size_t bytes, off_t place) {
        return static_cast<ssize_t>(syscall(SYS_pwrite64, to, from, bytes, place));
      },
      size);
}
INTERPOSED ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  return pwrite(file, data, size, at);
}

INTERPOSED int ftruncate(int file, off_t size) noexcept {
  const std::string path = path_of(file);
  return change(
      path, [&] { return static_cast<int>(syscall(SYS_ftruncate, file, size)); },
      [&](int) { tell("truncate", path, size); });
}
INTERPOSED int ftruncate64(int file, off64_t size) noexcept { return ftruncate(file, size); }

INTERPOSED int fsync(int file) {
  return change_told_as("sync", path_of(file), [&] { return static_cast<int>(syscall(SYS_fsync, file)); });
}
INTERPOSED int fdatasync(int file) {
  return change_told_as("sync", path_of(file), [&] { return static_cast<int>(syscall(SYS_fdatasync, file)); });
}

INTERPOSED int rename(const char* from, const char* to) noexcept {
  return change(
      from, [&] { return static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to)); },
      [&](int) { tell("rename", from, 0, to, std::strlen(to)); });
}

INTERPOSED int unlinkat(int folder, const char* name, int flags) noexcept {
  return change_told_as("remove", path_of(folder, name),
                        [&] { return static_cast<int>(syscall(SYS_unlinkat, folder, name, flags)); });
}
INTERPOSED int unlink(const char* path) noexcept { return unlinkat(AT_FDCWD, path, 0); }
INTERPOSED int rmdir(const char* path) noexcept { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
INTERPOSED int remove(const char* path) noexcept {
  struct stat status {};
  const bool folder = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  return folder ? rmdir(path) : unlink(path);
}

INTERPOSED int mkdir(const char* path, mode_t mode) noexcept {
  return change_told_as("folder", path, [&] { return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode)); });
}
