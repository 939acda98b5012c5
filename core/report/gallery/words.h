// Conditions on sizes, said in words.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/dim.h>

#include <string>

namespace rewright::gallery {

/// "the size of x along axis 1 is that of y along axis 0"; "the size of x along axis 1 is even"; "x.0 + x.1 is at least
/// 3" where a side is more than a size or a number.
[[nodiscard]] REWRIGHT_API std::string in_words(const Constraint& constraint);

}  // namespace rewright::gallery
