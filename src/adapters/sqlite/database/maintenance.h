// Maintenance of a data directory: reading its schema version, migrating it while no server uses
// it, and backing it up while a server may use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/base/result.h"
#include "ports/schema_versions.h"

#include "adapters/sqlite/database/sqlite_store.h"

namespace postrider {

/// Reads the version without changing anything. Fails with not_found when there is no store.
[[nodiscard]] Result<SchemaVersions> sqlite_schema_versions(const SqliteOptions& options);

/// Migrates the schema to the newest version, as opening the store does. `found` is the version
/// before. Fails with conflict while a server uses the directory, not_found when there is no store.
[[nodiscard]] Result<SchemaVersions> migrate_sqlite(const SqliteOptions& options);

/// In pages.
using BackupProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Copies a consistent snapshot of the store into `target`, which appears only when it is complete
/// and synced. Does not disturb a server that uses the directory. The copy is one file, readable by
/// its owner only, because it contains all secrets. Replaces an existing `target`. Fails with
/// not_found when there is no store, unavailable when the disk fails, corrupt when the copy fails
/// its integrity check.
[[nodiscard]] Result<void> back_up_sqlite(const SqliteOptions& options,
                                          const std::filesystem::path& target,
                                          const BackupProgress& progress);

}  // namespace postrider
