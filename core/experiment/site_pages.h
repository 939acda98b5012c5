// The pages of the report.
#pragma once

#include <rewright/base/result.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "experiment/site_parts.h"

namespace rewright::experiment {

[[nodiscard]] std::string index_page(std::span<const SiteEntry> entries, std::span<const Work> works);
/// `at`: the position among the entries. `aside`: drawings that became files, name and SVG. Errors: a drawing that
/// cannot be read.
[[nodiscard]] Result<std::string> experiment_page(std::span<const SiteEntry> entries, std::size_t at,
                                                  std::vector<std::pair<std::string, std::string>>& aside);

}  // namespace rewright::experiment
