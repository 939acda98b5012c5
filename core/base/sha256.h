// SHA-256 (FIPS 180-4): for what somebody could wish to forge. For all else content_hash (base/files.h) is shorter
// and faster.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <string>
#include <string_view>

namespace rewright {

/// 64 hexadecimal digits.
[[nodiscard]] REWRIGHT_API std::string sha256(std::string_view content);
/// Of a whole file. Errors: kIo, also where it is empty.
[[nodiscard]] REWRIGHT_API Result<std::string> file_sha256(const std::string& path);

}  // namespace rewright
