#include "adapters/postgres/store/history/event_query.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/postgres/store/history/delivery_query.h"
#include "adapters/postgres/store/history/record_rows.h"

namespace postrider::postgres {
namespace {

// Deliveries that were added after the publish do not count in `delivery_count`.
constexpr std::string_view has_late_delivery =
    "(EXISTS (SELECT 1 FROM waiting l WHERE l.event_id = c.id AND l.late)"
    " OR EXISTS (SELECT 1 FROM delivery l WHERE l.event_id = c.id AND l.late))";

bool wants_unmatched(const EventFilter& filter) { return filter.matched == false; }

std::string_view order_of(const EventScan& scan) { return scan.newest_first ? "DESC" : "ASC"; }

/// The rows of the scan as a parenthesized query, in order.
std::string scan_sql(const EventScan& scan, ParameterList& parameters, std::string_view columns,
                     std::int64_t limit) {
  const EventFilter& filter = *scan.filter;
  Conditions conditions;
  if (filter.resource_id) {
    conditions.add("e.resource_id = " + parameters.bind(*filter.resource_id));
  } else {
    if (filter.tenant_id) {
      conditions.add("e.tenant_id = " + parameters.bind(*filter.tenant_id));
    }
    if (wants_unmatched(filter)) {
      conditions.add("e.delivery_count = 0");  // As in the partial indexes.
    }
  }
  if (scan.before) {
    conditions.add(fmt::format("e.sequence < {}", *scan.before));
  }
  if (!scan.newest_first) {
    conditions.add(fmt::format("e.sequence > {}", scan.after));
  }
  return fmt::format("(SELECT {} FROM event e{} ORDER BY e.sequence {} LIMIT {})", columns,
                     conditions.where(), order_of(scan), limit);
}

/// The conditions that the index does not cover.
Conditions remaining_conditions(const EventScan& scan, ParameterList& parameters) {
  const EventFilter& filter = *scan.filter;
  Conditions conditions;
  if (filter.tenant_id && filter.resource_id) {
    conditions.add("c.tenant_id = " + parameters.bind(*filter.tenant_id));
  }
  if (filter.matched) {
    conditions.add(fmt::format("{}(c.delivery_count > 0 OR c.fanned_out > 0 OR {})",
                               wants_unmatched(filter) ? "NOT " : "", has_late_delivery));
  }
  add_types(conditions, parameters, scan.types, "c.type");
  add_between(conditions, "c.created_at", filter.from, filter.to);
  return conditions;
}

/// The columns of an event, and those that the conditions need.
std::string scanned_columns() {
  return fmt::format("{}, e.delivery_count, e.fanned_out", POSTRIDER_EVENT_COLUMNS);
}

}  // namespace

EventScan plan_events(const EventFilter& filter, const Page& page) {
  return {.filter = &filter,
          .types = sort_event_type_words(filter.types),
          .before = page.before,
          .scanned_max = std::max(page.scanned_max, 1u)};
}

EventScan plan_events(const EventFilter& filter, const ForwardPage& page) {
  return {.filter = &filter,
          .types = sort_event_type_words(filter.types),
          .newest_first = false,
          .after = page.after,
          .scanned_max = std::max(page.scanned_max, 1u)};
}

bool can_match(const EventScan& scan) {
  return scan.types.everything || !scan.types.names.empty() || !scan.types.prefixes.empty();
}

BuiltQuery select_events(const EventScan& scan, const Page& page) {
  ParameterList parameters;
  const std::string rows = scan_sql(scan, parameters, scanned_columns(), scan.scanned_max);
  const std::string where = remaining_conditions(scan, parameters).where();
  return std::move(parameters)
      .build(fmt::format("SELECT * FROM {} c{} ORDER BY sequence DESC LIMIT {} OFFSET {}", rows,
                         where, std::int64_t{page.limit} + 1, page.offset));
}

BuiltQuery select_events_for(const EventScan& scan, WebhookId webhook_id, const ForwardPage& page) {
  ParameterList parameters;
  const std::string rows = scan_sql(scan, parameters, scanned_columns(), scan.scanned_max);
  const std::string where = remaining_conditions(scan, parameters).where();
  const std::string webhook = parameters.bind(webhook_id);
  // `n` and `bytes_before` bound the page: how many events, and how many bytes precede an event.
  const std::string matching = fmt::format(
      "SELECT m.*, row_number() OVER (ORDER BY sequence) AS n, count(*) OVER () AS matching,"
      " sum(octet_length(data)) OVER (ORDER BY sequence) - octet_length(data) AS bytes_before"
      " FROM (SELECT * FROM {} c{} ORDER BY sequence LIMIT {}) m",
      rows, where, std::int64_t{page.limit} + 1);
  const auto of_event = [&](std::string_view table, std::string_view columns) {
    return fmt::format("SELECT {} FROM {} d WHERE d.event_id = e.id AND d.webhook_id = {}", columns,
                       table, webhook);
  };
  return std::move(parameters)
      .build(
          fmt::format("SELECT {}, e.matching, p.*, {} FROM ({}) e"
                      " LEFT JOIN LATERAL ({} UNION ALL {} LIMIT 1) p ON true"
                      " LEFT JOIN attempt z ON z.delivery_id = p.id AND z.number = p.attempt_count"
                      " WHERE e.n <= {} AND e.bytes_before <= {} ORDER BY e.sequence",
                      POSTRIDER_EVENT_COLUMNS, last_attempt_columns, matching,
                      of_event("waiting", waiting_columns), of_event("delivery", final_columns),
                      page.limit, event_page_bytes_max));
}

BuiltQuery select_scan_end(const EventScan& scan) {
  ParameterList parameters;
  const std::string rows =
      scan_sql(scan, parameters, "e.sequence", std::int64_t{scan.scanned_max} + 1);
  return std::move(parameters)
      .build(fmt::format("SELECT sequence FROM {} c ORDER BY sequence {} OFFSET {} LIMIT 2", rows,
                         order_of(scan), scan.scanned_max - 1));
}

}  // namespace postrider::postgres
