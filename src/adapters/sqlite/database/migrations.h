// The schema's history: numbered SQL files, built into the binary, applied forward only.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

struct Migration {
  int version = 0;  // What PRAGMA user_version says once it is applied.
  std::string sql;
};

/// Oldest first, without gaps.
[[nodiscard]] const std::vector<Migration>& migrations();

/// Brings an open database to the newest version, each step in its own transaction. Fails with
/// invalid when the file is someone else's or was written by a newer version.
[[nodiscard]] Result<void> migrate(Database& database);

}  // namespace postrider::sqlite
