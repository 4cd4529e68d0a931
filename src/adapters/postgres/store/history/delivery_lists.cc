#include "adapters/postgres/store/history/delivery_lists.h"

#include <algorithm>
#include <utility>

#include "adapters/postgres/store/history/delivery_query.h"
#include "adapters/postgres/store/history/plan_settings.h"
#include "adapters/postgres/store/history/record_rows.h"

namespace postrider::postgres {
namespace {

/// The webhooks with open circuits, or nullopt if they are too many to be merged.
Result<std::optional<std::vector<WebhookId>>> read_open_circuits(Session& session) {
  POSTRIDER_TRY(const Rows rows,
                session.run_once(fmt::format("{} ORDER BY k.webhook_id LIMIT {}", open_circuits,
                                             merged_webhooks_max + 1)));
  if (rows.count() > static_cast<int>(merged_webhooks_max)) {
    return std::nullopt;
  }
  std::vector<WebhookId> ids;
  for (int row = 0; row < rows.count(); ++row) {
    ids.push_back(rows.id<WebhookId>(row, 0));
  }
  return ids;
}

/// True if the only waiting deliveries that match are those of open circuits.
bool waits_only_for_circuits(const DeliveryScan& scan) {
  const bool whole_list = scan.along == ScanAlong::sequence || scan.along == ScanAlong::tenant;
  return scan.filter->circuit_blocked && whole_list && scan.webhooks.empty() &&
         std::ranges::none_of(scan.filter->states, is_waiting);
}

/// Nullopt if no delivery can match.
Result<std::optional<DeliveryScan>> plan(Session& session, const DeliveryFilter& filter,
                                         const CountRange& range) {
  const std::uint32_t scanned_max = std::max(range.scanned_max, 1u);
  DeliveryScan scan = plan_scan(filter, ResourceSize::large);
  if (!can_match(scan)) {
    return std::nullopt;
  }
  session.queue(plan_by_index);
  if (filter.resource_id && !filter.event_id) {
    POSTRIDER_TRY(const Rows size,
                  run(session, select_resource_size(*filter.resource_id, scanned_max)));
    const bool small = size.integer(0, 0) <= std::int64_t{scanned_max};
    scan = plan_scan(filter, small ? ResourceSize::small : ResourceSize::large);
  }
  scan.before = range.before;
  scan.scanned_max = scanned_max;
  if (waits_only_for_circuits(scan)) {
    POSTRIDER_TRY(scan.waiting_only, read_open_circuits(session));
  }
  return can_match(scan) ? std::optional{std::move(scan)} : std::nullopt;
}

/// The last sequence that the scan read. Nullopt if there is no row after it.
std::optional<std::int64_t> scan_end(const Rows& rows) {
  return rows.count() < 2 ? std::nullopt : std::optional{rows.integer(0, 0)};
}

}  // namespace

Result<Listed<DeliveryRecord>> list_deliveries(Session& session, const DeliveryFilter& filter,
                                               const Page& page) {
  Listed<DeliveryRecord> listed;
  if (page.limit == 0) {
    return listed;
  }
  POSTRIDER_TRY(const std::optional<DeliveryScan> scan,
                plan(session, filter, {.before = page.before, .scanned_max = page.scanned_max}));
  if (!scan) {
    return listed;
  }
  POSTRIDER_TRY(const Rows rows, run(session, select_deliveries(*scan, page)));
  const bool is_full = rows.count() > static_cast<std::int64_t>(page.limit);
  const int count = is_full ? static_cast<int>(page.limit) : rows.count();
  for (int row = 0; row < count; ++row) {
    POSTRIDER_TRY(DeliveryRecord record, read_record(rows, row));
    listed.items.push_back(std::move(record));
  }
  if (is_full) {
    listed.next = listed.items.back().delivery.sequence;
    return listed;
  }
  POSTRIDER_TRY(const Rows end, run(session, select_scan_end(*scan)));
  listed.next = scan_end(end);
  return listed;
}

Result<PartialCount> count_deliveries(Session& session, const DeliveryFilter& filter,
                                      const CountRange& range) {
  POSTRIDER_TRY(const std::optional<DeliveryScan> scan, plan(session, filter, range));
  if (!scan) {
    return PartialCount{};
  }
  const std::size_t counted = queue(session, count_scanned(*scan));
  const std::size_t end = queue(session, select_scan_end(*scan));
  POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
  return PartialCount{.count = answers[counted].as<std::uint64_t>(0, 0),
                      .next = scan_end(answers[end])};
}

Result<DeadLetterRows> read_dead_letters(Session& session, const DeliveryFilter& filter,
                                         const CountRange& range) {
  POSTRIDER_TRY(const std::optional<DeliveryScan> scan, plan(session, filter, range));
  DeadLetterRows found;
  if (!scan) {
    return found;
  }
  const std::size_t facts = queue(session, select_dead_letter_facts(*scan));
  const std::size_t end = queue(session, select_scan_end(*scan));
  POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
  const Rows& rows = answers[facts];
  for (int row = 0; row < rows.count(); ++row) {
    found.rows.push_back({.webhook_id = rows.id<WebhookId>(row, 0),
                          .event_type = rows.text(row, 1),
                          .failure_category = rows.as_or_null<FailureCategory>(row, 2),
                          .classification = rows.as_or_null<Classification>(row, 3),
                          .completed_at = rows.time(row, 4)});
  }
  found.next = scan_end(answers[end]);
  return found;
}

}  // namespace postrider::postgres
