#include "adapters/sqlite/retention/retention_writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ports/stats.h"

#include "adapters/sqlite/ledger/request_shapes.h"

namespace postrider::sqlite {
namespace {

// New rows will soon reuse some free space, so it is returned only if more than a tenth of the file
// is free, and more than this many pages.
constexpr std::int64_t free_pages_kept = 64;
constexpr std::uint32_t shapes_per_call = 1'000;
constexpr std::int64_t pages_per_call = 256;  // 1 MB: a few milliseconds.

constexpr std::string_view find_event_sql = R"sql(
  SELECT created_at, delivery_count,
         EXISTS (SELECT 1 FROM claim c WHERE c.event = event.sequence AND c.expires_at > ?2) OR
         EXISTS (SELECT 1 FROM fanout f WHERE f.event = event.sequence)
    FROM event WHERE sequence = ?1
)sql";

constexpr std::string_view find_deliveries_sql = R"sql(
  SELECT sequence, lane, previous, state, completed_at, tenant FROM delivery NOT INDEXED
   WHERE sequence >= ?1 AND sequence < ?1 + ?2 AND event = ?3
)sql";

constexpr std::string_view find_late_sql = R"sql(
  SELECT sequence, lane, previous, state, completed_at, tenant
    FROM delivery INDEXED BY delivery_late
   WHERE event = ?1 AND late = 1
)sql";

constexpr std::string_view delete_attempts_sql = "DELETE FROM attempt WHERE delivery = ?1";
constexpr std::string_view delete_delivery_sql = "DELETE FROM delivery WHERE sequence = ?1";
constexpr std::string_view delete_event_sql = "DELETE FROM event WHERE sequence = ?1";
constexpr std::string_view delete_source_rows_sql = "DELETE FROM source_row WHERE event = ?1";
constexpr std::string_view delete_straggler_sql =
    "DELETE FROM straggler WHERE lane = ?1 AND sequence = ?2";

// Below a removed row, a lane's chain continues at the youngest remaining row. See `straggler` in
// the schema.
constexpr std::string_view insert_straggler_sql = R"sql(
  INSERT OR IGNORE INTO straggler (lane, sequence)
  SELECT ?1, sequence FROM delivery WHERE sequence = ?2
)sql";

constexpr std::string_view note_removed_sql = "UPDATE removed SET sequence = max(sequence, ?1)";

constexpr std::string_view tenant_name_sql = "SELECT name FROM tenant WHERE tenant = ?1";

constexpr std::string_view is_removed_sql = R"sql(
  SELECT 1 FROM lane l JOIN removed_webhook r ON r.webhook_id = l.webhook_id
   WHERE l.lane = ?1 AND r.removed_at <= ?2
)sql";

// A lane has a delivery if the last one, or a straggler, is still stored.
constexpr std::string_view forget_webhook_sql = R"sql(
  DELETE FROM removed_webhook WHERE webhook_id = ?1 AND NOT EXISTS
    (SELECT 1 FROM lane l WHERE l.webhook_id = ?1 AND
      (EXISTS (SELECT 1 FROM delivery d WHERE d.sequence = l.last_delivery) OR
       EXISTS (SELECT 1 FROM straggler s WHERE s.lane = l.lane)))
)sql";

constexpr std::string_view delete_webhook_stats_sql = R"sql(
  DELETE FROM webhook_stats WHERE (span, lane, tenant) IN
    (SELECT span, lane, tenant FROM webhook_stats WHERE span < ?1 ORDER BY span LIMIT ?2)
)sql";

constexpr std::string_view delete_tenant_stats_sql = R"sql(
  DELETE FROM tenant_stats WHERE (span, tenant) IN
    (SELECT span, tenant FROM tenant_stats WHERE span < ?1 ORDER BY span LIMIT ?2)
)sql";

constexpr std::string_view delete_open_periods_sql = R"sql(
  DELETE FROM circuit_period WHERE (webhook_id, opened_at) IN
    (SELECT webhook_id, opened_at FROM circuit_period WHERE ended_at < ?1
     UNION ALL
     SELECT webhook_id, opened_at FROM circuit_period p
      WHERE ended_at IS NULL AND opened_at < ?1
        AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.id = p.webhook_id)
     LIMIT ?2)
)sql";

struct Row {
  std::int64_t sequence = 0;
  std::int64_t lane = 0;
  std::int64_t previous = 0;
  std::int64_t tenant = 0;
  DeliveryCompletion standing;
};

