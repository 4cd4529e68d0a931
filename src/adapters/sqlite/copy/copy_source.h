// A data directory as the source of a copy. Nothing in it is changed.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "ports/store_copy.h"

#include "adapters/sqlite/database/sqlite_store.h"

namespace postrider {

/// Locks the directory as a server does. Fails with conflict if a server uses it, not_found if
/// there is no store, corrupt if it lost its newest transactions, invalid if its schema is not the
/// newest or `options.vault` cannot open a sealed value.
[[nodiscard]] Result<std::unique_ptr<CopySource>> open_sqlite_copy_source(
    const SqliteOptions& options);

}  // namespace postrider
