// The store in a PostgreSQL database.
//
// One connection per server writes, on the store thread. Each reader has its own connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/store.h"
#include "ports/vault.h"

#include "adapters/postgres/connection.h"

namespace postrider {

/// Who else may write to the database while the store is open. The connection that writes keeps a
/// lock for this.
enum class DatabaseUse : std::uint8_t {
  unlocked,  ///< Anyone. There is no lock.
  /// Others that share it: the nodes of a cluster. Behind a connection pool, each transaction takes
  /// the lock.
  shared,
  alone,  ///< Nobody. Not possible through a connection pool.
};

struct PostgresOptions {
  postgres::ConnectOptions connect;
  /// Hashes the chain of the audit log. Required to append to the log.
  Digest digest = nullptr;
  /// Encrypts webhook secrets and headers, including those in recorded requests. Null: they are
  /// stored in plain text.
  std::shared_ptr<const Vault> vault = nullptr;
  /// Set by the owner to end waiting for the database within seconds. Null: never.
  std::shared_ptr<const postgres::Interruption> interruption = nullptr;
  /// The current time. Opening the store creates the partitions of this month and the next ones.
  /// Nullopt: it creates none.
  std::optional<WallTime> now = std::nullopt;
  /// Opening and reconnecting fail while another process uses the database in an incompatible way.
  DatabaseUse use = DatabaseUse::unlocked;
};

/// Creates the tables in an empty database or schema, or migrates them. Fails with invalid if the
/// database cannot be used: it holds something else, was written by a newer version, or has another
/// encoding than UTF-8. Fails with unavailable if the server cannot be reached. All roles share one
/// connection. Fails with conflict if another process uses the database; see PostgresOptions::use.
/// Fails with invalid if an unfinished copy is in it (copy_target.h).
[[nodiscard]] Result<Store> open_postgres_store(const PostgresOptions& options);

/// Opens a reader of a store that has been opened before. Use one per reader thread. It connects
/// again by itself.
[[nodiscard]] Result<Reader> open_postgres_reader(const PostgresOptions& options);

}  // namespace postrider
