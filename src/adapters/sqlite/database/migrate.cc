#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "core/base/assert.h"

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
    return fail(Errc::invalid,
                "The file postrider.db in the data directory is not a Postrider database.");
  }
  return {};
}

/// `0007_stats` leads to version 7.
int version_of(std::string_view name) {
  int version = 0;
  std::from_chars(name.data(), name.data() + name.size(), version);
  return version;
}

std::vector<Migration> read_migrations() {
  std::vector<Migration> all;
  for (const EmbeddedFile& file : embedded_migrations()) {
    all.push_back({.version = version_of(file.name), .sql = std::string{file.text}});
    POSTRIDER_ASSERT(all.back().version == static_cast<int>(all.size()));
  }
  return all;
}

}  // namespace

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> all = read_migrations();
  return all;
}

Result<void> migrate(Database& database) {
  POSTRIDER_CHECK(check_owner(database));
  POSTRIDER_TRY(const std::int64_t version, read_number(database, "PRAGMA user_version"));
  const int newest = migrations().back().version;
  if (version > newest) {
    return fail(
        Errc::invalid,
        fmt::format("The data directory was written by a newer version of Postrider (schema "
                    "{}; this version supports up to {}). Start the newer version, or "
                    "restore a backup.",
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
