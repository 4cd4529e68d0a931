#include "adapters/postgres/store/ledger/lanes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "adapters/postgres/store/ledger/order_index.h"
#include "adapters/postgres/store/ledger/rows.h"

namespace postrider::postgres {
namespace {

// At most $2 of each priority.
constexpr std::string_view due_page_sql = "SELECT " POSTRIDER_DELIVERY_COLUMNS R"sql(
    FROM (VALUES (0::smallint), (1::smallint), (2::smallint)) p (priority)
   CROSS JOIN LATERAL (SELECT w.* FROM waiting w
                        WHERE w.webhook_id = $1 AND w.priority = p.priority
                        ORDER BY w.due, w.sequence LIMIT $2) d
   ORDER BY d.priority, d.due, d.sequence
)sql";

constexpr std::string_view sequence_page_sql =
    "SELECT " POSTRIDER_DELIVERY_COLUMNS
    " FROM waiting d WHERE d.webhook_id = $1 ORDER BY d.sequence LIMIT $2";

// The first delivery of each event type: one seek per type.
constexpr std::string_view heads_sql = R"sql(
  WITH RECURSIVE head AS (
    (SELECT w.type, w.sequence, w.due FROM waiting w WHERE w.webhook_id = $1 AND w.ordered
      ORDER BY w.type, w.sequence LIMIT 1)
    UNION ALL
    SELECT n.type, n.sequence, n.due
      FROM head h
     CROSS JOIN LATERAL (SELECT w.type, w.sequence, w.due FROM waiting w
                          WHERE w.webhook_id = $1 AND w.ordered AND w.type > h.type
                          ORDER BY w.type, w.sequence LIMIT 1) n
  )
  SELECT type, sequence, due FROM head ORDER BY due, sequence
)sql";

// At most $3 of each of the types.
constexpr std::string_view types_page_sql = "SELECT " POSTRIDER_DELIVERY_COLUMNS R"sql(
    FROM (SELECT unnest($2::text[]) AS type) t
   CROSS JOIN LATERAL (SELECT w.* FROM waiting w
                        WHERE w.webhook_id = $1 AND w.ordered AND w.type = t.type
                        ORDER BY w.sequence LIMIT $3) d
)sql";

// The earliest due time and the latest attempt of a lane `l`: one seek per priority, and two.
#define POSTRIDER_LANE_TIMES                                                             \
  "(SELECT min(f.due)"                                                                   \
  "   FROM (VALUES (0::smallint), (1::smallint), (2::smallint)) p (priority)"            \
  "  CROSS JOIN LATERAL (SELECT w.due FROM waiting w"                                    \
  "                       WHERE w.webhook_id = l.webhook_id AND w.priority = p.priority" \
  "                       ORDER BY w.due LIMIT 1) f) AS due,"                            \
  " greatest("                                                                           \
  "  (SELECT s.last_success_at FROM webhook_stats s"                                     \
  "    WHERE s.webhook_id = l.webhook_id AND s.succeeded ORDER BY s.span DESC LIMIT 1)," \
  "  (SELECT s.last_failure_at FROM webhook_stats s"                                     \
  "    WHERE s.webhook_id = l.webhook_id AND s.failed ORDER BY s.span DESC LIMIT 1))"    \
  " AS last_attempt"

// One seek per lane.
constexpr std::string_view backlog_sql = R"sql(
  WITH RECURSIVE lane AS (
    (SELECT w.webhook_id FROM waiting w ORDER BY w.webhook_id LIMIT 1)
    UNION ALL
    SELECT n.webhook_id
      FROM lane l
     CROSS JOIN LATERAL (SELECT w.webhook_id FROM waiting w WHERE w.webhook_id > l.webhook_id
                          ORDER BY w.webhook_id LIMIT 1) n
  )
  SELECT l.webhook_id, )sql" POSTRIDER_LANE_TIMES R"sql(
    FROM lane l ORDER BY l.webhook_id
)sql";

constexpr std::string_view backlog_of_sql = "SELECT l.webhook_id, " POSTRIDER_LANE_TIMES R"sql(
    FROM (SELECT unnest($1::uuid[]) AS webhook_id) l
   WHERE EXISTS (SELECT 1 FROM waiting w WHERE w.webhook_id = l.webhook_id)
   ORDER BY l.webhook_id
)sql";

constexpr std::string_view count_sql =
    "SELECT tenant_id, priority, count(*) FROM waiting GROUP BY tenant_id, priority";

void update_rest_due(LanePage& page, WallTime due) {
  page.rest_due = std::min(page.rest_due.value_or(due), due);
}

