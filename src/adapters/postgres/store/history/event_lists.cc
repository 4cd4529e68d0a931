#include "adapters/postgres/store/history/event_lists.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "adapters/postgres/store/history/event_query.h"
#include "adapters/postgres/store/history/plan_settings.h"
#include "adapters/postgres/store/history/record_rows.h"

namespace postrider::postgres {
namespace {

constexpr int matching_column = event_column_count;
constexpr int record_column = event_column_count + 1;

/// The last sequence that the scan read. Nullopt if there is no row after it.
Result<std::optional<std::int64_t>> read_scan_end(Session& session, const EventScan& scan) {
  POSTRIDER_TRY(const Rows rows, run(session, select_scan_end(scan)));
  return rows.count() < 2 ? std::nullopt : std::optional{rows.integer(0, 0)};
}

Result<EventForWebhook> read_event_for(const Rows& rows, int row) {
  EventForWebhook item{
      .sequence = rows.integer(row, 0), .event = read_event(rows, row), .delivery = std::nullopt};
  if (!rows.is_null(row, record_column)) {
    POSTRIDER_TRY(item.delivery, read_record(rows, row, record_column));
  }
  return item;
}

}  // namespace

Result<Listed<Event>> list_events(Session& session, const EventFilter& filter, const Page& page) {
  Listed<Event> listed;
  const EventScan scan = plan_events(filter, page);
  if (page.limit == 0 || !can_match(scan)) {
    return listed;
  }
  session.queue(plan_by_index);
  POSTRIDER_TRY(const Rows rows, run(session, select_events(scan, page)));
  const bool is_full = rows.count() > static_cast<std::int64_t>(page.limit);
  const int count = is_full ? static_cast<int>(page.limit) : rows.count();
  for (int row = 0; row < count; ++row) {
    listed.items.push_back(read_event(rows, row));
  }
  if (is_full) {
    listed.next = listed.items.back().sequence;
  } else {
    POSTRIDER_TRY(listed.next, read_scan_end(session, scan));
  }
  return listed;
}

Result<Listed<EventForWebhook>> list_events_for(Session& session, const EventsForQuery& query) {
  Listed<EventForWebhook> listed;
  const EventScan scan = plan_events(query.filter, query.page);
  if (!can_match(scan)) {
    return listed;
  }
  session.queue(plan_by_index);
  POSTRIDER_TRY(const Rows rows,
                run(session, select_events_for(scan, query.webhook_id, query.page)));
  for (int row = 0; row < rows.count(); ++row) {
    POSTRIDER_TRY(EventForWebhook item, read_event_for(rows, row));
    listed.items.push_back(std::move(item));
  }
  const bool is_full = rows.count() > 0 && rows.integer(0, matching_column) > rows.count();
  if (is_full) {
    listed.next = listed.items.back().sequence;
  } else {
    POSTRIDER_TRY(listed.next, read_scan_end(session, scan));
  }
  return listed;
}

}  // namespace postrider::postgres
