#include "adapters/sqlite/attic.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "adapters/sqlite/rows.h"
#include "adapters/sqlite/snapshot.h"

namespace postrider::sqlite {
namespace {

// Payloads of one page. Past it the page ends early: what is archived is held in memory meanwhile.
constexpr std::size_t page_bytes_max = 8u << 20;

constexpr std::string_view next_events_sql = R"sql(
  SELECT sequence, created_at, delivery_count FROM event NOT INDEXED
   WHERE sequence > ?1 ORDER BY sequence LIMIT ?2
)sql";

constexpr std::string_view standings_sql = R"sql(
  SELECT state, completed_at FROM delivery NOT INDEXED
   WHERE sequence >= ?1 AND sequence < ?1 + ?2 AND event = ?1
   UNION ALL
  SELECT state, completed_at FROM delivery INDEXED BY delivery_late WHERE event = ?1 AND late = 1
)sql";

constexpr std::string_view next_dead_sql = R"sql(
  SELECT sequence, event, completed_at FROM delivery INDEXED BY delivery_dead
   WHERE state = 3 AND sequence > ?1 ORDER BY sequence LIMIT ?2
)sql";

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

class SqliteAttic final : public Attic {
 public:
  explicit SqliteAttic(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<OldPage> old_events(const OldQuery& query) override {
    return snapshot(*database_, [&] { return read_events(query); });
  }

  Result<OldPage> old_dead_letters(const OldQuery& query) override {
    return snapshot(*database_, [&] { return read_dead_letters(query); });
  }

 private:
  /// Ends at the first page without anything old: sequences are given in the order of time, except
  /// around a jump of the clock.
  Result<OldPage> read_events(const OldQuery& query) {
    if (!query.cutoffs.events) {
      return OldPage{};
    }
    POSTRIDER_TRY(Statement statement, database_->prepare(next_events_sql));
    Query rows = statement.query(query.after, query.limit);
    OldPage page;
    std::size_t bytes = 0;
    std::uint32_t seen = 0;
    bool any_old = false;
    for (std::int64_t last = query.after;; ++seen) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found || bytes > page_bytes_max) {
        if (any_old && (found || seen == query.limit)) {
          page.next = last;
        }
        return page;
      }
      last = rows.integer(0);
      any_old = any_old || rows.time(1) <= *query.cutoffs.events;
      const Range range{last, rows.integer(2)};
      POSTRIDER_TRY(const bool goes, may_go(range, rows.time(1), query.cutoffs));
      if (goes) {
        POSTRIDER_TRY(OldEvent old, read_old({.sequence = last}, range, query.with_content));
        bytes += old.event.data.size();
        page.items.push_back(std::move(old));
      }
    }
  }

  Result<OldPage> read_dead_letters(const OldQuery& query) {
    if (!query.cutoffs.dead_letters) {
      return OldPage{};
    }
    POSTRIDER_TRY(Statement statement, database_->prepare(next_dead_sql));
    Query rows = statement.query(query.after, query.limit);
    OldPage page;
    std::size_t bytes = 0;
    std::uint32_t seen = 0;
    for (std::int64_t last = query.after;; ++seen) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found || bytes > page_bytes_max) {
        if (found || seen == query.limit) {
          page.next = last;
        }
        return page;
      }
      last = rows.integer(0);
      if (dead_letter_may_go({DeliveryState::dead_letter, rows.time_or_null(2)}, query.cutoffs)) {
        const OldName name{.sequence = rows.integer(1), .dead_letter = last};
        POSTRIDER_TRY(OldEvent old, read_old(name, {last, 1}, query.with_content));
        bytes += old.event.data.size();
        page.items.push_back(std::move(old));
      }
    }
  }

  Result<bool> may_go(const Range& range, WallTime created_at, const RetentionCutoffs& cutoffs) {
    if (created_at > *cutoffs.events) {
      return false;
    }
    POSTRIDER_TRY(Statement statement, database_->prepare(standings_sql));
    std::vector<DeliveryStanding> standings;
    Query rows = statement.query(range.first, range.count);
    for (;;) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found) {
        return event_may_go(created_at, standings, cutoffs);
      }
      standings.push_back({rows.as<DeliveryState>(0), rows.time_or_null(1)});
    }
  }

  Result<OldEvent> read_old(const OldName& name, const Range& range, bool with_content) {
    OldEvent old{.sequence = name.sequence, .dead_letter = name.dead_letter};
    if (!with_content) {
      return old;
    }
    {
      POSTRIDER_TRY(Statement statement, database_->prepare(event_sql));
      Query row = statement.query(name.sequence);
      POSTRIDER_TRY(const bool found, row.next());
      if (found) {
        old.event = read_event(row);
      }
    }
    POSTRIDER_TRY(Statement records, database_->prepare(records_sql));
    POSTRIDER_CHECK(
        read_deliveries(records.query(range.first, range.count, name.sequence), old.deliveries));
    if (!name.dead_letter) {
      POSTRIDER_TRY(Statement late, database_->prepare(late_records_sql));
      POSTRIDER_CHECK(read_deliveries(late.query(name.sequence), old.deliveries));
    }
    return old;
  }

  Result<void> read_deliveries(Query rows, std::vector<OldDelivery>& deliveries) {
    POSTRIDER_TRY(Statement attempts, database_->prepare(attempts_sql));
    for (;;) {
      POSTRIDER_TRY(const bool found, rows.next());
      if (!found) {
        return {};
      }
      POSTRIDER_TRY(OldDelivery delivery, read_delivery_of(rows, attempts));
      deliveries.push_back(std::move(delivery));
    }
  }

  static Result<OldDelivery> read_delivery_of(const Query& row, Statement& attempts) {
    OldDelivery delivery{.record = read_record(row), .attempts = {}};
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

std::unique_ptr<Attic> make_attic(std::shared_ptr<Database> database) {
  return std::make_unique<SqliteAttic>(std::move(database));
}

}  // namespace postrider::sqlite
