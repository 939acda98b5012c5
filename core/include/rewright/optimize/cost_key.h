// What measurements of a kernel are kept under.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/optimize/cost.h>

#include <string>

namespace rewright {

/// An application as text, the same on every machine; a key is "MODEL|DEVICE" and this.
[[nodiscard]] REWRIGHT_API std::string to_key(const Application& application);
/// The same of its applications, one after the other, with "+K" before each that takes the one before as operand K.
[[nodiscard]] REWRIGHT_API std::string to_key(const Kernel& kernel);

}  // namespace rewright
