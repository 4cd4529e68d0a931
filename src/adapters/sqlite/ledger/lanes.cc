#include "adapters/sqlite/ledger/lanes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

// Reads the deliveries themselves only in the rare lane with deliveries of several tenants.
constexpr auto count_waiting_sql = sql::with_states(R"sql(
  SELECT t.name, w.priority, w.deliveries
    FROM (SELECT lane, priority, count(*) AS deliveries FROM delivery INDEXED BY delivery_due
           WHERE state <= {last_waiting} GROUP BY lane, priority) w
    JOIN lane l ON l.lane = w.lane
    JOIN tenant t ON t.tenant = l.tenant
   UNION ALL
  SELECT t.name, d.priority, count(*)
    FROM lane l
    CROSS JOIN delivery d INDEXED BY delivery_due ON d.lane = l.lane AND d.state <= {last_waiting}
    CROSS JOIN tenant t ON t.tenant = d.tenant
   WHERE l.tenant IS NULL
   GROUP BY d.tenant, d.priority
)sql");

constexpr auto due_page_sql = sql::with_states("SELECT " POSTRIDER_DELIVERY_COLUMNS R"sql(
    FROM delivery d INDEXED BY delivery_due
   WHERE d.lane = ?1 AND d.priority = ?2 AND d.state <= {last_waiting}
   ORDER BY d.due, d.sequence LIMIT ?3
)sql");

constexpr auto type_page_sql = sql::with_states("SELECT " POSTRIDER_DELIVERY_COLUMNS R"sql(
    FROM delivery d INDEXED BY delivery_order
   WHERE d.lane = ?1 AND d.type = ?2 AND d.ordered = 1 AND d.state <= {last_waiting}
     AND d.sequence >= ?3
   ORDER BY d.sequence LIMIT ?4
)sql");

constexpr auto next_head_sql = sql::with_states(R"sql(
  SELECT type, sequence, due FROM delivery INDEXED BY delivery_order
   WHERE lane = ?1 AND type > ?2 AND ordered = 1 AND state <= {last_waiting}
   ORDER BY type, sequence LIMIT 1
)sql");

constexpr auto next_lane_sql = sql::with_states(R"sql(
  SELECT lane, webhook_id, last_success_at, last_failure_at FROM lane
   WHERE lane = (SELECT d.lane FROM delivery d INDEXED BY delivery_due
                  WHERE d.lane > ?1 AND d.state <= {last_waiting} ORDER BY d.lane LIMIT 1)
)sql");

constexpr auto first_due_sql = sql::with_states(R"sql(
  SELECT due FROM delivery INDEXED BY delivery_due
   WHERE lane = ?1 AND priority = ?2 AND state <= {last_waiting} ORDER BY due LIMIT 1
)sql");

constexpr auto build_order_index_sql = sql::with_states(R"sql(
  UPDATE delivery INDEXED BY delivery_due SET ordered = 1
   WHERE lane = ?1 AND state <= {last_waiting}
)sql");

void update_rest_due(LanePage& page, WallTime due) {
  page.rest_due = std::min(page.rest_due.value_or(due), due);
}

/// Adds rows to the page while `fits(delivery)`. Returns the first row that does not fit.
template <class Fits>
Result<std::optional<Delivery>> take_while(Query rows, LanePage& page, Fits fits) {
  for (;;) {
    POSTRIDER_TRY(const bool found, rows.next());
    if (!found) {
      return std::nullopt;
    }
    Delivery delivery = read_delivery(rows);
    if (!fits(delivery)) {
      return delivery;
    }
    page.deliveries.push_back(std::move(delivery));
  }
}

}  // namespace

Result<Lanes> Lanes::open(Writer::Session& session) {
  Lanes lanes{session};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&lanes.due_page_, due_page_sql},
      {&lanes.next_head_, next_head_sql},
      {&lanes.type_page_, type_page_sql},
      {&lanes.next_lane_, next_lane_sql},
      {&lanes.first_due_, first_due_sql},
      {&lanes.build_order_index_, build_order_index_sql},
  }));
  return lanes;
}

Result<LanePage> Lanes::load(const LoadLane& query) {
  POSTRIDER_TRY(const LaneEntry* lane, session_->lanes.find(query.webhook_id));
  if (lane == nullptr) {
    return LanePage{};
  }
  switch (query.ordering) {
    case Ordering::none:
      return by_due_time(lane->lane, query);
    case Ordering::strict:
      return by_sequence(lane->lane, query.limit);
    case Ordering::per_event_type:
      return by_type(lane->lane, query.limit);
  }
  return LanePage{};
}

Result<bool> Lanes::needs_order_index(const LoadLane& query) {
  if (query.ordering == Ordering::none) {
    return false;
  }
  POSTRIDER_TRY(const LaneEntry* lane, session_->lanes.find(query.webhook_id));
  return lane != nullptr && !lane->ordered;
}

Result<void> Lanes::build_order_index(WebhookId id) {
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find(id));
  if (lane == nullptr) {
    return {};
  }
  POSTRIDER_CHECK(build_order_index_.run(lane->lane));
  lane->ordered = true;
  session_->lanes.mark_changed(*lane);
  return {};
}

