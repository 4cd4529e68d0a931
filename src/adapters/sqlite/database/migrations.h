// The schema migrations: numbered SQL files, embedded in the binary, applied forward only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/embedded_file.h"
#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

struct Migration {
  int version = 0;  // PRAGMA user_version after this migration.
  std::string sql;
};

/// The files in migrations/, oldest first. A name starts with the version it leads to.
[[nodiscard]] std::span<const EmbeddedFile> embedded_migrations();

/// Oldest first, without gaps.
[[nodiscard]] const std::vector<Migration>& migrations();

/// Migrates an open database to the newest version, each step in its own transaction. Fails with
/// invalid if the file is not a Postrider database or was written by a newer version.
[[nodiscard]] Result<void> migrate(Database& database);

}  // namespace postrider::sqlite
