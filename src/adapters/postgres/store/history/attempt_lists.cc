#include "adapters/postgres/store/history/attempt_lists.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "adapters/postgres/store/history/attempt_query.h"
#include "adapters/postgres/store/history/plan_settings.h"
#include "adapters/postgres/store/history/record_rows.h"

namespace postrider::postgres {
namespace {

struct ListedRow {
  AttemptPosition position;
  AttemptRecord record;
};

Result<ListedRow> read_listed(const Rows& rows, int row) {
  POSTRIDER_TRY(Attempt attempt, read_attempt(rows, row));
  const AttemptPosition position{.executed_at = attempt.outcome.executed_at,
                                 .delivery = rows.integer(row, recorded_column),
                                 .number = attempt.number};
  return ListedRow{position,
                   {.attempt = std::move(attempt),
                    .delivery_id = rows.id<DeliveryId>(row, delivery_id_column),
                    .event_id = rows.id<EventId>(row, event_id_column),
                    .webhook_id = rows.id<WebhookId>(row, webhook_id_column),
                    .tenant_id = rows.text(row, tenant_id_column),
                    .event_type = rows.text(row, event_type_column)}};
}

Result<std::optional<AttemptPosition>> read_scan_end(Session& session, const AttemptScan& scan) {
  if (scan.along == AttemptsAlong::delivery) {
    return std::nullopt;
  }
  POSTRIDER_TRY(const Rows rows, run(session, select_scan_end(scan)));
  if (rows.count() < 2) {
    return std::nullopt;
  }
  return AttemptPosition{.executed_at = rows.time(0, 0),
                         .delivery = rows.integer(0, 1),
                         .number = rows.as<std::uint32_t>(0, 2)};
}

}  // namespace

Result<ListedAttempts> list_attempts(Session& session, const AttemptFilter& filter,
                                     const AttemptPage& page) {
  ListedAttempts listed;
  const AttemptScan scan = plan_attempts(filter, page);
  if (page.limit == 0 || !can_match(scan)) {
    return listed;
  }
  session.queue(plan_by_index);
  POSTRIDER_TRY(const Rows rows, run(session, select_attempts(scan, page)));
  const bool is_full = rows.count() > static_cast<std::int64_t>(page.limit);
  const int count = is_full ? static_cast<int>(page.limit) : rows.count();
  std::vector<ListedRow> found;
  for (int row = 0; row < count; ++row) {
    POSTRIDER_TRY(ListedRow each, read_listed(rows, row));
    found.push_back(std::move(each));
  }
  if (is_full) {
    listed.next = found.back().position;
  } else {
    POSTRIDER_TRY(listed.next, read_scan_end(session, scan));
  }
  std::ranges::sort(found, std::greater<>{}, &ListedRow::position);
  for (ListedRow& row : found) {
    listed.items.push_back(std::move(row.record));
  }
  return listed;
}

}  // namespace postrider::postgres
