#include "adapters/postgres/store/copy/copy_target.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "adapters/postgres/store/copy/copied_table.h"
#include "adapters/postgres/store/database/partitions.h"
#include "adapters/postgres/store/database/writer.h"
#include "adapters/postgres/store/ledger/sequences.h"

namespace postrider {
namespace postgres {
namespace {

// A transaction of this size takes some ten milliseconds.
constexpr std::size_t batch_rows_max = 4'000;
constexpr std::size_t batch_bytes_max = 8u << 20;

/// Rows per FETCH. Small, because events can be large.
constexpr int rows_fetched = 128;

/// Longer than for a server, because the statements of a copy read and write more.
constexpr Millis copy_statement_max{600'000};

/// Older rows go to the default partitions.
constexpr int years_with_partitions = 10;

constexpr auto not_copied = std::to_array<std::string_view>(
    {"commit_mark", "ordered_lane", "lease_clock", "node", "shard_lease", "handoff",
     "catalog_version", "catalog_change", "store_copy", "copy_progress", "postrider_schema"});

constexpr std::string_view read_copy_sql =
    "SELECT identity, position, finished, used FROM store_copy";
constexpr std::string_view add_copy_sql =
    "INSERT INTO store_copy (id, identity, position) VALUES (1, $1, $2)";
constexpr std::string_view finish_copy_sql = "UPDATE store_copy SET finished = true";
constexpr std::string_view use_copy_sql = "UPDATE store_copy SET used = true WHERE NOT used";

constexpr std::string_view read_progress_sql =
    "SELECT rows, complete FROM copy_progress WHERE name = $1";
constexpr std::string_view put_progress_sql = R"sql(
  INSERT INTO copy_progress (name, rows, complete) VALUES ($1, $2, $3)
  ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, complete = excluded.complete
)sql";

/// A copy need not wait for the disk: rows and progress are stored together, so a lost batch is
/// copied again.
constexpr std::string_view set_durability_sql =
    "SELECT set_config('synchronous_commit', $1, false)";

constexpr std::string_view continue_sequences_sql =
    "SELECT setval('sequence_block', $1),"
    " setval(pg_get_serial_sequence('alert', 'sequence'), (SELECT max(sequence) FROM alert)),"
    " setval(pg_get_serial_sequence('notification', 'sequence'),"
    " (SELECT max(sequence) FROM notification))";

/// A new store has one row in this table.
constexpr std::string_view table_with_default_row = "source_reader";

class PostgresCopyTarget final : public CopyTarget {
 public:
  PostgresCopyTarget(std::unique_ptr<Writer> writer, Session reader, WallTime now)
      : writer_(std::move(writer)), reader_(std::move(reader)), now_(now) {}

  Result<CopyState> state(const CopyOrigin& origin) override {
    POSTRIDER_TRY(const Rows found, reader_.run(read_copy_sql));
    if (found.count() == 0) {
      POSTRIDER_CHECK(check_empty());
      return CopyState::none;
    }
    if (found.text(0, 0) != origin.identity) {
      return fail(Errc::conflict,
                  "The database holds a copy of another data directory. Use an empty database.");
    }
    if (found.boolean(0, 2)) {
      return found.boolean(0, 3) ? CopyState::used : CopyState::finished;
    }
    if (found.integer(0, 1) != origin.position) {
      return fail(Errc::conflict,
                  "The data directory has changed since the copy was begun. Empty the database "
                  "and copy again.");
    }
    return CopyState::unfinished;
  }

  Result<void> begin(const CopyOrigin& origin) override {
    POSTRIDER_CHECK(make_partitions(origin));
    POSTRIDER_TRY(const Rows found, reader_.run(read_copy_sql));
    if (found.count() == 0) {
      POSTRIDER_CHECK(write([&](Session& session) {
        session.queue(add_copy_sql, Parameters::of(origin.identity, origin.position));
        session.queue_once(fmt::format("DELETE FROM {}", table_with_default_row));
      }));
    }
    POSTRIDER_CHECK(writer_->session().run(set_durability_sql, Parameters::of("off")));
    return {};
  }

  Result<std::vector<CopyColumn>> columns(std::string_view table) override {
    POSTRIDER_TRY(const std::vector<TableColumn> stored, read_table_columns(reader_, table));
    std::vector<CopyColumn> columns;
    columns.reserve(stored.size());
    for (const TableColumn& column : stored) {
      columns.push_back({.name = column.name, .kind = kind_of(column.type)});
    }
    return columns;
  }

  Result<CopiedTable> progress(std::string_view table) override {
    POSTRIDER_TRY(const Rows rows, reader_.run(read_progress_sql, Parameters::of(table)));
    if (rows.count() == 0) {
      return CopiedTable{};
    }
    return CopiedTable{.rows = rows.as<std::uint64_t>(0, 0), .complete = rows.boolean(0, 1)};
  }

  Result<void> open_table(std::string_view table) override {
    POSTRIDER_TRY(std::vector<TableColumn> columns, read_table_columns(reader_, table));
    POSTRIDER_TRY(copied_, progress(table));
    table_ = table;
    batch_.emplace(table, std::move(columns));
    return {};
  }

