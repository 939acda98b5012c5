#include "report/gallery/html.h"

#include <fmt/format.h>

#include "report/utf8.h"

namespace rewright::gallery {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Letters, digits, '.', '-' and '_' stay, other bytes become MARK and two hexadecimal digits.
std::string with_bytes_escaped(std::string_view text, char mark) {
  std::string result;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    result += plain ? std::string(1, c) : fmt::format("{}{:02x}", mark, static_cast<unsigned char>(c));
  }
  return result;
}

std::string menu_entry(const PageFrame& frame, std::string_view key, std::string_view file, std::string_view label) {
  const std::string_view here = frame.current == key ? " aria-current=\"page\"" : "";
  return fmt::format("<a href=\"{}{}\"{}>{}</a>", frame.top, file, here, label);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  each_character(text, kReplacement, [&](std::string_view c) {
    switch (c.front()) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  });
  return result;
}

std::string scrolling(std::string_view label, std::string_view html) {
  return fmt::format("<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"{}\">{}</div>\n", escaped(label),
                     html);
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  each_character(text, kReplacement, [&](std::string_view c) {
    switch (c.front()) {
      case '"': result += "\\\""; break;
      case '\\': result += "\\\\"; break;
      case '\n': result += "\\n"; break;
      case '\t': result += "\\t"; break;
      case '<': result += "\\u003c"; break;
      default: result += c;
    }
  });
  return result + '"';
}

std::string file_name(std::string_view name) {
  std::string result = with_bytes_escaped(name, '~');
  if (result.empty() || result.front() == '.') result.insert(result.begin(), '~');
  return result;
}

std::string url_part(std::string_view name) { return with_bytes_escaped(name, '%'); }

std::string page(const PageFrame& frame, std::string_view body) {
  std::string scripts;
  for (std::size_t at = 0; at < frame.scripts.size();) {
    const std::size_t end = std::min(frame.scripts.find(' ', at), frame.scripts.size());
    scripts += fmt::format("<script defer src=\"{}{}\"></script>\n", frame.top, frame.scripts.substr(at, end - at));
    at = end + 1;
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" "
      "href=\"{1}assets/gallery.css\">\n{2}</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
      "<header class=\"bar\"><a class=\"brand\" href=\"{1}index.html\">Rewright <span>{3}</span></a>"
      "<nav aria-label=\"Site\">{4}{5}{6}</nav></header>\n<main id=\"main\">\n{7}</main>\n"
      "<footer>Made by <code>rewright rules gallery</code>. The page of a rule says what it rests "
      "on.</footer>\n</body>\n</html>\n",
      escaped(frame.title), frame.top, scripts, escaped(frame.site), menu_entry(frame, "rules", "index.html", "Rules"),
      menu_entry(frame, "axioms", "axioms.html", "Axioms"), menu_entry(frame, "summary", "summary.html", "Summary"),
      body);
}

}  // namespace rewright::gallery
