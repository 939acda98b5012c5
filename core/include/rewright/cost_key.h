// What measurements of an application are kept under.
#pragma once

#include <rewright/cost.h>
#include <rewright/export.h>

#include <string>

namespace rewright {

/// An application as text, the same on every machine; a key is "MODEL|DEVICE" and this.
[[nodiscard]] REWRIGHT_API std::string to_key(const Application& application);

}  // namespace rewright
