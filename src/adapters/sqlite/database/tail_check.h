// Recognises a store that lost its newest transactions, before it is opened: the database is
// missing, empty, another one or an older one, or its write-ahead log is gone, cut or replaced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/sqlite_store.h"
#include "adapters/sqlite/database/store_marker.h"

namespace postrider::sqlite {

/// The contents of the table store_state.
struct StoreState {
  std::string identity;  // In hexadecimal.
  std::int64_t position = 0;
  bool copied = false;
};

/// Nullopt if the database has no such table, because an older version wrote it.
[[nodiscard]] Result<std::optional<StoreState>> read_store_state(Database& database);

struct TailCheck {
  std::optional<Marker> marker;
  std::optional<std::string> loss;  // Sentences that say what is missing.
  /// The database file and the log beside it do not belong together. Applying the log would damage
  /// the database.
  bool foreign_log = false;
  bool restored = false;  // The database is a backup that no server has opened yet.
};

/// Changes nothing. Call while no other connection of this process uses the database. Fails with
/// unavailable if the disk fails, corrupt if the database cannot be read.
[[nodiscard]] Result<TailCheck> check_tail(const SqliteOptions& options);

/// What the operator reads when the server refuses to start.
[[nodiscard]] std::string refusal_of(const std::string& loss);

/// Renames the log so that it is not applied, and removes its index.
[[nodiscard]] Result<void> set_log_aside(const std::filesystem::path& directory);

}  // namespace postrider::sqlite
