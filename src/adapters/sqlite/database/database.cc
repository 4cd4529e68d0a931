#include "adapters/sqlite/database/database.h"

#include <cerrno>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/base/assert.h"

namespace postrider::sqlite {
namespace {

// Another process, for example a sqlite3 shell, may lock the file briefly.
constexpr int busy_timeout_ms = 5'000;

/// SQLite reports a read that the disk refused as corruption too, although the file may be sound
/// and the error temporary. The failed read leaves its reason in errno.
bool is_read_error() { return errno == EIO || errno == ENXIO || errno == ERANGE; }

/// Call before each SQLite call that reads, so that is_read_error refers to that call.
void reset_errno() { errno = 0; }

/// Maps SQLite's result codes to Errc.
tl::unexpected<Error> failure(sqlite3* connection, int code) {
  const int primary = code & 0xff;
  const bool damaged = (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) && !is_read_error();
  const int extended = connection != nullptr ? sqlite3_extended_errcode(connection) : code;
  return fail(damaged ? Errc::corrupt : Errc::unavailable,
              fmt::format("The store failed: {} (SQLite code {}).", sqlite3_errstr(primary),
                          (extended & 0xff) == primary ? extended : code));
}

tl::unexpected<Error> failure(sqlite3_stmt* statement, int code) {
  return failure(sqlite3_db_handle(statement), code);
}

void configure_once() {
  // SQLite's memory statistics take a global lock in every allocation.
  static std::once_flag once;
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

/// The URI of a file that is read without its log.
std::string without_log(const std::string& file) {
  std::string uri = "file:";
  for (const char c : file) {
    const bool special = c == '%' || c == '?' || c == '#';
    uri += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return uri + "?immutable=1";
}

int note_wal_pages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

class SqliteCursor final : public sql::Cursor {
 public:
  explicit SqliteCursor(sqlite3_stmt* statement) : statement_(statement) {}

  // Binding fails for an index that the SQL does not have, which is a programming error, or without
  // memory, which the next step reports.
  void bind_null(int index) override {
    POSTRIDER_ASSERT(sqlite3_bind_null(statement_.get(), index) != SQLITE_RANGE);
  }

  void bind_integer(int index, std::int64_t value) override {
    POSTRIDER_ASSERT(sqlite3_bind_int64(statement_.get(), index, value) != SQLITE_RANGE);
  }

  void bind_real(int index, double value) override {
    POSTRIDER_ASSERT(sqlite3_bind_double(statement_.get(), index, value) != SQLITE_RANGE);
  }

  void bind_text(int index, std::string_view text, bool copy) override {
    // A null pointer would bind NULL instead of an empty text.
    const char* data = text.data() == nullptr ? "" : text.data();
    const int code = sqlite3_bind_text64(statement_.get(), index, data, text.size(),
                                         copy ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
    POSTRIDER_ASSERT(code != SQLITE_RANGE);
  }

  void bind_blob(int index, std::string_view bytes, bool copy) override {
    const char* data = bytes.data() == nullptr ? "" : bytes.data();
    const int code = sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(),
                                         copy ? SQLITE_TRANSIENT : SQLITE_STATIC);
    POSTRIDER_ASSERT(code != SQLITE_RANGE);
  }

  Result<bool> next() override {
    reset_errno();
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) {
      return true;
    }
    if (code == SQLITE_DONE) {
      return false;
    }
    return failure(statement_.get(), code);
  }

  Result<void> run() override {
    int code = SQLITE_ROW;
    reset_errno();
    while (code == SQLITE_ROW) {
      code = sqlite3_step(statement_.get());
    }
    if (code != SQLITE_DONE) {
      auto error = failure(statement_.get(), code);
      reset();
      return error;
    }
    reset();
    return {};
  }

  void reset() override { sqlite3_reset(statement_.get()); }

  [[nodiscard]] bool is_null(int column) const override {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }

  [[nodiscard]] std::int64_t integer(int column) const override {
    return sqlite3_column_int64(statement_.get(), column);
  }

  [[nodiscard]] double real(int column) const override {
    return sqlite3_column_double(statement_.get(), column);
  }

  [[nodiscard]] std::string_view bytes(int column) const override {
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return {static_cast<const char*>(data), data == nullptr ? 0 : static_cast<std::size_t>(size)};
  }

 private:
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace

void Database::Close::operator()(sqlite3* connection) const {
  // v2: a statement that outlives its connection keeps it alive instead of dangling.
  sqlite3_close_v2(connection);
}

Result<Database> Database::open(const OpenOptions& options) {
  configure_once();
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (options.access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                     : SQLITE_OPEN_READONLY);
  const std::string name =
      options.ignores_log ? without_log(options.file.string()) : options.file.string();
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &raw, flags | (options.ignores_log ? SQLITE_OPEN_URI : 0),
                      options.vfs.empty() ? nullptr : options.vfs.c_str());
  Database database{raw};
  if (code != SQLITE_OK) {
    return failure(raw, code);
  }
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  // This hook replaces automatic checkpoints: the writer decides when to make one. Closing makes
  // none either, because after a failure nothing may touch the file before it is reopened.
  sqlite3_wal_hook(raw, note_wal_pages, database.wal_pages_.get());
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  reset_errno();
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return failure(connection_.get(), code);
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  reset_errno();
  const int code = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    return failure(connection_.get(), code);
  }
  return Statement{std::make_unique<SqliteCursor>(statement)};
}

Result<void> Database::copy_from(
    Database& source, const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  constexpr int pages_at_once = 1'024;  // 4 MB: frequent progress at little overhead.
  sqlite3_backup* const backup =
      sqlite3_backup_init(connection_.get(), "main", source.connection_.get(), "main");
  if (backup == nullptr) {
    return failure(connection_.get(), sqlite3_errcode(connection_.get()));
  }
  int code = SQLITE_OK;
  while (code == SQLITE_OK) {
    code = sqlite3_backup_step(backup, pages_at_once);
    if (progress) {
      const auto total = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup));
      progress(total - static_cast<std::uint64_t>(sqlite3_backup_remaining(backup)), total);
    }
  }
  const int finished = sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE || finished != SQLITE_OK) {
    return failure(connection_.get(), code != SQLITE_DONE ? code : finished);
  }
  return {};
}

std::int64_t Database::changes() const { return sqlite3_changes64(connection_.get()); }

std::int64_t Database::total_changes() const { return sqlite3_total_changes64(connection_.get()); }

Result<void> Database::checkpoint() { return checkpoint(SQLITE_CHECKPOINT_PASSIVE); }

Result<void> Database::truncate_wal() {
  // Do not wait for a reader: a later call will empty the log.
  sqlite3_busy_timeout(connection_.get(), 0);
  const Result<void> done = checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  sqlite3_busy_timeout(connection_.get(), busy_timeout_ms);
  return done;
}

Result<void> Database::checkpoint(int mode) {
  int frames = -1;
  int copied = -1;
  const int code = sqlite3_wal_checkpoint_v2(connection_.get(), nullptr, mode, &frames, &copied);
  log_copied_ = code == SQLITE_OK && frames == copied && frames >= 0;
  if (code != SQLITE_OK && code != SQLITE_BUSY) {
    return failure(connection_.get(), code);
  }
  return {};
}

}  // namespace postrider::sqlite
