// What the pages of the report share.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "experiment/findings.h"

namespace rewright::experiment {

struct SiteEntry {
  const Findings* findings = nullptr;
  std::string results;  ///< The folder with results.jsonl and the drawings.
};

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
/// Why there is no verdict, or from which records it is; "" where there is nothing to say.
[[nodiscard]] std::string reason(const ClaimFinding& finding);
/// "3 reproduced, 1 not reproduced".
[[nodiscard]] std::string counts_text(std::span<const ClaimFinding* const> claims);
/// NAME.html.
[[nodiscard]] std::string page_of(const Findings& findings);

}  // namespace rewright::experiment