Result<LanePage> by_due_time(Session& session, const LoadLane& query) {
  // One more than fits: the first row that is left out determines when the rest is due.
  POSTRIDER_TRY(
      const Rows rows,
      session.run(due_page_sql, Parameters::of(query.webhook_id, std::int64_t{query.limit} + 1)));
  LanePage page;
  std::array<std::uint32_t, priority_count> taken{};
  for (int row = 0; row < rows.count(); ++row) {
    Delivery delivery = read_delivery(rows, row);
    std::uint32_t& count = taken[static_cast<std::size_t>(delivery.priority)];
    if (count < query.limit && delivery.due < query.due_before) {
      ++count;
      page.deliveries.push_back(std::move(delivery));
    } else {
      update_rest_due(page, delivery.due);
    }
  }
  return page;
}

Result<LanePage> by_sequence(Session& session, const LoadLane& query) {
  POSTRIDER_TRY(const Rows rows,
                session.run(sequence_page_sql,
                            Parameters::of(query.webhook_id, std::int64_t{query.limit} + 1)));
  LanePage page;
  for (int row = 0; row < rows.count(); ++row) {
    Delivery delivery = read_delivery(rows, row);
    if (page.deliveries.size() < query.limit) {
      page.deliveries.push_back(std::move(delivery));
    } else {
      page.rest_due = delivery.due;
    }
  }
  return page;
}

/// The first deliveries of the types whose heads are due first. `heads` has the heads of all.
Result<LanePage> by_type(Session& session, const LoadLane& query, const Rows& heads) {
  LanePage page;
  Array types{ElementType::text};
  for (int row = 0; row < heads.count(); ++row) {
    if (types.size() < lane_types_max) {
      types.add(heads.text(row, 0));
    } else {
      update_rest_due(page, heads.time(row, 2));
    }
  }
  POSTRIDER_TRY(const Rows rows,
                session.run(types_page_sql, Parameters::of(query.webhook_id, std::move(types),
                                                           std::int64_t{query.limit} + 1)));
  std::string type;
  std::uint32_t count = 0;
  for (int row = 0; row < rows.count(); ++row) {
    Delivery delivery = read_delivery(rows, row);
    count = row > 0 && delivery.event_type == type ? count + 1 : 1;
    type = delivery.event_type;
    if (count <= query.limit) {
      page.deliveries.push_back(std::move(delivery));
    } else {
      update_rest_due(page, delivery.due);
    }
  }
  std::ranges::sort(page.deliveries, {}, &Delivery::sequence);
  return page;
}

std::vector<LaneBacklog> read_lanes(const Rows& rows) {
  std::vector<LaneBacklog> lanes;
  lanes.reserve(static_cast<std::size_t>(rows.count()));
  for (int row = 0; row < rows.count(); ++row) {
    lanes.push_back({.webhook_id = rows.id<WebhookId>(row, 0),
                     .due = rows.time(row, 1),
                     .last_attempt = rows.time_or_null(row, 2)});
  }
  return lanes;
}

}  // namespace

Result<LanePage> load_lane(Writer& writer, const LoadLane& query) {
  switch (query.ordering) {
    case Ordering::none:
      return by_due_time(writer.session(), query);
    case Ordering::strict:
      return by_sequence(writer.session(), query);
    case Ordering::per_event_type: {
      POSTRIDER_CHECK(ensure_order_index(writer, query.webhook_id));
      POSTRIDER_TRY(const Rows heads,
                    writer.session().run(heads_sql, Parameters::of(query.webhook_id)));
      return by_type(writer.session(), query, heads);
    }
  }
  return LanePage{};
}

Result<std::vector<LaneBacklog>> read_backlog(Session& session) {
  POSTRIDER_TRY(const Rows rows, session.run(backlog_sql));
  return read_lanes(rows);
}

Result<std::vector<LaneBacklog>> read_backlog(Session& session, const std::vector<WebhookId>& of) {
  if (of.empty()) {
    return std::vector<LaneBacklog>{};
  }
  Array ids{ElementType::uuid};
  for (const WebhookId& id : of) {
    ids.add(id);
  }
  POSTRIDER_TRY(const Rows rows, session.run(backlog_of_sql, Parameters::of(std::move(ids))));
  return read_lanes(rows);
}

Result<TenantCounts> count_waiting(Session& session) {
  POSTRIDER_TRY(const Rows rows, session.run(count_sql));
  TenantCounts waiting;
  for (int row = 0; row < rows.count(); ++row) {
    waiting[rows.text(row, 0)][rows.as<Priority>(row, 1)] = rows.integer(row, 2);
  }
  return waiting;
}

std::vector<std::string_view> lane_queries() {
  return {due_page_sql, sequence_page_sql, heads_sql, types_page_sql, backlog_sql, backlog_of_sql};
}

}  // namespace postrider::postgres
