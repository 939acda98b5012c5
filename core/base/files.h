// Whole files: read, written so that no half of one is ever seen, and hashed; amounts of memory.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rewright {

/// Errors: kNotFound or kIo, with the name and what the system said.
[[nodiscard]] REWRIGHT_API Result<std::string> read_file(const std::string& path);
/// Writes to a temporary name beside `path`, or beside what it is a symbolic link to, then renames; what was written
/// outlives a loss of power. Errors: kIo; `path` is then as it was before. What is no regular file (a pipe, a device)
/// is written as it stands.
REWRIGHT_API Status write_file(const std::string& path, std::string_view content);

/// 32 hexadecimal digits: XXH3 of 128 bits.
[[nodiscard]] REWRIGHT_API std::string content_hash(std::string_view content);
[[nodiscard]] REWRIGHT_API Result<std::string> file_hash(const std::string& path);

/// Reads "4G", "512M", "100K" (powers of 1024) or a number of bytes.
[[nodiscard]] REWRIGHT_API std::optional<std::uint64_t> read_bytes(std::string_view text);

}  // namespace rewright
