// The embedded store: one SQLite file in a data directory that one server owns.
//
// One connection writes and makes checkpoints, on the store thread, because SQLite 3.40 must not
// reset its WAL from two connections. Each reader has its own connection and never waits for the
// writer.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "ports/store.h"
#include "ports/vault.h"

namespace postrider {

struct SqliteOptions {
  std::filesystem::path directory;  // Created if missing, accessible by its owner only.
  /// The name of SQLite's file layer (VFS). Empty: the default. Tests inject faults here.
  std::string vfs;
  /// The log size, in pages of 4 KiB, at which the writer makes a checkpoint. 16 MB: infrequent,
  /// and each checkpoint takes only milliseconds.
  int checkpoint_pages = 4'096;
  /// Lets a new file shrink after retention (incremental vacuum), for about 5 % of the store's CPU
  /// time. Without it, free space is kept and reused. Has no effect on an existing file.
  bool shrinks = false;
  /// Opens a store that lost its newest transactions, with what is left. Without it, such a store
  /// is not opened.
  bool accept_data_loss = false;
  /// Hashes the chain of the audit log. Required to append to the log.
  Digest digest = nullptr;
  /// Encrypts webhook secrets and headers, including those in recorded requests. Null: they are
  /// stored in plain text.
  std::shared_ptr<const Vault> vault = nullptr;
};

/// Creates or opens the store and migrates its schema. Fails with conflict if another server uses
/// the directory, invalid if the directory cannot be used or was written by a newer version,
/// unavailable if the disk fails, corrupt if the file is damaged or lost its newest transactions
/// (tail_check.h). All roles share one connection. The directory stays locked until the last role
/// is destroyed.
[[nodiscard]] Result<Store> open_sqlite_store(const SqliteOptions& options);

/// Opens a reader of a store that is already open. Use one per reader thread.
[[nodiscard]] Result<Reader> open_sqlite_reader(const SqliteOptions& options);

}  // namespace postrider
