#include "adapters/sqlite/ledger/lanes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view due_page_sql =
    "SELECT " POSTRIDER_DELIVERY_COLUMNS
    " FROM delivery d INDEXED BY delivery_due"
    " WHERE d.lane = ?1 AND d.priority = ?2 AND d.state <= 1 ORDER BY d.due, d.sequence LIMIT ?3";

constexpr std::string_view type_page_sql =
    "SELECT " POSTRIDER_DELIVERY_COLUMNS
    " FROM delivery d INDEXED BY delivery_order"
    " WHERE d.lane = ?1 AND d.type = ?2 AND d.ordered = 1 AND d.state <= 1 AND d.sequence >= ?3"
    " ORDER BY d.sequence LIMIT ?4";

constexpr std::string_view next_head_sql = R"sql(
  SELECT type, sequence, due FROM delivery INDEXED BY delivery_order
   WHERE lane = ?1 AND type > ?2 AND ordered = 1 AND state <= 1 ORDER BY type, sequence LIMIT 1
)sql";

constexpr std::string_view next_lane_sql = R"sql(
  SELECT lane, webhook_id, last_success_at, last_failure_at FROM lane
   WHERE lane = (SELECT d.lane FROM delivery d INDEXED BY delivery_due
                  WHERE d.lane > ?1 AND d.state <= 1 ORDER BY d.lane LIMIT 1)
)sql";

constexpr std::string_view first_due_sql = R"sql(
  SELECT due FROM delivery INDEXED BY delivery_due
   WHERE lane = ?1 AND priority = ?2 AND state <= 1 ORDER BY due LIMIT 1
)sql";

constexpr std::string_view put_in_order_sql = R"sql(
  UPDATE delivery INDEXED BY delivery_due SET ordered = 1 WHERE lane = ?1 AND state <= 1
)sql";

void note_rest(LanePage& page, WallTime due) {
  page.rest_due = std::min(page.rest_due.value_or(due), due);
}

/// Moves rows onto the page while `fits(delivery)`. The first that does not is returned.
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
      {&lanes.put_in_order_, put_in_order_sql},
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

Result<bool> Lanes::needs_order(const LoadLane& query) {
  if (query.ordering == Ordering::none) {
    return false;
  }
  POSTRIDER_TRY(const LaneEntry* lane, session_->lanes.find(query.webhook_id));
  return lane != nullptr && !lane->ordered;
}

Result<void> Lanes::put_in_order(WebhookId id) {
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find(id));
  if (lane == nullptr) {
    return {};
  }
  POSTRIDER_CHECK(put_in_order_.run(lane->lane));
  lane->ordered = true;
  session_->lanes.note_change(*lane);
  return {};
}

Result<LanePage> Lanes::by_due_time(std::int64_t lane, const LoadLane& query) {
  LanePage page;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    const std::size_t full = page.deliveries.size() + query.limit;
    const auto fits = [&page, &query, full](const Delivery& delivery) {
      return page.deliveries.size() < full && delivery.due < query.due_before;
    };
    // One more than fits: the first that is left out says when the rest is due.
    Query rows = due_page_.query(lane, priority, std::int64_t{query.limit} + 1);
    POSTRIDER_TRY(const std::optional<Delivery> left_out, take_while(std::move(rows), page, fits));
    if (left_out) {
      note_rest(page, left_out->due);
    }
  }
  return page;
}

/// Merges the types' lines: reads along one of them until another one's head comes first.
Result<LanePage> Lanes::by_sequence(std::int64_t lane, std::uint32_t limit) {
  POSTRIDER_TRY(std::vector<Head> lines, heads(lane));
  const auto later = [](const Head& a, const Head& b) { return a.sequence > b.sequence; };
  std::ranges::make_heap(lines, later);

  LanePage page;
  while (!lines.empty() && page.deliveries.size() < limit) {
    std::ranges::pop_heap(lines, later);
    const Head line = lines.back();
    lines.pop_back();
    const std::int64_t stop =
        lines.empty() ? std::numeric_limits<std::int64_t>::max() : lines.front().sequence;
    const auto fits = [&page, limit, stop](const Delivery& delivery) {
      return page.deliveries.size() < limit && delivery.sequence < stop;
    };
    const std::int64_t room = limit - std::ssize(page.deliveries);
    Query rows = type_page_.query(lane, line.type, line.sequence, room + 1);
    POSTRIDER_TRY(const std::optional<Delivery> left_out, take_while(std::move(rows), page, fits));
    if (left_out) {
      lines.push_back({line.type, left_out->sequence, left_out->due});
      std::ranges::push_heap(lines, later);
    }
  }
  if (!lines.empty()) {
    page.rest_due = lines.front().due;
  }
  return page;
}

Result<LanePage> Lanes::by_type(std::int64_t lane, std::uint32_t limit) {
  POSTRIDER_TRY(std::vector<Head> lines, heads(lane));
  std::ranges::sort(lines, {}, [](const Head& head) { return std::pair{head.due, head.sequence}; });

  LanePage page;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= lane_types_max) {
      note_rest(page, lines[i].due);
      continue;
    }
    const std::size_t full = page.deliveries.size() + limit;
    const auto fits = [&page, full](const Delivery&) { return page.deliveries.size() < full; };
    Query rows = type_page_.query(lane, lines[i].type, lines[i].sequence, std::int64_t{limit} + 1);
    POSTRIDER_TRY(const std::optional<Delivery> left_out, take_while(std::move(rows), page, fits));
    if (left_out) {
      note_rest(page, left_out->due);
    }
  }
  std::ranges::sort(page.deliveries, {}, &Delivery::sequence);
  return page;
}

/// One seek per type.
Result<std::vector<Lanes::Head>> Lanes::heads(std::int64_t lane) {
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

std::vector<std::string_view> lane_queries() {
  return {due_page_sql, type_page_sql, next_head_sql, next_lane_sql, first_due_sql};
}

}  // namespace postrider::sqlite
