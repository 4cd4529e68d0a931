#include "adapters/postgres/store/history/source_row_reader.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stored/attempt_detail.h"

#include "adapters/postgres/store/history/built_query.h"
#include "adapters/postgres/store/history/plan_settings.h"

namespace postrider::postgres {
namespace {

#define POSTRIDER_TRACKED_ROW_COLUMNS                                        \
  "r.row_id, r.generation, r.revision, r.event, r.event_id, e.created_at,"   \
  " CASE WHEN e.fanned_out > 0 THEN e.fanned_out ELSE e.delivery_count END," \
  " coalesce((SELECT f.remaining FROM fanout f WHERE f.event = r.event), 0)::bigint"

constexpr std::string_view rows_of_sql =
    "SELECT " POSTRIDER_TRACKED_ROW_COLUMNS
    " FROM source_row r JOIN event e ON e.id = r.event_id"
    " WHERE r.event_id = ANY ($1) AND r.source = $2 AND r.settled = 0";

constexpr std::string_view unsettled_sql =
    "SELECT " POSTRIDER_TRACKED_ROW_COLUMNS
    " FROM (SELECT * FROM source_row WHERE source = $1 AND settled = 0"
    " AND (event, row_id) > ($2, $3) ORDER BY event, row_id LIMIT $4) r"
    " JOIN event e ON e.id = r.event_id ORDER BY r.event, r.row_id";

// Of all events in $1: their deliveries with the latest attempt of each.
constexpr std::string_view deliveries_sql = R"sql(
  SELECT d.event_id, d.state, d.attempt_count, d.due, d.completed_at, d.last_failure,
         d.last_http_status, z.executed_at, z.detail,
         NOT EXISTS (SELECT 1 FROM webhook h WHERE h.id = d.webhook_id)
    FROM (SELECT id, event_id, webhook_id, state, attempt_count, due,
                 NULL::bigint AS completed_at, last_failure, last_http_status
            FROM waiting WHERE event_id = ANY ($1)
           UNION ALL
          SELECT id, event_id, webhook_id, state, attempt_count, due, completed_at, last_failure,
                 last_http_status
            FROM delivery WHERE event_id = ANY ($1)) d
    LEFT JOIN attempt z ON z.delivery_id = d.id AND z.number = d.attempt_count
)sql";

/// Rows with the sequences of their events, which order the rows of a page.
struct FoundRows {
  std::vector<TrackedRow> rows;
  std::vector<std::int64_t> events;
};

FoundRows read_rows(const Rows& answer) {
  FoundRows found;
  for (int row = 0; row < answer.count(); ++row) {
    found.rows.push_back({.row_id = answer.text(row, 0),
                          .event_id = answer.id<EventId>(row, 4),
                          .generation = answer.as<std::uint32_t>(row, 1),
                          .revision = answer.as<std::uint32_t>(row, 2),
                          .facts = {.published_at = answer.time(row, 5),
                                    .expected = answer.as<std::uint64_t>(row, 6),
                                    .remaining = answer.as<std::uint64_t>(row, 7)}});
    found.events.push_back(answer.integer(row, 3));
  }
  return found;
}

Result<void> add_delivery(const Rows& answer, int row, RowFacts& facts) {
  RowDelivery delivery{.state = answer.as<DeliveryState>(row, 1),
                       .attempts = answer.as<std::uint32_t>(row, 2),
                       .due = answer.time(row, 3),
                       .completed_at = answer.time_or_null(row, 4),
                       .webhook_removed = answer.boolean(row, 9)};
  std::string error;
  if (!answer.is_null(row, 5) && !answer.is_null(row, 7)) {
    POSTRIDER_TRY(error, stored::unpack_error_message(answer.bytes(row, 8)));
    delivery.failed_at = answer.time(row, 7);
    delivery.http_status = answer.as_or_null<std::uint16_t>(row, 6);
    delivery.error = error;
  }
  facts.add(delivery);
  return {};
}

Result<void> add_deliveries(Session& session, std::vector<TrackedRow>& rows) {
  if (rows.empty()) {
    return {};
  }
  std::multimap<EventId, RowFacts*> facts;  // Several rows can refer to one event.
  std::vector<EventId> events;
  for (TrackedRow& row : rows) {
    if (!facts.contains(row.event_id)) {
      events.push_back(row.event_id);
    }
    facts.emplace(row.event_id, &row.facts);
  }
  POSTRIDER_TRY(const Rows answer, session.run(deliveries_sql, Parameters::of(id_array(events))));
  for (int row = 0; row < answer.count(); ++row) {
    const auto [first, last] = facts.equal_range(answer.id<EventId>(row, 0));
    for (auto each = first; each != last; ++each) {
      POSTRIDER_CHECK(add_delivery(answer, row, *each->second));
    }
  }
  return {};
}

class PostgresSourceRowReader final : public SourceRowReader {
 public:
  explicit PostgresSourceRowReader(std::shared_ptr<ReadConnection> connection)
      : connection_(std::move(connection)) {}

  Result<std::vector<TrackedRow>> rows_of(const std::string& source,
                                          const std::vector<EventId>& events) override {
    return connection_->read([&](Session& session) -> Result<std::vector<TrackedRow>> {
      session.queue(plan_once_by_index);
      POSTRIDER_TRY(const Rows answer,
                    session.run(rows_of_sql, Parameters::of(id_array(events), source)));
      FoundRows found = read_rows(answer);
      POSTRIDER_CHECK(add_deliveries(session, found.rows));
      return std::move(found.rows);
    });
  }

  Result<TrackedRowPage> unsettled(const std::string& source, const RowCursor& after,
                                   std::uint32_t limit) override {
    return connection_->read([&](Session& session) -> Result<TrackedRowPage> {
      session.queue(plan_once_by_index);
      POSTRIDER_TRY(const Rows answer,
                    session.run(unsettled_sql, Parameters::of(source, after.event, after.row_id,
                                                              std::int64_t{limit})));
      FoundRows found = read_rows(answer);
      POSTRIDER_CHECK(add_deliveries(session, found.rows));
      TrackedRowPage page{.rows = std::move(found.rows), .next = std::nullopt};
      if (page.rows.size() == limit && limit > 0) {
        page.next = RowCursor{.event = found.events.back(), .row_id = page.rows.back().row_id};
      }
      return page;
    });
  }

 private:
  std::shared_ptr<ReadConnection> connection_;
};

}  // namespace

SourceRowQueries source_row_queries() {
  return {.rows_of = rows_of_sql, .unsettled = unsettled_sql, .deliveries = deliveries_sql};
}

std::unique_ptr<SourceRowReader> make_source_row_reader(
    std::shared_ptr<ReadConnection> connection) {
  return std::make_unique<PostgresSourceRowReader>(std::move(connection));
}

}  // namespace postrider::postgres
