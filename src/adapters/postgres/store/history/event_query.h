// Builds the SQL that lists events. A scan reads the rows of one index in order and ends after a
// number of rows, as in delivery_query.h.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/filter/event_type_filter.h"
#include "core/model/delivery_filter.h"
#include "core/model/page.h"

#include "adapters/postgres/store/history/built_query.h"

namespace postrider::postgres {

struct EventScan {
  const EventFilter* filter;  // Must outlive the scan.
  EventTypeFilter types;
  /// True: newest first, below `before`. False: oldest first, above `after`.
  bool newest_first = true;
  std::optional<std::int64_t> before = std::nullopt;
  std::int64_t after = 0;
  std::uint32_t scanned_max = scanned_default;  // At least 1.
};

[[nodiscard]] EventScan plan_events(const EventFilter& filter, const Page& page);
[[nodiscard]] EventScan plan_events(const EventFilter& filter, const ForwardPage& page);
/// False if no row can match.
[[nodiscard]] bool can_match(const EventScan& scan);

/// Events (record_rows.h), at most one more than the page's limit.
[[nodiscard]] BuiltQuery select_events(const EventScan& scan, const Page& page);

/// The approximate payload bytes of a page of events with deliveries. More than any event has.
constexpr std::int64_t event_page_bytes_max = 4 << 20;

/// Events with the record of their delivery to the webhook (null if there is none) and the number
/// of matching events, counted up to one more than the page's limit. Returns at most the page's
/// limit, and fewer if the events are large.
[[nodiscard]] BuiltQuery select_events_for(const EventScan& scan, WebhookId webhook_id,
                                           const ForwardPage& page);

/// Like select_scan_end in delivery_query.h.
[[nodiscard]] BuiltQuery select_scan_end(const EventScan& scan);

}  // namespace postrider::postgres
