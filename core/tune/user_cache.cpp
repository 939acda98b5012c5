#include "tune/user_cache.h"

#include <cstdlib>
#include <filesystem>

namespace rewright::tune {

Result<std::string> user_cache() {
  namespace fs = std::filesystem;
  fs::path folder;
  if (const char* const given = std::getenv("XDG_CACHE_HOME"); given != nullptr && fs::path(given).is_absolute()) {
    folder = given;
  } else if (const char* const home = std::getenv("HOME"); home != nullptr && fs::path(home).is_absolute()) {
    folder = fs::path(home) / ".cache";
  } else {
    return make_error(ErrorCode::kIo, "there is no cache folder: neither XDG_CACHE_HOME nor HOME names one; set one");
  }
  folder /= "rewright";
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (!fault) return folder.string();
  return make_error(ErrorCode::kIo, "the cache folder '{}' cannot be made: {}; set XDG_CACHE_HOME to another",
                    folder.string(), fault.message());
}

}  // namespace rewright::tune
