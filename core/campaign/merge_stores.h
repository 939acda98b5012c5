// One store of several: every candidate, goal and rule once, with the verdicts and the provenance of all.
// What happens where two stores differ is described in core/store/README.md.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rewright {

struct MergeReport {
  struct Part {
    std::string store;
    std::size_t rules = 0;
    std::size_t added = 0;  ///< That no store before it had.
  };
  std::vector<Part> parts;
  std::size_t rules = 0;
};

/// Makes the folder `target`, all of it or nothing. Errors: kUsage where it is there already; kMismatch where a store
/// is damaged, not finished, or contradicts another; kBudget where the disk is full. The stores that are read stay as
/// they are.
[[nodiscard]] REWRIGHT_API Result<MergeReport> merge_stores(std::span<const std::string> folders,
                                                            const std::string& target, const Registry& registry);

}  // namespace rewright
