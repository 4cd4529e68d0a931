#include "adapters/sqlite/database/maintenance.h"

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/migrations.h"
#include "adapters/sqlite/database/tail_check.h"

namespace postrider {
namespace {

namespace fs = std::filesystem;
using sqlite::Access;
using sqlite::Database;

/// The copy is written to this file first, so that an incomplete copy never looks complete.
fs::path partial_of(const fs::path& target) { return target.string() + ".partial"; }

Result<std::string> read_text(Database& database, std::string_view sql) {
  POSTRIDER_TRY(sqlite::Statement statement, database.prepare(sql));
  sqlite::Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.text(0) : std::string{};
}

/// Lets the server that opens the copy recognise it as a backup (tail_check.h).
Result<void> mark_as_copy(Database& copy) {
  POSTRIDER_TRY(const std::optional<sqlite::StoreState> state, sqlite::read_store_state(copy));
  return state ? copy.execute("UPDATE store_state SET copied = 1") : Result<void>{};
}

Result<Database> open_existing(const SqliteOptions& options) {
  const fs::path file = sqlite::database_file(options.directory);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return fail(Errc::not_found,
                fmt::format("There is no store in {}.", options.directory.string()));
  }
  return Database::open({.file = file, .access = Access::read, .vfs = options.vfs});
}

Result<void> sync(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int code = errno;
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  if (!synced) {
    return fail(Errc::unavailable, fmt::format("Cannot sync {} to disk: {}.", path.string(),
                                               std::generic_category().message(code)));
  }
  return {};
}

Result<void> copy(const SqliteOptions& options, const fs::path& partial,
                  const BackupProgress& progress) {
  POSTRIDER_TRY(Database source, open_existing(options));
  POSTRIDER_CHECK(sqlite::create_private_file(partial));
  POSTRIDER_TRY(Database target, Database::open({.file = partial, .access = Access::write}));
  // One snapshot for the whole copy: later writes are not part of it.
  POSTRIDER_CHECK(source.execute("BEGIN; SELECT count(*) FROM sqlite_schema"));
  POSTRIDER_CHECK(target.copy_from(source, progress));
  POSTRIDER_CHECK(source.execute("COMMIT"));
  // The copy inherits WAL mode from its source. Without it, the copy is one self-contained file.
  POSTRIDER_CHECK(target.execute("PRAGMA journal_mode = DELETE"));
  POSTRIDER_CHECK(mark_as_copy(target));
  POSTRIDER_TRY(const std::string verdict, read_text(target, "PRAGMA quick_check(1)"));
  if (verdict != "ok") {
    return fail(Errc::corrupt, fmt::format("The copy failed its integrity check: {}.", verdict));
  }
  return {};
}

void remove_partial(const fs::path& partial) {
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(partial.string() + suffix, ignored);
  }
}

Result<void> put_in_place(const fs::path& partial, const fs::path& target) {
  POSTRIDER_CHECK(sync(partial));
  std::error_code error;
  fs::rename(partial, target, error);
  if (error) {
    return fail(Errc::unavailable,
                fmt::format("Cannot write {}: {}.", target.string(), error.message()));
  }
  const fs::path folder = target.parent_path();
  return sync(folder.empty() ? fs::path{"."} : folder);
}

}  // namespace

Result<SchemaVersions> sqlite_schema_versions(const SqliteOptions& options) {
  POSTRIDER_TRY(Database database, open_existing(options));
  POSTRIDER_TRY(sqlite::Statement statement, database.prepare("PRAGMA user_version"));
  sqlite::Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return SchemaVersions{.found = found ? query.integer(0) : 0,
                        .newest = sqlite::migrations().back().version};
}

Result<SchemaVersions> migrate_sqlite(const SqliteOptions& options) {
  POSTRIDER_TRY(const SchemaVersions versions, sqlite_schema_versions(options));
  POSTRIDER_TRY(const Store store, open_sqlite_store(options));
  return versions;
}

Result<void> back_up_sqlite(const SqliteOptions& options, const fs::path& target,
                            const BackupProgress& progress) {
  const fs::path partial = partial_of(target);
  remove_partial(partial);
  Result<void> done = copy(options, partial, progress);
  if (done) {
    done = put_in_place(partial, target);
  }
  if (!done) {
    remove_partial(partial);
  }
  return done;
}

}  // namespace postrider
