// Measured costs that outlive a run: one table of an SQLite database, a campaign's store or a file of its own.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/cost.h>

#include <memory>
#include <string>

namespace rewright {

/// Opens the table in the database `path`, which is made if there is none. One key is written at a time, so that an
/// interrupted run keeps what it measured. Not for several threads at once; several processes may share the file.
/// Errors: kIo with the file and SQLite's reason.
[[nodiscard]] REWRIGHT_API Result<std::unique_ptr<CostCache>> open_cost_cache(const std::string& path);

}  // namespace rewright
