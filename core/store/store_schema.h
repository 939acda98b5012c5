// The tables of a store, version by version. core/store/README.md says what they hold.
#pragma once

#include "store/sqlite_database.h"

namespace rewright {

/// Step i takes a database from version i to i + 1. A released step is never changed: a new one is added.
[[nodiscard]] Migrations store_schema();

}  // namespace rewright
