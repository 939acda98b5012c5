// The report: a page of all claims by what they are taken from, the papers' before our own, with filters; a page for
// each experiment with its claims, plots, tables and drawings. Pages ask for nothing and need no server; beside them
// are the tables as CSV, the raw results, and drawings that are too large for a page.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <span>
#include <string>

#include "experiment/site_parts.h"

namespace rewright::experiment {

/// FOLDER/index.html, FOLDER/NAME.html for each experiment, and FOLDER/NAME/ with its tables, plots and results.jsonl.
/// `works`: the order of what claims are taken from. Errors: kIo; a drawing that cannot be read.
REWRIGHT_API Status write_site(std::span<const SiteEntry> entries, std::span<const Work> works,
                               const std::string& folder);

}  // namespace rewright::experiment
