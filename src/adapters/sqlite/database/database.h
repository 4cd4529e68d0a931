// A C++ wrapper of the SQLite C API: connection, prepared statements, errors as Result. Independent
// of the schema. A connection and its statements are used by one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

#include "adapters/sql/database.h"

struct sqlite3;

namespace postrider::sqlite {

using sql::Blob;
using sql::blob_or_null;
using sql::Query;
using sql::Statement;

enum class Access : std::uint8_t { write, read };

struct OpenOptions {
  std::filesystem::path file;
  Access access = Access::write;
  std::string vfs;  // Empty: the default.
  /// Reads the file as it is, without its log and without locks. With Access::read only.
  bool ignores_log = false;
};

class Database final : public sql::Database {
 public:
  [[nodiscard]] static Result<Database> open(const OpenOptions& options);

  /// One or more statements without parameters.
  [[nodiscard]] Result<void> execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) override;

  /// Replaces the contents of this database with those of `source`. Calls `progress(copied, total)`
  /// in pages, unless it is empty.
  [[nodiscard]] Result<void> copy_from(
      Database& source, const std::function<void(std::uint64_t, std::uint64_t)>& progress);

  [[nodiscard]] std::int64_t changes() const override;
  [[nodiscard]] std::string_view row_lock() const override { return {}; }
  /// The number of rows that all statements of this connection have changed.
  [[nodiscard]] std::int64_t total_changes() const;

  /// Pages in the write-ahead log after the last commit.
  [[nodiscard]] int wal_pages() const { return *wal_pages_; }
  /// Copies the log into the database file as far as possible without waiting for readers.
  [[nodiscard]] Result<void> checkpoint();
  /// Copies all of the log into the database file and empties it, unless a reader prevents that.
  [[nodiscard]] Result<void> truncate_wal();
  /// True if the last checkpoint copied all of the log.
  [[nodiscard]] bool log_copied() const { return log_copied_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  explicit Database(sqlite3* connection) : connection_(connection) {}
  [[nodiscard]] Result<void> checkpoint(int mode);

  // On the heap, because SQLite keeps its address and this object can be moved. Must outlive the
  // connection.
  std::unique_ptr<int> wal_pages_ = std::make_unique<int>(0);
  std::unique_ptr<sqlite3, Close> connection_;
  bool log_copied_ = false;
};

}  // namespace postrider::sqlite
