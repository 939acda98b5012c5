// Where the library lies, and the plugins that came with it.
#pragma once

#include <rewright/base/visibility.h>

#include <string>

namespace rewright {

/// The folder "rewright" beside librewright.so, where both the build and the installation put them; "" if unknown.
[[nodiscard]] REWRIGHT_API std::string own_plugin_folder();

/// The file librewright.so itself; "" if unknown.
[[nodiscard]] REWRIGHT_API std::string own_library();

}  // namespace rewright
