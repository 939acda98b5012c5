// TOML files of unknown origin. For plugins that read some; needs toml++, whose code is compiled into librewright.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 0
#define TOML_SHARED_LIB 1
#define TOML_ASSERT(expr) static_assert(true)  // It asserts what a damaged file breaks ("[.a]"), and refuses it too.
#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace rewright {

/// Errors: kParse, "FILE:LINE:COLUMN: SENTENCE"; a column is a character.
[[nodiscard]] REWRIGHT_API Result<toml::table> parse_toml(std::string_view text, const std::string& file);

}  // namespace rewright
