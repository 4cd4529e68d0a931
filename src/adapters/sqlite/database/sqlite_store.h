// The embedded store: one SQLite file in a data directory that one server owns.
//
// One connection, on the store thread, writes and checkpoints; SQLite 3.40's WAL must not be reset
// by two. Readers have connections of their own and never wait for the writer.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "ports/store.h"
#include "ports/vault.h"

namespace postrider {

struct SqliteOptions {
  std::filesystem::path directory;  // Made when missing, for its owner's eyes only.
  /// SQLite's file layer by name. Empty: the system's. Tests put faults here.
  std::string vfs;
  /// Pages of 4 KiB in the log that make the writer move them into the file. 16 MB: rare enough
  /// that it costs little, small enough that it is over in milliseconds.
  int checkpoint_pages = 4'096;
  /// A new file can become smaller again after retention. It costs about a twentieth of the store's
  /// processor time; without it the space is kept and reused. An old file stays what it is.
  bool shrinks = false;
  /// For the chain of the audit log. Without it nothing can be appended to the log.
  Digest digest = nullptr;
  /// Seals webhooks' secrets and headers, also those of requests that were sent. Null: they are
  /// stored as they are.
  std::shared_ptr<const Vault> vault = nullptr;
};

/// Creates or opens the store and brings its schema up to date. Fails with conflict when another
/// server uses the directory, invalid when it cannot be used at all or was written by a newer
/// version, unavailable when the disk fails, corrupt when the file is damaged. All roles share one
/// connection; the directory stays locked until the last of them is gone.
[[nodiscard]] Result<Store> open_sqlite_store(const SqliteOptions& options);

/// A reader of a store that is open already. One per reader thread.
[[nodiscard]] Result<Reader> open_sqlite_reader(const SqliteOptions& options);

}  // namespace postrider