/// Removes expired events and dead letters in one transaction and counts them.
class RemovalBatch {
 public:
  static Result<RemovalBatch> open(Database& database) {
    RemovalBatch batch{database};
    POSTRIDER_CHECK(database.prepare_all({{&batch.find_event_, find_event_sql},
                                          {&batch.find_deliveries_, find_deliveries_sql},
                                          {&batch.find_late_, find_late_sql},
                                          {&batch.delete_attempts_, delete_attempts_sql},
                                          {&batch.delete_delivery_, delete_delivery_sql},
                                          {&batch.delete_event_, delete_event_sql},
                                          {&batch.delete_source_rows_, delete_source_rows_sql},
                                          {&batch.delete_straggler_, delete_straggler_sql},
                                          {&batch.insert_straggler_, insert_straggler_sql},
                                          {&batch.note_removed_, note_removed_sql},
                                          {&batch.tenant_name_, tenant_name_sql},
                                          {&batch.is_removed_, is_removed_sql}}));
    return batch;
  }

  Result<void> remove(const ExpiredKey& key, const RetentionCutoffs& cutoffs) {
    if (key.only_delivery) {
      return remove_delivery(key, cutoffs);
    }
    return remove_event(key.sequence, cutoffs);
  }

  Result<Removed> finish() {
    if (newest_ > 0) {
      POSTRIDER_CHECK(note_removed_.run(newest_));
    }
    for (const auto& [tenant, count] : dead_letters_) {
      Query query = tenant_name_.query(tenant);
      POSTRIDER_TRY(const bool found, query.next());
      if (found) {
        removed_.dead_letters[query.text(0)] = count;
      }
    }
    return removed_;
  }

 private:
  explicit RemovalBatch(Database& database) : database_(&database) {}

  Result<void> remove_event(std::int64_t sequence, const RetentionCutoffs& cutoffs) {
    WallTime created_at;
    std::int64_t delivery_count = 0;
    {
      Query event = find_event_.query(sequence, cutoffs.now);
      POSTRIDER_TRY(const bool found, event.next());
      if (!found || event.integer(2) != 0) {
        return {};
      }
      created_at = event.time(0);
      delivery_count = event.integer(1);
    }
    std::vector<Row> rows;
    POSTRIDER_CHECK(read_rows(find_deliveries_.query(sequence, delivery_count, sequence), rows));
    POSTRIDER_CHECK(read_rows(find_late_.query(sequence), rows));
    std::vector<DeliveryCompletion> standings;
    standings.reserve(rows.size());
    for (const Row& row : rows) {
      standings.push_back(row.standing);
    }
    if (!event_is_expired(created_at, standings, cutoffs)) {
      return {};
    }
    for (const Row& row : rows) {
      POSTRIDER_CHECK(remove_row(row));
      newest_ = std::max(newest_, row.sequence);
    }
    POSTRIDER_CHECK(delete_event_.run(sequence));
    POSTRIDER_CHECK(delete_source_rows_.run(sequence));
    ++removed_.events;
    newest_ = std::max({newest_, sequence, sequence + delivery_count - 1});
    return {};
  }

  Result<void> remove_delivery(const ExpiredKey& key, const RetentionCutoffs& cutoffs) {
    std::vector<Row> rows;
    POSTRIDER_CHECK(read_rows(find_deliveries_.query(*key.only_delivery, 1, key.sequence), rows));
    if (rows.empty()) {
      return {};
    }
    if (!dead_letter_is_expired(rows.front().standing, cutoffs)) {
      POSTRIDER_TRY(const bool removed, is_of_removed_webhook(rows.front(), cutoffs));
      if (!removed) {
        return {};
      }
    }
    newest_ = std::max(newest_, *key.only_delivery);
    return remove_row(rows.front());
  }

  Result<bool> is_of_removed_webhook(const Row& row, const RetentionCutoffs& cutoffs) {
    if (!cutoffs.removed_webhooks || is_waiting(row.standing.state)) {
      return false;
    }
    Query query = is_removed_.query(row.lane, *cutoffs.removed_webhooks);
    return query.next();
  }

