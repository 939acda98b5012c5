// What an axiom file says of padding and pooling, held against what the operators do.
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>

#include <string_view>

namespace rewright {

/// Is this key of a (set-info :KEY "value") a convention?
[[nodiscard]] bool is_convention(std::string_view key);
/// Evaluates an example by which the conventions differ. Errors: kMismatch where the operators do something else, or no
/// such convention is known; kNotFound where the operator is not loaded.
[[nodiscard]] Status check_convention(std::string_view key, std::string_view value, const Registry& registry);

}  // namespace rewright
