#include "adapters/sqlite/copy/copy_source.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/model/shard_number.h"

#include "adapters/sql/admin/request_shape_rows.h"
#include "adapters/sql/admin/webhook_secrets.h"
#include "adapters/sqlite/copy/attempt_order.h"
#include "adapters/sqlite/copy/copied_rows.h"
#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/migrations.h"
#include "adapters/sqlite/database/tail_check.h"

namespace postrider {
namespace {

using sqlite::Database;
using sqlite::Query;
using sqlite::Statement;

constexpr std::string_view copy_settings =
    "PRAGMA mmap_size = 0; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
    "PRAGMA trusted_schema = OFF";

constexpr std::string_view last_number_sql = R"sql(
  SELECT max(ifnull((SELECT max(sequence) FROM event), 0),
             ifnull((SELECT max(sequence) FROM delivery), 0),
             (SELECT sequence FROM removed), (SELECT count(*) FROM attempt))
)sql";

constexpr std::string_view oldest_sql =
    "SELECT min(id) FROM (SELECT min(id) AS id FROM event UNION ALL SELECT min(id) FROM delivery)";

// ?3: the number of the attempt in the order of recording.
constexpr std::string_view copied_attempt = R"sql(
  (SELECT d.id AS delivery_id, a.number, a.id,
          (SELECT l.webhook_id FROM lane l WHERE l.lane = d.lane) AS webhook_id,
          (SELECT t.name FROM tenant t WHERE t.tenant = d.tenant) AS tenant_id,
          ?3 AS recorded, a.executed_at, a.duration_us, a.trigger, a.scheduled_at,
          a.next_retry_at, a.failure_category, a.http_status, a.detail
     FROM attempt a NOT INDEXED CROSS JOIN delivery d NOT INDEXED ON d.sequence = a.delivery
    WHERE a.delivery = ?1 AND a.number = ?2) v
)sql";

constexpr std::string_view sealed_webhooks_sql =
    "SELECT id, secret, old_secrets, headers FROM webhook WHERE sealed = 1";
constexpr std::string_view sealed_shapes_sql =
    "SELECT webhook_id, number, sealed, shape FROM request_shape WHERE sealed = 1";

/// The current row of a query. A column with the name `shard` is computed from `webhook_id`.
class QueryRow final : public CopyRow {
 public:
  QueryRow(const Query& query, const std::vector<CopyColumn>& columns)
      : query_(query),
        shard_(index_of(columns, "shard")),
        webhook_(index_of(columns, "webhook_id")) {}

  [[nodiscard]] bool is_null(int column) const override { return query_.is_null(column); }
  [[nodiscard]] std::int64_t integer(int column) const override {
    return column == shard_ ? shard_of(query_.id<WebhookId>(webhook_)) : query_.integer(column);
  }
  [[nodiscard]] double real(int column) const override { return query_.real(column); }
  [[nodiscard]] std::string_view bytes(int column) const override { return query_.bytes(column); }

 private:
  static int index_of(const std::vector<CopyColumn>& columns, std::string_view name) {
    const auto found = std::ranges::find(columns, name, &CopyColumn::name);
    return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
  }

  const Query& query_;
  int shard_;  // -1: there is none.
  int webhook_;
};

/// The names are qualified, because SQLite reads an unknown quoted name as a text.
std::string select_list(const std::vector<CopyColumn>& columns) {
  std::string list;
  for (const CopyColumn& column : columns) {
    list += fmt::format("{}v.\"{}\"", list.empty() ? "" : ", ", column.name);
  }
  return list;
}

Result<std::int64_t> read_number(Database& database, std::string_view sql) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.integer(0) : 0;
}

Result<void> check_sealed_webhooks(Database& database, const Vault* vault) {
  POSTRIDER_TRY(Statement statement, database.prepare(sealed_webhooks_sql));
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return {};
    }
    Webhook webhook{.id = query.id<WebhookId>(0)};
    POSTRIDER_CHECK(sql::unpack_secrets({.secret = query.text(1),
                                         .old_secrets = query.text(2),
                                         .headers = query.text(3),
                                         .sealed = true},
                                        vault, webhook));
  }
}

Result<void> check_sealed_shapes(Database& database, const Vault* vault) {
  POSTRIDER_TRY(Statement statement, database.prepare(sealed_shapes_sql));
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return {};
    }
    POSTRIDER_CHECK(sql::open_columns(sql::read_shape_columns(query, 2),
                                      {query.id<WebhookId>(0), query.as<std::uint32_t>(1)}, vault));
  }
}

/// An id begins with 48 bits of milliseconds.
Result<std::optional<WallTime>> read_oldest(Database& database) {
  POSTRIDER_TRY(Statement statement, database.prepare(oldest_sql));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  if (!found || query.is_null(0)) {
    return std::nullopt;
  }
  const Uuid id = query.id<EventId>(0).bytes;
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    ms = ms << 8 | id[i];
  }
  return wall_from_unix_ms(ms);
}

