// Preloaded into the program: makes the n-th change of a file below a folder go wrong.
//
//   REWRIGHT_FAULT_UNDER   the folder; other files, terminals and pipes are left alone
//   REWRIGHT_FAULT_AT      n, from 1; 0: nothing goes wrong
//   REWRIGHT_FAULT         full: there is no room on the disk, now and later
//                          broken: this one change fails with an input/output error
//                          torn: half of it is written, then the process is killed
//                          killed: the process is killed before
//   REWRIGHT_FAULT_COUNT   a file that gets the number of changes at exit
//   REWRIGHT_CLOCK         back: the time of day is an hour earlier each time that somebody asks
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

enum class Fate { kNormal, kFull, kBroken, kTorn, kKilled };

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::atomic<long> changes{0};

struct CountAtExit {
  ~CountAtExit() {
    if (*setting("REWRIGHT_FAULT_COUNT") == '\0') return;
    std::FILE* file = std::fopen(setting("REWRIGHT_FAULT_COUNT"), "w");
    if (file == nullptr) return;
    std::fprintf(file, "%ld\n", changes.load());
    std::fclose(file);
  }
} count_at_exit;

bool is_below(const char* path) {
  const char* folder = setting("REWRIGHT_FAULT_UNDER");
  return *folder != '\0' && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_below(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return is_below(path);
}

/// What happens to this change, which concerns a file of ours.
Fate next_fate() {
  const long number = ++changes, at = std::atol(setting("REWRIGHT_FAULT_AT"));
  const char* kind = setting("REWRIGHT_FAULT");
  if (at == 0 || number < at) return Fate::kNormal;
  if (std::strcmp(kind, "full") == 0) return Fate::kFull;
  if (number > at) return Fate::kNormal;
  if (std::strcmp(kind, "broken") == 0) return Fate::kBroken;
  return std::strcmp(kind, "torn") == 0 ? Fate::kTorn : Fate::kKilled;
}

void die() { std::raise(SIGKILL); }

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// A change that makes files larger: `half` writes a part of it.
template <class Half, class Whole>
ssize_t grow(int file, const Half& half, const Whole& whole) {
  if (!is_below(file)) return whole();
  switch (next_fate()) {
    case Fate::kFull: return errno = ENOSPC, -1;
    case Fate::kBroken: return errno = EIO, -1;
    case Fate::kTorn: half(), die(); break;
    case Fate::kKilled: die(); break;
    case Fate::kNormal: break;
  }
  return whole();
}

/// Another change: it works on a full disk.
template <class Place, class Whole>
int change(const Place& place, const Whole& whole) {
  if (!is_below(place)) return whole();
  switch (next_fate()) {
    case Fate::kBroken: return errno = EIO, -1;
    case Fate::kTorn:
    case Fate::kKilled: die(); break;
    default: break;
  }
  return whole();
}

/// Seconds by which the time of day is wrong.
time_t clock_error() {
  static std::atomic<time_t> asked{0};
  return *setting("REWRIGHT_CLOCK") == '\0' ? 0 : 3600 * ++asked;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto answer = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (answer == 0 && clock == CLOCK_REALTIME) time->tv_sec -= clock_error();
  return answer;
}

__attribute__((visibility("default"))) int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

__attribute__((visibility("default"))) time_t time(time_t* out) noexcept {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

__attribute__((visibility("default"))) ssize_t write(int file, const void* data, size_t size) {
  static auto* const real_write = real<decltype(write)>("write");
  return grow(
      file, [&] { return real_write(file, data, size / 2); }, [&] { return real_write(file, data, size); });
}

__attribute__((visibility("default"))) ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  static auto* const real_pwrite = real<decltype(pwrite)>("pwrite");
  return grow(
      file, [&] { return real_pwrite(file, data, size / 2, at); }, [&] { return real_pwrite(file, data, size, at); });
}

__attribute__((visibility("default"))) ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  return pwrite(file, data, size, at);
}

__attribute__((visibility("default"))) ssize_t writev(int file, const iovec* parts, int count) {
  static auto* const real_writev = real<decltype(writev)>("writev");
  return grow(
      file, [&] { return count > 1 ? real_writev(file, parts, count / 2) : 0; },
      [&] { return real_writev(file, parts, count); });
}

__attribute__((visibility("default"))) int ftruncate(int file, off_t size) noexcept {
  static auto* const real_ftruncate = real<int(int, off_t)>("ftruncate");
  return change(file, [&] { return real_ftruncate(file, size); });
}

__attribute__((visibility("default"))) int ftruncate64(int file, off64_t size) noexcept {
  return ftruncate(file, size);
}

__attribute__((visibility("default"))) int fsync(int file) {
  static auto* const real_fsync = real<decltype(fsync)>("fsync");
  return change(file, [&] { return real_fsync(file); });
}

__attribute__((visibility("default"))) int fdatasync(int file) {
  static auto* const real_fdatasync = real<decltype(fdatasync)>("fdatasync");
  return change(file, [&] { return real_fdatasync(file); });
}

__attribute__((visibility("default"))) int rename(const char* from, const char* to) noexcept {
  static auto* const real_rename = real<int(const char*, const char*)>("rename");
  return change(to, [&] { return real_rename(from, to); });
}

__attribute__((visibility("default"))) int unlink(const char* path) noexcept {
  static auto* const real_unlink = real<int(const char*)>("unlink");
  return change(path, [&] { return real_unlink(path); });
}

}  // extern "C"
