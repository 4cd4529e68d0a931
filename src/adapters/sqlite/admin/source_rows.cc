#include "adapters/sqlite/admin/source_rows.h"

#include <utility>

#include "core/stored/attempt_detail.h"

#include "adapters/sqlite/database/snapshot.h"

namespace postrider::sqlite {
namespace {

#define POSTRIDER_TRACKED_ROW_COLUMNS                                                     \
  "r.row_id, r.generation, r.revision, e.sequence, e.id, e.created_at, e.delivery_count," \
  " e.fanned_out, (SELECT f.remaining FROM fanout f WHERE f.event = e.sequence)"

constexpr std::string_view rows_of_sql =
    "SELECT " POSTRIDER_TRACKED_ROW_COLUMNS
    " FROM event e CROSS JOIN source_row r INDEXED BY source_row_event ON r.event = e.sequence"
    " WHERE e.id = ?1 AND r.source = ?2 AND r.settled = 0";

constexpr std::string_view unsettled_sql =
    "SELECT " POSTRIDER_TRACKED_ROW_COLUMNS
    " FROM source_row r INDEXED BY source_row_unsettled CROSS JOIN event e ON e.sequence = r.event"
    " WHERE r.source = ?1 AND r.settled = 0 AND (r.event, r.row_id) > (?2, ?3)"
    " ORDER BY r.event, r.row_id LIMIT ?4";

#define POSTRIDER_ROW_DELIVERY_COLUMNS                                                   \
  "d.state, d.attempt_count, d.due, d.completed_at, d.last_failure, d.last_http_status," \
  " a.executed_at, a.detail, NOT EXISTS (SELECT 1 FROM lane l JOIN webhook w ON"         \
  " w.id = l.webhook_id WHERE l.lane = d.lane)"
#define POSTRIDER_ROW_ATTEMPT \
  " LEFT JOIN attempt a ON a.delivery = d.sequence AND a.number = d.attempt_count"

// The deliveries of the event ?1: those made with it, and late ones.
constexpr std::string_view deliveries_sql =
    "SELECT " POSTRIDER_ROW_DELIVERY_COLUMNS " FROM delivery d NOT INDEXED" POSTRIDER_ROW_ATTEMPT
    " WHERE d.sequence >= ?1 AND d.sequence < ?1 + ?2 AND d.event = ?1"
    " UNION ALL "
    "SELECT " POSTRIDER_ROW_DELIVERY_COLUMNS
    " FROM delivery d INDEXED BY delivery_late" POSTRIDER_ROW_ATTEMPT
    " WHERE d.event = ?1 AND d.late = 1";

constexpr std::string_view record_sql = R"sql(
  UPDATE source_row SET generation = ?6, settled = (?7 AND revision = ?5)
   WHERE source = ?1 AND row_id = ?2 AND generation = ?4
     AND event = (SELECT e.sequence FROM event e WHERE e.id = ?3)
)sql";

constexpr std::string_view store_id_sql = "SELECT id FROM source_reader";

class SqliteSourceRowReader final : public SourceRowReader {
 public:
  explicit SqliteSourceRowReader(std::shared_ptr<Database> database)
      : database_(std::move(database)) {}

  Result<std::vector<TrackedRow>> rows_of(const std::string& source,
                                          const std::vector<EventId>& events) override {
    return snapshot(*database_, [&]() -> Result<std::vector<TrackedRow>> {
      POSTRIDER_TRY(Statement statement, database_->prepare(rows_of_sql));
      POSTRIDER_TRY(Statement deliveries, database_->prepare(deliveries_sql));
      std::vector<TrackedRow> rows;
      for (const EventId& event : events) {
        POSTRIDER_CHECK(read_rows(statement.query(event, source), deliveries, rows));
      }
      return rows;
    });
  }

  Result<TrackedRowPage> unsettled(const std::string& source, const RowCursor& after,
                                   std::uint32_t limit) override {
    return snapshot(*database_, [&]() -> Result<TrackedRowPage> {
      POSTRIDER_TRY(Statement statement, database_->prepare(unsettled_sql));
      POSTRIDER_TRY(Statement deliveries, database_->prepare(deliveries_sql));
      TrackedRowPage page;
      POSTRIDER_TRY(const std::int64_t last,
                    read_rows(statement.query(source, after.event, after.row_id, limit), deliveries,
                              page.rows));
      if (page.rows.size() == limit && limit > 0) {
        page.next = RowCursor{.event = last, .row_id = page.rows.back().row_id};
      }
      return page;
    });
  }

 private:
  /// Returns the sequence of the last row's event.
  static Result<std::int64_t> read_rows(Query query, Statement& deliveries,
                                        std::vector<TrackedRow>& rows) {
    std::int64_t event = 0;
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return event;
      }
      event = query.integer(3);
      const auto fanned_out = query.as<std::uint64_t>(7);
      TrackedRow row{.row_id = query.text(0),
                     .event_id = query.id<EventId>(4),
                     .generation = query.as<std::uint32_t>(1),
                     .revision = query.as<std::uint32_t>(2),
                     .facts = {.published_at = query.time(5),
                               .expected = fanned_out > 0 ? fanned_out : query.as<std::uint64_t>(6),
                               .remaining = query.as_or_null<std::uint64_t>(8).value_or(0)}};
      POSTRIDER_CHECK(add_deliveries(deliveries.query(event, query.integer(6)), row.facts));
      rows.push_back(std::move(row));
    }
  }

  static Result<void> add_deliveries(Query query, RowFacts& facts) {
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return {};
      }
      RowDelivery delivery{.state = query.as<DeliveryState>(0),
                           .attempts = query.as<std::uint32_t>(1),
                           .due = query.time(2),
                           .completed_at = query.time_or_null(3),
                           .webhook_removed = query.integer(8) != 0};
      std::string error;
      if (!query.is_null(4) && !query.is_null(6)) {
        POSTRIDER_TRY(error, stored::unpack_error_message(query.bytes(7)));
        delivery.failed_at = query.time(6);
        delivery.http_status = query.as_or_null<std::uint16_t>(5);
        delivery.error = error;
      }
      facts.add(delivery);
    }
  }

  std::shared_ptr<Database> database_;
};

class SqliteSourceRowWriter final : public SourceRowWriter {
 public:
  explicit SqliteSourceRowWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<void> record(const std::string& source, const std::vector<RowWrittenBack>& rows) override {
    return writer_->transact([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(record_sql));
      for (const RowWrittenBack& row : rows) {
        POSTRIDER_CHECK(statement.run(source, row.row_id, row.event_id, row.generation,
                                      row.revision, row.generation_now, row.settled));
      }
      return {};
    });
  }

  Result<std::string> store_id() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(Statement statement, writer_->database().prepare(store_id_sql));
    Query query = statement.query();
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::corrupt, "The store has no id.");
    }
    return query.text(0);
  }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<SourceRowWriter> make_source_row_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqliteSourceRowWriter>(std::move(writer));
}

std::unique_ptr<SourceRowReader> make_source_row_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqliteSourceRowReader>(std::move(database));
}

}  // namespace postrider::sqlite
