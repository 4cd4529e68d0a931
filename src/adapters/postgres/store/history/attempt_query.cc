#include "adapters/postgres/store/history/attempt_query.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/postgres/store/history/delivery_query.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view position_columns = "a.executed_at, a.recorded, a.number";

constexpr std::string_view join_delivery =
    " LEFT JOIN waiting w ON w.id = a.delivery_id LEFT JOIN delivery d ON d.id = a.delivery_id";
constexpr std::string_view event_type = "coalesce(d.type, w.type)";

/// The order of the scan. `row` is the alias of its rows.
std::string order_of(const AttemptScan& scan, std::string_view row) {
  return scan.along == AttemptsAlong::webhook
             ? fmt::format("{}.recorded DESC", row)
             : fmt::format("{0}.executed_at DESC, {0}.recorded DESC", row);
}

/// The column executed_at has an index of its own, hence the first condition.
void add_cursor(Conditions& conditions, const AttemptScan& scan) {
  if (!scan.before) {
    return;
  }
  const std::int64_t time = to_unix_ms(scan.before->executed_at);
  if (scan.along == AttemptsAlong::webhook) {
    conditions.add(fmt::format("a.recorded < {}", scan.before->delivery));
  } else {
    conditions.add(fmt::format("a.executed_at <= {}", time));
    conditions.add(
        fmt::format("(a.executed_at, a.recorded) < ({}, {})", time, scan.before->delivery));
  }
}

/// The rows of the scan as a parenthesized query, in order.
std::string scan_sql(const AttemptScan& scan, ParameterList& parameters, std::string_view columns,
                     std::int64_t limit) {
  const AttemptFilter& filter = *scan.filter;
  Conditions conditions;
  switch (scan.along) {
    case AttemptsAlong::time:
      add_between(conditions, "a.executed_at", filter.from, filter.to);
      break;
    case AttemptsAlong::webhook:
      conditions.add("a.webhook_id = " + parameters.bind(filter.webhook_ids.front()));
      break;
    case AttemptsAlong::delivery:
      conditions.add("a.delivery_id = " +
                     parameters.bind(filter.delivery_id.value_or(DeliveryId{})));
      break;
  }
  add_cursor(conditions, scan);
  if (scan.along == AttemptsAlong::delivery) {
    // `+ 0` keeps the planner from scanning the index of executed_at for these few attempts.
    return fmt::format(
        "(SELECT {} FROM attempt a{} ORDER BY a.executed_at + 0 DESC, a.recorded DESC)", columns,
        conditions.where());
  }
  return fmt::format("(SELECT {} FROM attempt a{} ORDER BY {} LIMIT {})", columns,
                     conditions.where(), order_of(scan, "a"), limit);
}

std::string_view condition_of(AttemptStatus status) {
  static_assert(static_cast<int>(FailureCategory::timeout) == 0);
  switch (status) {
    case AttemptStatus::succeeded:
      return "a.failure_category IS NULL";
    case AttemptStatus::failed:
      return "a.failure_category IS NOT NULL";
    case AttemptStatus::timeout:
      return "a.failure_category = 0";
    case AttemptStatus::exhausted:
      return "(a.failure_category IS NOT NULL AND a.next_retry_at IS NULL)";
    case AttemptStatus::blocked:
      break;
  }
  return "false";
}

void add_statuses(Conditions& conditions, const std::vector<AttemptStatus>& statuses) {
  std::vector<std::string_view> choices;
  for (const AttemptStatus status : statuses) {
    choices.push_back(condition_of(status));
  }
  if (!choices.empty()) {
    conditions.add(fmt::format("({})", fmt::join(choices, " OR ")));
  }
}

/// The conditions that the index does not cover.
Conditions remaining_conditions(const AttemptScan& scan, ParameterList& parameters) {
  const AttemptFilter& filter = *scan.filter;
  Conditions conditions;
  if (filter.tenant_id) {
    conditions.add("a.tenant_id = " + parameters.bind(*filter.tenant_id));
  }
  if (!filter.webhook_ids.empty() && scan.along != AttemptsAlong::webhook) {
    conditions.add(
        fmt::format("a.webhook_id = ANY ({})", parameters.bind(id_array(filter.webhook_ids))));
  }
  add_statuses(conditions, filter.statuses);
  if (!filter.failure_categories.empty()) {
    conditions.add(
        fmt::format("a.failure_category IN ({})", number_list(filter.failure_categories)));
  }
  if (scan.along != AttemptsAlong::time) {
    add_between(conditions, "a.executed_at", filter.from, filter.to);
  }
  add_types(conditions, parameters, scan.types, event_type);
  return conditions;
}

}  // namespace

AttemptScan plan_attempts(const AttemptFilter& filter, const AttemptPage& page) {
  AttemptScan scan{.filter = &filter,
                   .along = AttemptsAlong::time,
                   .types = sort_event_type_words(filter.event_types),
                   .before = page.before,
                   .scanned_max = std::max(page.scanned_max, 1u)};
  if (filter.delivery_id) {
    scan.along = AttemptsAlong::delivery;
  } else if (filter.webhook_ids.size() == 1) {
    scan.along = AttemptsAlong::webhook;
  }
  return scan;
}

bool can_match(const AttemptScan& scan) {
  return scan.types.everything || !scan.types.names.empty() || !scan.types.prefixes.empty();
}

BuiltQuery select_attempts(const AttemptScan& scan, const AttemptPage& page) {
  ParameterList parameters;
  const std::string rows = scan_sql(scan, parameters, "a.*", scan.scanned_max);
  const std::string where = remaining_conditions(scan, parameters).where();
  // The delivery is read for the rows of the page, and for all rows only if its type is compared.
  const bool compares_types = !scan.types.everything;
  const std::string of_page =
      fmt::format("SELECT a.* FROM {} a{}{} ORDER BY {} LIMIT {} OFFSET {}", rows,
                  compares_types ? join_delivery : "", where, order_of(scan, "a"),
                  std::int64_t{page.limit} + 1, page.offset);
  return std::move(parameters)
      .build(fmt::format("SELECT {}, a.recorded, a.delivery_id, a.webhook_id, a.tenant_id,"
                         " coalesce(d.event_id, w.event_id), {} FROM ({}) a{} ORDER BY {}",
                         attempt_columns, event_type, of_page, join_delivery, order_of(scan, "a")));
}

BuiltQuery select_scan_end(const AttemptScan& scan) {
  ParameterList parameters;
  const std::string rows =
      scan_sql(scan, parameters, position_columns, std::int64_t{scan.scanned_max} + 1);
  return std::move(parameters)
      .build(fmt::format("SELECT executed_at, recorded, number FROM {} c ORDER BY {} OFFSET {}"
                         " LIMIT 2",
                         rows, order_of(scan, "c"), scan.scanned_max - 1));
}

}  // namespace postrider::postgres
