// Whole files, written by a function.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <functional>
#include <string>

namespace rewright {

/// As write_file() of base/files.h, with what `write` writes; false from it: errno says why it failed.
REWRIGHT_API Status write_file(const std::string& path, const std::function<bool(int descriptor)>& write);

}  // namespace rewright
