// The page of all experiments: the claims on top, then each experiment with its tables, plots and drawings. One file
// that asks for nothing, beside the tables as CSV and the raw results.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <span>
#include <string>

#include "experiment/findings.h"

namespace rewright::experiment {

struct SiteEntry {
  const Findings* findings = nullptr;
  std::string results;  ///< The folder with results.jsonl and the drawings.
};

/// The whole page. Errors: a drawing that cannot be read.
[[nodiscard]] REWRIGHT_API Result<std::string> site_page(std::span<const SiteEntry> entries);
/// FOLDER/index.html, and for each experiment FOLDER/NAME/ with its tables, plots and results.jsonl. Errors: kIo.
REWRIGHT_API Status write_site(std::span<const SiteEntry> entries, const std::string& folder);

}  // namespace rewright::experiment
