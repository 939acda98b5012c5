#include "report/page.h"

#include "report/gallery/html.h"

namespace rewright {
namespace {

constexpr std::string_view kPageStyle = R"(
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6470; --line: #dfe3e8; --page: #fbfbfa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa4b2; --line: #323842; --page: #14171c; } }
body { margin: 0 auto; max-width: 1000px; padding: 24px 16px; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } .figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:first-child { overflow-wrap: anywhere; min-width: 170px; } .soft { color: var(--soft); } .wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; font-size: .82em; line-height: 1.35; } summary { cursor: pointer; overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 16px; }
)";

}  // namespace

std::string page_html(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width,"
      " initial-scale=1\"><title>{}</title><style>{}</style></head><body>\n{}</body></html>\n",
      gallery::escaped(title), kPageStyle, body);
}

}  // namespace rewright
