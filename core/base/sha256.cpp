#include "base/sha256.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace rewright {

std::string sha256(std::string_view content) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(content.data()), content.size(), digest.data());
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<std::string> file_sha256(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  std::string content(stream ? static_cast<std::size_t>(std::max<std::streamoff>(stream.tellg(), 0)) : 0, '\0');
  stream.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!stream || content.empty()) return make_error(ErrorCode::kIo, "'{}' cannot be read, or is empty", path);
  return sha256(content);
}

}  // namespace rewright