  static Result<void> read_rows(Query query, std::vector<Row>& rows) {
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return {};
      }
      rows.push_back({.sequence = query.integer(0),
                      .lane = query.integer(1),
                      .previous = query.integer(2),
                      .tenant = query.integer(5),
                      .standing = {query.as<DeliveryState>(3), query.time_or_null(4)}});
    }
  }

  Result<void> remove_row(const Row& row) {
    POSTRIDER_CHECK(delete_attempts_.run(row.sequence));
    removed_.attempts += static_cast<std::uint64_t>(database_->changes());
    POSTRIDER_CHECK(delete_delivery_.run(row.sequence));
    POSTRIDER_CHECK(delete_straggler_.run(row.lane, row.sequence));
    POSTRIDER_CHECK(insert_straggler_.run(row.lane, row.previous));
    ++removed_.deliveries;
    if (row.standing.state == DeliveryState::dead_letter) {
      ++dead_letters_[row.tenant];
    }
    return {};
  }

  Database* database_;
  Statement find_event_;
  Statement find_deliveries_;
  Statement find_late_;
  Statement delete_attempts_;
  Statement delete_delivery_;
  Statement delete_event_;
  Statement delete_source_rows_;
  Statement delete_straggler_;
  Statement insert_straggler_;
  Statement note_removed_;
  Statement tenant_name_;
  Statement is_removed_;
  Removed removed_;
  std::map<std::int64_t, std::uint64_t> dead_letters_;  // By tenant number.
  std::int64_t newest_ = 0;                             // The largest removed sequence.
};

Result<std::int64_t> read_number(Database& database, std::string_view sql) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.integer(0) : 0;
}

class SqliteRetentionWriter final : public RetentionWriter {
 public:
  explicit SqliteRetentionWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<Removed> remove(const std::vector<ExpiredKey>& keys,
                         const RetentionCutoffs& cutoffs) override {
    return writer_->transact([&]() -> Result<Removed> {
      POSTRIDER_TRY(RemovalBatch batch, RemovalBatch::open(writer_->database()));
      for (const ExpiredKey& key : keys) {
        POSTRIDER_CHECK(batch.remove(key, cutoffs));
      }
      POSTRIDER_CHECK(remove_unused_shapes(writer_->database(), shapes_per_call));
      return batch.finish();
    });
  }

  Result<bool> forget_webhook(WebhookId id) override {
    return writer_->transact([&]() -> Result<bool> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(forget_webhook_sql));
      POSTRIDER_CHECK(statement.run(id));
      return writer_->database().changes() > 0;
    });
  }

  Result<std::uint64_t> remove_stats(WallTime before, std::uint32_t limit) override {
    return writer_->transact([&]() -> Result<std::uint64_t> {
      std::uint64_t count = 0;
      for (const std::string_view sql : {delete_webhook_stats_sql, delete_tenant_stats_sql}) {
        POSTRIDER_TRY(Statement statement, writer_->database().prepare(sql));
        POSTRIDER_CHECK(statement.run(stats_span_of(before), limit));
        count += static_cast<std::uint64_t>(writer_->database().changes());
      }
      return count;
    });
  }

  Result<std::uint64_t> remove_open_periods(WallTime before, std::uint32_t limit) override {
    return writer_->transact([&]() -> Result<std::uint64_t> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(delete_open_periods_sql));
      POSTRIDER_CHECK(statement.run(before, limit));
      return static_cast<std::uint64_t>(writer_->database().changes());
    });
  }

  /// Works only for files with incremental vacuum (SqliteOptions::shrinks).
  Result<bool> release_space() override {
    POSTRIDER_CHECK(writer_->usable());
    Database& database = writer_->database();
    POSTRIDER_TRY(const std::int64_t kind, read_number(database, "PRAGMA auto_vacuum"));
    POSTRIDER_TRY(const std::int64_t free, read_number(database, "PRAGMA freelist_count"));
    POSTRIDER_TRY(const std::int64_t pages, read_number(database, "PRAGMA page_count"));
    const std::int64_t kept = std::max(pages / 10, free_pages_kept);
    if (kind != 2 || free <= kept) {
      return false;
    }
    const std::int64_t count = std::min(free - kept, pages_per_call);
    POSTRIDER_CHECK(writer_->transact(
        [&] { return database.execute(fmt::format("PRAGMA incremental_vacuum({})", count)); }));
    return free - count > kept;
  }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<RetentionWriter> make_retention_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqliteRetentionWriter>(std::move(writer));
}

}  // namespace postrider::sqlite