Result<LanePage> Lanes::by_due_time(std::int64_t lane, const LoadLane& query) {
  LanePage page;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    const std::size_t full = page.deliveries.size() + query.limit;
    const auto fits = [&page, &query, full](const Delivery& delivery) {
      return page.deliveries.size() < full && delivery.due < query.due_before;
    };
    // Read one more than fits: the first row left out determines when the rest is due.
    Query rows = due_page_.query(lane, priority, std::int64_t{query.limit} + 1);
    POSTRIDER_TRY(const std::optional<Delivery> left_out, take_while(std::move(rows), page, fits));
    if (left_out) {
      update_rest_due(page, left_out->due);
    }
  }
  return page;
}

/// Merges the queues of the event types: reads one queue until the head of another comes first.
Result<LanePage> Lanes::by_sequence(std::int64_t lane, std::uint32_t limit) {
  POSTRIDER_TRY(std::vector<Head> heads, load_heads(lane));
  const auto later = [](const Head& a, const Head& b) { return a.sequence > b.sequence; };
  std::ranges::make_heap(heads, later);

  LanePage page;
  while (!heads.empty() && page.deliveries.size() < limit) {
    std::ranges::pop_heap(heads, later);
    const Head head = heads.back();
    heads.pop_back();
    const std::int64_t stop =
        heads.empty() ? std::numeric_limits<std::int64_t>::max() : heads.front().sequence;
    const auto fits = [&page, limit, stop](const Delivery& delivery) {
      return page.deliveries.size() < limit && delivery.sequence < stop;
    };
    const std::int64_t room = limit - std::ssize(page.deliveries);
    Query rows = type_page_.query(lane, head.type, head.sequence, room + 1);
    POSTRIDER_TRY(const std::optional<Delivery> left_out, take_while(std::move(rows), page, fits));
    if (left_out) {
      heads.push_back({head.type, left_out->sequence, left_out->due});
      std::ranges::push_heap(heads, later);
    }
  }
  if (!heads.empty()) {
    page.rest_due = heads.front().due;
  }
  return page;
}

Result<LanePage> Lanes::by_type(std::int64_t lane, std::uint32_t limit) {
  POSTRIDER_TRY(std::vector<Head> heads, load_heads(lane));
  std::ranges::sort(heads, {}, [](const Head& each) { return std::pair{each.due, each.sequence}; });

  LanePage page;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (i >= lane_types_max) {
      update_rest_due(page, heads[i].due);
      continue;
    }
    const std::size_t full = page.deliveries.size() + limit;
    const auto fits = [&page, full](const Delivery&) { return page.deliveries.size() < full; };
    Query rows = type_page_.query(lane, heads[i].type, heads[i].sequence, std::int64_t{limit} + 1);
    POSTRIDER_TRY(const std::optional<Delivery> left_out, take_while(std::move(rows), page, fits));
    if (left_out) {
      update_rest_due(page, left_out->due);
    }
  }
  std::ranges::sort(page.deliveries, {}, &Delivery::sequence);
  return page;
}

/// The first waiting delivery of each event type. One seek per type.
Result<std::vector<Lanes::Head>> Lanes::load_heads(std::int64_t lane) {
  std::vector<Head> found;
  for (std::int64_t type = 0;;) {
    Query query = next_head_.query(lane, type);
    POSTRIDER_TRY(const bool more, query.next());
    if (!more) {
      return found;
    }
    type = query.integer(0);
    found.push_back({type, query.integer(1), query.time(2)});
  }
}

Result<std::vector<LaneBacklog>> Lanes::backlog() {
  std::vector<LaneBacklog> lanes;
  for (std::int64_t lane = 0;;) {
    Query query = next_lane_.query(lane);
    POSTRIDER_TRY(const bool more, query.next());
    if (!more) {
      return lanes;
    }
    lane = query.integer(0);
    POSTRIDER_TRY(const std::optional<WallTime> due, earliest_due(lane));
    if (due) {
      lanes.push_back({.webhook_id = query.id<WebhookId>(1),
                       .due = *due,
                       .last_attempt = std::max(query.time_or_null(2), query.time_or_null(3))});
    }
  }
}

Result<std::optional<WallTime>> Lanes::earliest_due(std::int64_t lane) {
  std::optional<WallTime> earliest;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    Query query = first_due_.query(lane, priority);
    POSTRIDER_TRY(const bool found, query.next());
    if (found) {
      earliest = std::min(earliest.value_or(query.time(0)), query.time(0));
    }
  }
  return earliest;
}

Result<TenantCounts> count_waiting(Database& database) {
  POSTRIDER_TRY(Statement statement, database.prepare(count_waiting_sql));
  TenantCounts waiting;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return waiting;
    }
    waiting[query.text(0)][query.as<Priority>(1)] += query.integer(2);
  }
}

std::vector<std::string_view> lane_queries() {
  return {due_page_sql, type_page_sql, next_head_sql, next_lane_sql, first_due_sql};
}

}  // namespace postrider::sqlite
