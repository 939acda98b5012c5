// What each rule gained in a model, for the stores that the rules came from.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/optimize/search.h>

#include <string>
#include <vector>

#include "store/store.h"

namespace rewright {

/// One record for each rule on the path to the result, in the order of first use; a rule's gain is the sum over its
/// steps of cost before minus cost after. What `run` says of model, search and cost model is copied into each.
[[nodiscard]] REWRIGHT_API std::vector<UseRecord> uses_of(const SearchResult& result, const UseRecord& run);

/// Keeps the uses of those rules that the store holds: all, or none. Errors: the store cannot be opened or written.
REWRIGHT_API Status record_uses(const std::string& store, const std::vector<UseRecord>& uses);

}  // namespace rewright