Result<CopyOrigin> read_origin(Database& database) {
  POSTRIDER_TRY(const std::optional<sqlite::StoreState> state, sqlite::read_store_state(database));
  if (!state) {
    return fail(Errc::corrupt, "The table store_state is missing.");
  }
  CopyOrigin origin{.identity = state->identity, .position = state->position};
  POSTRIDER_TRY(origin.last_number, read_number(database, last_number_sql));
  POSTRIDER_TRY(origin.oldest, read_oldest(database));
  return origin;
}

class SqliteCopySource final : public CopySource {
 public:
  SqliteCopySource(sqlite::DirectoryLock lock, Database database, CopyOrigin origin)
      : lock_(std::move(lock)), database_(std::move(database)), origin_(std::move(origin)) {}

  [[nodiscard]] const CopyOrigin& origin() const override { return origin_; }

  Result<std::uint64_t> count(std::string_view table) override {
    const sqlite::CopiedRows* const rows = sqlite::find_copied_rows(table);
    const std::string sql = rows != nullptr && !rows->count.empty()
                                ? std::string{rows->count}
                                : fmt::format("SELECT count(*) FROM {}", table);
    POSTRIDER_TRY(const std::int64_t number, read_number(database_, sql));
    return static_cast<std::uint64_t>(number);
  }

  Result<void> read(const Read& what, const TakeCopyRow& take) override {
    if (what.table == "attempt") {
      return read_attempts(what, take);
    }
    const sqlite::CopiedRows* const rows = sqlite::find_copied_rows(what.table);
    POSTRIDER_ASSERT(rows != nullptr);
    std::uint64_t skip = what.skip;
    for (const sqlite::CopiedPart& part : rows->parts) {
      POSTRIDER_CHECK(read_part(part, *what.columns, skip, take));
    }
    return {};
  }

 private:
  /// Subtracts the rows that it skips from `skip`.
  Result<void> read_part(const sqlite::CopiedPart& part, const std::vector<CopyColumn>& columns,
                         std::uint64_t& skip, const TakeCopyRow& take) {
    std::uint64_t offset = 0;
    if (skip > 0) {
      POSTRIDER_TRY(const std::int64_t count,
                    read_number(database_, fmt::format("SELECT count(*) FROM {}", part.from)));
      offset = std::min(skip, static_cast<std::uint64_t>(count));
      skip -= offset;
    }
    const std::string sql = fmt::format("SELECT {} FROM {} ORDER BY {} LIMIT -1 OFFSET {}",
                                        select_list(columns), part.from, part.order, offset);
    POSTRIDER_TRY(Statement statement, database_.prepare(sql));
    Query query = statement.query();
    const QueryRow row{query, columns};
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return {};
      }
      POSTRIDER_CHECK(take(row));
    }
  }

  Result<void> read_attempts(const Read& what, const TakeCopyRow& take) {
    const std::string sql =
        fmt::format("SELECT {} FROM {}", select_list(*what.columns), copied_attempt);
    POSTRIDER_TRY(Statement statement, database_.prepare(sql));
    std::int64_t recorded = 0;
    return sqlite::for_each_recorded_attempt(
        database_, [&](const sqlite::AttemptKey& key) -> Result<void> {
          if (static_cast<std::uint64_t>(++recorded) <= what.skip) {
            return {};
          }
          Query query = statement.query(key.delivery, key.number, recorded);
          POSTRIDER_TRY(const bool found, query.next());
          if (!found) {
            return fail(Errc::corrupt, "The delivery of an attempt is missing.");
          }
          return take(QueryRow{query, *what.columns});
        });
  }

  sqlite::DirectoryLock lock_;
  Database database_;
  CopyOrigin origin_;
};

}  // namespace

Result<std::unique_ptr<CopySource>> open_sqlite_copy_source(const SqliteOptions& options) {
  const std::filesystem::path file = sqlite::database_file(options.directory);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return fail(Errc::not_found,
                fmt::format("There is no store in {}.", options.directory.string()));
  }
  POSTRIDER_TRY(sqlite::DirectoryLock lock, sqlite::DirectoryLock::acquire(options.directory));
  POSTRIDER_TRY(const sqlite::TailCheck found, sqlite::check_tail(options));
  if (found.loss) {
    return fail(Errc::corrupt, sqlite::refusal_of(*found.loss));
  }
  POSTRIDER_TRY(Database database,
                Database::open({.file = file, .access = sqlite::Access::read, .vfs = options.vfs}));
  POSTRIDER_CHECK(database.execute(std::string{copy_settings}));
  POSTRIDER_TRY(const std::int64_t version, read_number(database, "PRAGMA user_version"));
  if (version != sqlite::migrations().back().version) {
    return fail(Errc::invalid,
                fmt::format("The data directory has schema {}, not {}. Run `postrider migrate` "
                            "first.",
                            version, sqlite::migrations().back().version));
  }
  POSTRIDER_CHECK(check_sealed_webhooks(database, options.vault.get()));
  POSTRIDER_CHECK(check_sealed_shapes(database, options.vault.get()));
  POSTRIDER_TRY(CopyOrigin origin, read_origin(database));
  return std::make_unique<SqliteCopySource>(std::move(lock), std::move(database),
                                            std::move(origin));
}

}  // namespace postrider
