// What a plugin and the program that loads it must agree on.
#pragma once

#include <cstdint>

namespace rewright {

/// The version of a kind of plugins; its interface's header gives it: `kAbiVersion<Operator>` stands in
/// operator/operator.h. It is raised whenever that header, or one that it leads to, changes, comments aside: a plugin
/// built before might misread an object. A test holds the headers against tests/architecture/public_headers.txt.
template <class Kind>
inline constexpr std::uint32_t kAbiVersion = 0;

}  // namespace rewright
