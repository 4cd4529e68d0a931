// `postrider migrate` and `postrider backup`. They open the store directly, which only main can do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "ports/schema_versions.h"

#include "cli/commands/store_options.h"

namespace postrider {

/// Both return the exit code: 2 if the data directory or database cannot be used.
[[nodiscard]] int migrate(const cli::MigrateOptions& options);
[[nodiscard]] int back_up(const cli::BackupOptions& options);

/// The check of `postrider doctor --deep`. See check_sqlite_deeply.
[[nodiscard]] Result<std::vector<std::string>> check_store(
    const std::string& directory,
    const std::function<void(std::uint64_t, std::uint64_t, const std::string&)>& progress);

/// The check of `postrider doctor` on a database. See postgres_schema_versions.
[[nodiscard]] Result<SchemaVersions> read_database_versions(const Secret<std::string>& address);

}  // namespace postrider
