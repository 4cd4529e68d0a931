// The CopyTarget port on PostgreSQL. One thread.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "ports/store_copy.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/postgres_store.h"

namespace postrider {

/// Keeps servers from using the database, and creates or migrates its tables. Fails like
/// open_postgres_store; with conflict if a server uses the database. `options.now` must be set.
[[nodiscard]] Result<std::unique_ptr<CopyTarget>> open_postgres_copy_target(
    const PostgresOptions& options);

namespace postgres {

/// The tables that are not copied. Servers keep their own state there.
[[nodiscard]] std::span<const std::string_view> tables_not_copied();

/// Call when a server begins to use the database. If the database holds a copy, records that it may
/// differ from its original from now on. Fails with invalid if the copy is unfinished.
[[nodiscard]] Result<void> begin_to_use_copy(Session& session);

}  // namespace postgres
}  // namespace postrider
