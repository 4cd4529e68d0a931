#include <cstdint>

#include <fmt/format.h>

#include "adapters/sqlite/database/migrations.h"

namespace postrider::sqlite {
namespace {

constexpr std::int64_t application_id = 0x50735264;  // "PsRd"

Result<std::int64_t> read_number(Database& database, std::string_view sql) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.integer(0) : 0;
}

Result<void> check_owner(Database& database) {
  POSTRIDER_TRY(const std::int64_t tables,
                read_number(database, "SELECT count(*) FROM sqlite_schema"));
  POSTRIDER_TRY(const std::int64_t owner, read_number(database, "PRAGMA application_id"));
  if (owner != application_id && (owner != 0 || tables != 0)) {
    return fail(Errc::invalid, "The file postrider.db in the data directory is not Postrider's.");
  }
  return {};
}

}  // namespace

Result<void> migrate(Database& database) {
  POSTRIDER_CHECK(check_owner(database));
  POSTRIDER_TRY(const std::int64_t version, read_number(database, "PRAGMA user_version"));
  const int newest = migrations().back().version;
  if (version > newest) {
    return fail(Errc::invalid,
                fmt::format("The data directory was written by a newer postrider (schema {}; this "
                            "one knows up to {}). Start that version, or restore a backup.",
                            version, newest));
  }
  for (const Migration& migration : migrations()) {
    if (migration.version <= version) {
      continue;
    }
    const Result<void> applied = database.execute(
        fmt::format("BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {}; "
                    "COMMIT",
                    migration.sql, application_id, migration.version));
    if (!applied) {
      [[maybe_unused]] const Result<void> undone = database.execute("ROLLBACK");
      return applied;
    }
  }
  return {};
}

}  // namespace postrider::sqlite
