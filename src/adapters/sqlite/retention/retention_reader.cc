#include "adapters/sqlite/retention/retention_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/database/snapshot.h"
#include "adapters/sqlite/history/history_lists.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

// The payload bytes of one page. A larger page ends early, because it is held in memory while it is
// archived.
constexpr std::size_t page_bytes_max = 8u << 20;

constexpr std::string_view next_events_sql = R"sql(
  SELECT sequence, created_at, delivery_count,
         EXISTS (SELECT 1 FROM fanout f WHERE f.event = event.sequence) FROM event NOT INDEXED
   WHERE sequence > ?1 ORDER BY sequence LIMIT ?2
)sql";

constexpr std::string_view standings_sql = R"sql(
  SELECT state, completed_at FROM delivery NOT INDEXED
   WHERE sequence >= ?1 AND sequence < ?1 + ?2 AND event = ?1
   UNION ALL
  SELECT state, completed_at FROM delivery INDEXED BY delivery_late WHERE event = ?1 AND late = 1
)sql";

constexpr auto next_dead_sql = sql::with_states(R"sql(
  SELECT sequence, event, completed_at FROM delivery INDEXED BY delivery_dead
   WHERE state = {dead_letter} AND sequence > ?1 ORDER BY sequence LIMIT ?2
)sql");

constexpr std::string_view next_webhook_sql = R"sql(
  SELECT webhook_id FROM removed_webhook
   WHERE webhook_id > ?1 AND removed_at <= ?2 ORDER BY webhook_id LIMIT 1
)sql";

constexpr std::string_view event_of_sql = "SELECT event FROM delivery WHERE sequence = ?1";

constexpr std::string_view event_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS " FROM event e WHERE e.sequence = ?1";

constexpr std::string_view records_sql =
    "SELECT " POSTRIDER_RECORD_COLUMNS
    " FROM delivery d NOT INDEXED"
    " WHERE d.sequence >= ?1 AND d.sequence < ?1 + ?2 AND d.event = ?3 ORDER BY d.sequence";

constexpr std::string_view late_records_sql =
    "SELECT " POSTRIDER_RECORD_COLUMNS
    " FROM delivery d INDEXED BY delivery_late WHERE d.event = ?1 AND d.late = 1"
    " ORDER BY d.sequence";

constexpr std::string_view attempts_sql =
    "SELECT " POSTRIDER_ATTEMPT_COLUMNS " FROM attempt WHERE delivery = ?1 ORDER BY number";

struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class SqliteRetentionReader final : public RetentionReader {
 public:
  explicit SqliteRetentionReader(std::shared_ptr<Database> database)
      : database_(std::move(database)) {}

  Result<ExpiredPage> expired_events(const ExpiredQuery& query) override {
    return snapshot(*database_, [&] { return read_events(query); });
  }

  Result<ExpiredPage> expired_dead_letters(const ExpiredQuery& query) override {
    return snapshot(*database_, [&] { return read_dead_letters(query); });
  }

  Result<std::optional<WebhookId>> expired_webhook(const RetentionCutoffs& cutoffs,
                                                   std::optional<WebhookId> after) override {
    if (!cutoffs.removed_webhooks) {
      return std::nullopt;
    }
    POSTRIDER_TRY(Statement statement, database_->prepare(next_webhook_sql));
    Query row = statement.query(after.value_or(WebhookId{}), *cutoffs.removed_webhooks);
    POSTRIDER_TRY(const bool found, row.next());
    return found ? std::optional{row.id<WebhookId>(0)} : std::nullopt;
  }

  Result<ExpiredPage> deliveries_of_removed(const ExpiredQuery& query) override {
    return snapshot(*database_, [&] { return read_deliveries_of_removed(query); });
  }

 private:
  Result<ExpiredPage> read_deliveries_of_removed(const ExpiredQuery& query) {
    DeliveryFilter filter;
    filter.webhook_ids = {query.webhook_id};
    const std::optional<std::int64_t> before =
        query.after > 0 ? std::optional{query.after} : std::nullopt;
    POSTRIDER_TRY(const Listed<DeliveryRecord> listed,
                  list_deliveries(*database_, filter, {.limit = query.limit, .before = before}));
    POSTRIDER_TRY(Statement event_of, database_->prepare(event_of_sql));
    ExpiredPage page{.items = {}, .next = listed.next};
    std::size_t bytes = 0;
    for (const DeliveryRecord& record : listed.items) {
      const std::int64_t sequence = record.delivery.sequence;
      if (bytes > page_bytes_max) {
        return page;
      }
      if (!is_waiting(record.delivery.state)) {
        Query event = event_of.query(sequence);
        POSTRIDER_TRY(const bool found, event.next());
        const ExpiredKey key{.sequence = found ? event.integer(0) : 0, .only_delivery = sequence};
        POSTRIDER_TRY(ExpiredEvent expired, read_expired(key, {sequence, 1}, query.with_content));
        bytes += expired.event.data.size();
        page.items.push_back(std::move(expired));
      }
      page.next = &record == &listed.items.back() ? listed.next : std::optional{sequence};
    }
    return page;
  }

  /// Ends at the first page without an expired event: sequences follow time, except around a clock
  /// jump.
  Result<ExpiredPage> read_events(const ExpiredQuery& query) {
    if (!query.cutoffs.events) {
      return ExpiredPage{};
    }
    POSTRIDER_TRY(Statement statement, database_->prepare(next_events_sql));
    Query rows = statement.query(query.after, query.limit);
    ExpiredPage page;
    std::size_t bytes = 0;
    std::uint32_t rows_read = 0;
    bool any_expired = false;
    for (std::int64_t last = query.after;; ++rows_read) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found || bytes > page_bytes_max) {
        if (any_expired && (found || rows_read == query.limit)) {
          page.next = last;
        }
        return page;
      }
      last = rows.integer(0);
      any_expired = any_expired || rows.time(1) <= *query.cutoffs.events;
      const Range range{last, rows.integer(2)};
      const bool fanning_out = rows.integer(3) != 0;
      POSTRIDER_TRY(const bool removable, is_removable(range, rows.time(1), query.cutoffs));
      if (removable && !fanning_out) {
        POSTRIDER_TRY(ExpiredEvent expired,
                      read_expired({.sequence = last}, range, query.with_content));
        bytes += expired.event.data.size();
        page.items.push_back(std::move(expired));
      }
    }
  }

  Result<ExpiredPage> read_dead_letters(const ExpiredQuery& query) {
    if (!query.cutoffs.dead_letters) {
      return ExpiredPage{};
    }
    POSTRIDER_TRY(Statement statement, database_->prepare(next_dead_sql));
    Query rows = statement.query(query.after, query.limit);
    ExpiredPage page;
    std::size_t bytes = 0;
    std::uint32_t rows_read = 0;
    for (std::int64_t last = query.after;; ++rows_read) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found || bytes > page_bytes_max) {
        if (found || rows_read == query.limit) {
          page.next = last;
        }
        return page;
      }
      last = rows.integer(0);
      if (dead_letter_is_expired({DeliveryState::dead_letter, rows.time_or_null(2)},
                                 query.cutoffs)) {
        const ExpiredKey key{.sequence = rows.integer(1), .only_delivery = last};
        POSTRIDER_TRY(ExpiredEvent expired, read_expired(key, {last, 1}, query.with_content));
        bytes += expired.event.data.size();
        page.items.push_back(std::move(expired));
      }
    }
  }

  Result<bool> is_removable(const Range& range, WallTime created_at,
                            const RetentionCutoffs& cutoffs) {
    if (created_at > *cutoffs.events) {
      return false;
    }
    POSTRIDER_TRY(Statement statement, database_->prepare(standings_sql));
    std::vector<DeliveryCompletion> standings;
    Query rows = statement.query(range.first, range.count);
    for (;;) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found) {
        return event_is_expired(created_at, standings, cutoffs);
      }
      standings.push_back({rows.as<DeliveryState>(0), rows.time_or_null(1)});
    }
  }

  Result<ExpiredEvent> read_expired(const ExpiredKey& key, const Range& range, bool with_content) {
    ExpiredEvent expired{.sequence = key.sequence, .only_delivery = key.only_delivery};
    if (!with_content) {
      return expired;
    }
    {
      POSTRIDER_TRY(Statement statement, database_->prepare(event_sql));
      Query row = statement.query(key.sequence);
      POSTRIDER_TRY(const bool found, row.next());
      if (found) {
        expired.event = read_event(row);
      }
    }
    POSTRIDER_TRY(Statement records, database_->prepare(records_sql));
    POSTRIDER_CHECK(
        read_deliveries(records.query(range.first, range.count, key.sequence), expired.deliveries));
    if (!key.only_delivery) {
      POSTRIDER_TRY(Statement late, database_->prepare(late_records_sql));
      POSTRIDER_CHECK(read_deliveries(late.query(key.sequence), expired.deliveries));
    }
    return expired;
  }

  Result<void> read_deliveries(Query rows, std::vector<ExpiredDelivery>& deliveries) {
    POSTRIDER_TRY(Statement attempts, database_->prepare(attempts_sql));
    for (;;) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found) {
        return {};
      }
      POSTRIDER_TRY(ExpiredDelivery delivery, read_delivery_of(rows, attempts));
      deliveries.push_back(std::move(delivery));
    }
  }

  static Result<ExpiredDelivery> read_delivery_of(const Query& row, Statement& attempts) {
    POSTRIDER_TRY(DeliveryRecord record, read_record(row));
    ExpiredDelivery delivery{.record = std::move(record), .attempts = {}};
    Query rows = attempts.query(delivery.record.delivery.sequence);
    for (;;) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found) {
        return delivery;
      }
      POSTRIDER_TRY(Attempt attempt, read_attempt(rows));
      delivery.attempts.push_back(std::move(attempt));
    }
  }

  std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<RetentionReader> make_retention_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqliteRetentionReader>(std::move(database));
}

}  // namespace postrider::sqlite
