// What the pages of the report share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/site.h"

namespace rewright::experiment {

[[nodiscard]] std::string_view site_style();
[[nodiscard]] std::string_view site_script();

/// `menu`: further links of the page's head, as HTML.
[[nodiscard]] std::string site_frame(const std::string& title, const std::string& menu, const std::string& body);
/// "reproduced" as a badge in its colour.
[[nodiscard]] std::string badge(Answer answer);
/// "not-reproduced".
[[nodiscard]] std::string key_of(Answer answer);
/// The paper's figure and ours, with bars where both are numbers, and a line at the limit that the claim asks for.
[[nodiscard]] std::string compared(const ClaimFinding& finding);
/// "3 reproduced, 1 not reproduced".
[[nodiscard]] std::string counts_text(std::span<const ClaimFinding* const> claims);
/// NAME.html.
[[nodiscard]] std::string page_of(const Findings& findings);

[[nodiscard]] std::string index_page(std::span<const SiteEntry> entries, std::span<const Work> works);
/// `at`: the position among the entries. `aside`: drawings that became files, name and SVG. Errors: a drawing that
/// cannot be read.
[[nodiscard]] Result<std::string> experiment_page(std::span<const SiteEntry> entries, std::size_t at,
                                                  std::vector<std::pair<std::string, std::string>>& aside);

}  // namespace rewright::experiment
