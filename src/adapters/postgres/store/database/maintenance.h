// Maintenance of a database while no server uses it. Any thread; calls block.
#pragma once

#include "core/base/result.h"
#include "ports/schema_versions.h"

#include "adapters/postgres/store/postgres_store.h"

namespace postrider {

/// Reads the version of the schema without changing anything. Servers may run. Fails with invalid
/// if the database holds something else or was written by a newer version, with unavailable if it
/// cannot be reached.
[[nodiscard]] Result<SchemaVersions> postgres_schema_versions(const PostgresOptions& options);

/// Migrates the schema to the newest version, as the start of a server does. `found` is the version
/// before. Fails like postgres_schema_versions, and with conflict if the schema is older and a
/// process uses the database: servers of the older version would continue with tables that they do
/// not know.
[[nodiscard]] Result<SchemaVersions> migrate_postgres(const PostgresOptions& options);

}  // namespace postrider
