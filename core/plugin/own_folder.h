// Where the plugins lie that came with the program.
#pragma once

#include <rewright/export.h>

#include <string>

namespace rewright {

/// The folder "rewright" beside librewright.so, where both the build and the installation put them; "" if unknown.
[[nodiscard]] REWRIGHT_API std::string own_plugin_folder();

}  // namespace rewright
