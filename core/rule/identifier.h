// Names in the text form of rules: letters, digits and underscores, no digit first, none of the words of the grammar.
#pragma once

#include <string>
#include <string_view>

namespace rewright {

[[nodiscard]] bool is_identifier(std::string_view text);
/// `text` itself if it is an identifier, else one that resembles it.
[[nodiscard]] std::string identifier(std::string_view text);

}  // namespace rewright
