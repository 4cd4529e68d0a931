// Checks the database in small steps, on a connection of its own.
#pragma once

#include <memory>

#include "ports/store_check.h"

#include "adapters/sqlite/database/sqlite_store.h"

namespace postrider {

/// Each step opens the file anew, so that it reads the pages from the file and not from a cache,
/// and holds a snapshot only for a few milliseconds, so that the log can be reset.
[[nodiscard]] std::unique_ptr<StoreCheck> make_sqlite_store_check(const SqliteOptions& options);

}  // namespace postrider
