// The two sides of rules as SVG, by Graphviz.
#pragma once

#include <rewright/base/result.h>
#include <rewright/rule/rule.h>

#include <span>
#include <string>
#include <vector>

namespace rewright::gallery {

struct Drawing {
  std::string source;  ///< <svg>...</svg>; colours are classes of the style sheet: op, in0 to in7, out.
  std::string target;
};

/// One run of Graphviz for all rules. Errors: as render_svg.
[[nodiscard]] Result<std::vector<Drawing>> draw(std::span<const Rule* const> rules);

}  // namespace rewright::gallery
