// What the files of this room have in common: whole writes, and sentences for what goes wrong.
#pragma once

#include <rewright/base/result.h>

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace rewright::enumeration {

/// kBudget where the disk is full, else kIo; with the name and what the system said.
[[nodiscard]] inline Error file_error(const std::string& path, const char* what) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::kBudget : ErrorCode::kIo;
  return make_error(code, "{}: {}: {}", path, what, std::strerror(errno));
}

/// Writes where the file stands. False, and errno, if not all of it could be written.
[[nodiscard]] inline bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Reads from `offset` on. False, and errno, if not all of it could be read; 0: the file ends before.
[[nodiscard]] inline bool read_all(int file, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count == 0) errno = 0;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

}  // namespace rewright::enumeration
