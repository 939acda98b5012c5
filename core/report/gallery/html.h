// HTML by hand: what is escaped, and the frame that all pages share.
#pragma once

#include <rewright/base/visibility.h>

#include <string>
#include <string_view>

namespace rewright::gallery {

/// Text as the content of an element or of a quoted attribute: & < > " ' stand as entities, and what is no UTF-8, or a
/// control character other than a line break or tab, as U+FFFD.
[[nodiscard]] REWRIGHT_API std::string escaped(std::string_view text);
/// Text as a JSON string that may stand in a script: also < is escaped.
[[nodiscard]] REWRIGHT_API std::string json_string(std::string_view text);
/// A name as a file name and in a URL: letters, digits, '.', '-' and '_' stay, other bytes become "~XX".
[[nodiscard]] REWRIGHT_API std::string file_name(std::string_view name);

/// A name as part of a URL, percent-encoded.
[[nodiscard]] REWRIGHT_API std::string url_part(std::string_view name);

/// What may be wider than the window: it scrolls by itself, also by keys.
[[nodiscard]] std::string scrolling(std::string_view label, std::string_view html);

struct PageFrame {
  std::string title;
  std::string top;      ///< From the page to the top of the site: "" or "../".
  std::string current;  ///< The entry of the menu that the page belongs to: "rules", "axioms", "summary".
  std::string scripts;  ///< Files of assets/ and data/, a space between two.
  std::string site;     ///< The campaign's name.
};
[[nodiscard]] std::string page(const PageFrame& frame, std::string_view body);

}  // namespace rewright::gallery