  Result<void> add(const CopyRow& row) override {
    POSTRIDER_CHECK(batch_->add(row));
    const bool is_full = batch_->rows() >= batch_rows_max || batch_->bytes() >= batch_bytes_max;
    return is_full ? store_batch() : Result<void>{};
  }

  Result<void> close_table() override {
    copied_.complete = true;
    return store_batch();
  }

  Result<void> read(std::string_view table, const TakeCopyRow& take) override {
    POSTRIDER_TRY(const std::vector<TableColumn> columns, read_table_columns(reader_, table));
    reader_.queue_begin(Isolation::read);
    reader_.queue_once(fmt::format("DECLARE copied NO SCROLL CURSOR FOR SELECT {} FROM {}",
                                   column_list(columns), table));
    const std::string fetch = fmt::format("FETCH {} FROM copied", rows_fetched);
    for (;;) {
      POSTRIDER_TRY(const Rows rows, reader_.run_once(fetch));
      for (int row = 0; row < rows.count(); ++row) {
        POSTRIDER_CHECK(take(StoredRow{rows, row, columns}));
      }
      if (rows.count() < rows_fetched) {
        POSTRIDER_CHECK(reader_.run("COMMIT"));
        return {};
      }
    }
  }

  Result<void> finish(const CopyOrigin& origin) override {
    Session& session = writer_->session();
    POSTRIDER_CHECK(session.run(continue_sequences_sql,
                                Parameters::of(origin.last_number / Sequences::block_size + 1)));
    std::string analyze = "ANALYZE";
    for (const std::string_view table : copied_tables) {
      analyze += fmt::format("{} {}", table == copied_tables.front() ? "" : ",", table);
    }
    POSTRIDER_CHECK(session.run_once(analyze));
    POSTRIDER_CHECK(session.run(set_durability_sql, Parameters::of("on")));
    return write([](Session& each) { each.queue(finish_copy_sql); });
  }

 private:
  Result<void> check_empty() {
    for (const std::string_view table : copied_tables) {
      if (table == table_with_default_row) {
        continue;
      }
      POSTRIDER_TRY(const Rows found,
                    reader_.run_once(fmt::format("SELECT EXISTS (SELECT 1 FROM {})", table)));
      if (found.boolean(0, 0)) {
        return fail(Errc::conflict,
                    fmt::format("The database is not empty: a server has used it, and the table "
                                "{} has rows. Use an empty database or schema.",
                                table));
      }
    }
    return {};
  }

  Result<void> make_partitions(const CopyOrigin& origin) {
    const Month last = Month::of(now_);
    Month month = Month::of(std::min(origin.oldest.value_or(now_), now_));
    if (month.year < last.year - years_with_partitions) {
      month = {.year = last.year - years_with_partitions, .month = 1};
    }
    for (; month.begin() <= last.begin(); month = month.next()) {
      POSTRIDER_CHECK(ensure_partitions(reader_, month.begin()));
    }
    return {};
  }

  Result<void> store_batch() {
    copied_.rows += batch_->rows();
    return write([this](Session& session) {
      batch_->queue(session);
      session.queue(put_progress_sql, Parameters::of(table_, copied_.rows, copied_.complete));
    });
  }

  /// Runs what `queue(session)` queues, in one transaction.
  template <class Queue>
  Result<void> write(const Queue& queue) {
    return writer_->transact([&]() -> Result<void> {
      queue(writer_->session());
      POSTRIDER_CHECK(writer_->exchange_and_commit());
      return {};
    });
  }

  std::unique_ptr<Writer> writer_;  // Its lock keeps servers from using the database.
  Session reader_;
  WallTime now_;
  std::string table_;  // The open one.
  CopiedTable copied_;
  std::optional<RowBatch> batch_;
};

}  // namespace

std::span<const std::string_view> tables_not_copied() { return not_copied; }

Result<void> begin_to_use_copy(Session& session) {
  POSTRIDER_TRY(const Rows found, session.run(read_copy_sql));
  if (found.count() == 0) {
    return {};
  }
  if (!found.boolean(0, 2)) {
    return fail(Errc::invalid,
                "The database holds an unfinished copy of a data directory. Run `postrider copy` "
                "again to finish it, or use an empty database.");
  }
  POSTRIDER_CHECK(session.run(use_copy_sql));
  return {};
}

}  // namespace postgres

Result<std::unique_ptr<CopyTarget>> open_postgres_copy_target(const PostgresOptions& options) {
  POSTRIDER_ASSERT(options.now.has_value());
  static const postgres::Interruption never;
  PostgresOptions alone = options;
  alone.use = DatabaseUse::alone;
  alone.connect.statement_max = postgres::copy_statement_max;
  POSTRIDER_TRY(std::unique_ptr<postgres::Writer> writer, postgres::Writer::open(alone));
  POSTRIDER_TRY(
      postgres::Session reader,
      postgres::Session::open(alone.connect, options.interruption ? *options.interruption : never));
  return std::make_unique<postgres::PostgresCopyTarget>(std::move(writer), std::move(reader),
                                                        *options.now);
}

}  // namespace postrider
