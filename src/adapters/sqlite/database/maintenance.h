// Work on a data directory that is not the server's daily business: migrating it while nobody uses
// it, and copying it while somebody does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/base/result.h"

#include "adapters/sqlite/database/sqlite_store.h"

namespace postrider {

struct SchemaVersions {
  std::int64_t found = 0;   // What the directory has; 0: no store yet.
  std::int64_t newest = 0;  // What this program knows.
};

/// Reads the version without changing anything. Fails with not_found when there is no store.
[[nodiscard]] Result<SchemaVersions> sqlite_schema_versions(const SqliteOptions& options);

/// Brings the schema up to date as opening the store does. `found` is what it was before. Fails
/// with conflict while a server uses the directory, not_found when there is no store.
[[nodiscard]] Result<SchemaVersions> migrate_sqlite(const SqliteOptions& options);

/// Pages copied, and pages in all.
using BackupProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Copies the store as it is at one moment into `target`, which appears only when it is complete
/// and on disk. A server that uses the directory goes on undisturbed. The copy is one file,
/// readable by its owner alone: it holds every secret. An existing `target` is replaced. Fails with
/// not_found when there is no store, unavailable when the disk fails, corrupt when the copy does
/// not check out.
[[nodiscard]] Result<void> back_up_sqlite(const SqliteOptions& options,
                                          const std::filesystem::path& target,
                                          const BackupProgress& progress);

}  // namespace postrider
