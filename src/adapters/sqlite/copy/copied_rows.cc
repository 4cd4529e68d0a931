#include "adapters/sqlite/copy/copied_rows.h"

#include <algorithm>
#include <array>

#include "adapters/sql/state_sql.h"

namespace postrider::sqlite {
namespace {

#define POSTRIDER_TENANT_NAME(number) "(SELECT t.name FROM tenant t WHERE t.tenant = " number ")"
#define POSTRIDER_TYPE_NAME(number) "(SELECT y.name FROM event_type y WHERE y.type = " number ")"

constexpr std::string_view events = R"sql(
  (SELECT e.sequence, e.id, )sql" POSTRIDER_TENANT_NAME(
    "e.tenant") R"sql( AS tenant_id, )sql" POSTRIDER_TYPE_NAME("e.type") R"sql( AS type, e.priority, e.timestamp, e.created_at,
          e.delivery_count, e.fanned_out, e.idempotency_key, e.resource_id, e.source,
          e.ordering_key, e.source_id, e.metadata, e.data, e.trace, e.trace_state
     FROM event e NOT INDEXED) v
)sql";

#define POSTRIDER_COPIED_DELIVERY \
  "d.sequence, d.id, (SELECT e.id FROM event e WHERE e.sequence = d.event) AS event_id,"   \
  " (SELECT l.webhook_id FROM lane l WHERE l.lane = d.lane) AS webhook_id,"                \
  " " POSTRIDER_TENANT_NAME("d.tenant") " AS tenant_id, " POSTRIDER_TYPE_NAME("d.type")    \
  " AS type, d.priority, d.state, d.trigger, d.due, d.attempt_count, d.budget_used,"       \
  " d.revivals, d.created_at, d.updated_at, d.last_failure, d.last_http_status, d.late,"   \
  " d.operation, d.trace"

// The shard is computed from webhook_id (copy_source.cc).
constexpr auto waiting_deliveries =
    sql::with_states("(SELECT " POSTRIDER_COPIED_DELIVERY
                     ", 0 AS shard FROM delivery d NOT INDEXED WHERE d.state <= {last_waiting}) v");
constexpr auto count_waiting = sql::with_states(
    "SELECT count(*) FROM delivery INDEXED BY delivery_due WHERE state <= {last_waiting}");

constexpr auto settled_deliveries =
    sql::with_states("(SELECT " POSTRIDER_COPIED_DELIVERY
                     ", d.completed_at, d.dead_classification, d.dead_reason"
                     " FROM delivery d NOT INDEXED WHERE d.state > {last_waiting}) v");
constexpr auto count_settled = sql::with_states(
    "SELECT (SELECT count(*) FROM delivery) - (SELECT count(*) FROM delivery"
    " INDEXED BY delivery_due WHERE state <= {last_waiting})");

constexpr std::string_view claims =
    "(SELECT c.event AS number, " POSTRIDER_TENANT_NAME("c.tenant") " AS tenant_id, c.key,"
    " e.id AS event_id, c.body_digest, c.expires_at"
    " FROM claim c CROSS JOIN event e ON e.sequence = c.event) v";

constexpr std::string_view notes =
    "(SELECT f.event, e.id AS event_id, " POSTRIDER_TENANT_NAME("f.tenant") " AS tenant_id,"
    " f.list, f.place, f.remaining, f.due, f.chosen"
    " FROM fanout f CROSS JOIN event e ON e.sequence = f.event) v";

constexpr std::string_view source_rows =
    "(SELECT r.source, r.row_id, e.id AS event_id, r.event, r.generation, r.revision, r.settled"
    " FROM source_row r CROSS JOIN event e ON e.sequence = r.event) v";

// Readers add the rows of all writers up. The rows of a lane are those of a second writer, because
// a span may be in both tables.
constexpr std::string_view closed_spans =
    "(SELECT s.span, s.lane, s.tenant, (SELECT l.webhook_id FROM lane l WHERE l.lane = s.lane) AS"
    " webhook_id, " POSTRIDER_TENANT_NAME("s.tenant") " AS tenant_id,"
    " x'00000000000000000000000000000001' AS writer, s.tally,"
    " NULL AS last_success_at, NULL AS last_failure_at FROM webhook_stats s) v";

// A lane without a current span has its last results in the span in which they began.
constexpr std::string_view open_spans = R"sql(
  (SELECT l.lane,
          iif(l.tally_span > 0, l.tally_span,
              max(ifnull(l.last_success_at, 0), ifnull(l.last_failure_at, 0)) / 300000) AS span,
          l.webhook_id, coalesce()sql" POSTRIDER_TENANT_NAME(
    "l.tally_tenant") ", " POSTRIDER_TENANT_NAME("l.tenant") R"sql(, '') AS tenant_id,
          x'00000000000000000000000000000002' AS writer, l.tally, l.last_success_at,
          l.last_failure_at
     FROM lane l
    WHERE length(l.tally) > 0 OR l.last_success_at IS NOT NULL OR l.last_failure_at IS NOT NULL) v
)sql";

constexpr std::string_view count_spans =
    "SELECT (SELECT count(*) FROM webhook_stats) + (SELECT count(*) FROM lane"
    " WHERE length(tally) > 0 OR last_success_at IS NOT NULL OR last_failure_at IS NOT NULL)";

constexpr std::string_view tenant_spans =
    "(SELECT s.span, s.tenant, " POSTRIDER_TENANT_NAME("s.tenant") " AS tenant_id,"
    " x'00000000000000000000000000000001' AS writer, s.tally FROM tenant_stats s) v";

const std::vector<CopiedRows>& all_copied_rows() {
  static const std::vector<CopiedRows> all = {
      {"registered_tenant", {}, {{"registered_tenant v", "v.serial"}}},
      {"api_key", {}, {{"api_key v", "v.id"}}},
      {"session", {}, {{"session v", "v.id"}}},
      {"sign_in_link", {}, {{"sign_in_link v", "v.sha256"}}},
      {"webhook", {}, {{"webhook v", "v.id"}}},
      {"removed_webhook", {}, {{"removed_webhook v", "v.webhook_id"}}},
      {"rescheduling", {}, {{"rescheduling v", "v.webhook_id"}}},
      {"circuit", {}, {{"circuit v", "v.webhook_id"}}},
      {"circuit_period", {}, {{"circuit_period v", "v.webhook_id, v.opened_at"}}},
      {"request_shape", {}, {{"request_shape v", "v.webhook_id, v.number"}}},
      {"event_type_entry", {}, {{"event_type_entry v", "v.name"}}},
      {"notification_channel", {}, {{"notification_channel v", "v.id"}}},
      {"notification", {}, {{"notification v", "v.sequence"}}},
      {"alert", {}, {{"alert v", "v.sequence"}}},
      {"operation", {}, {{"operation v", "v.id"}}},
      {"audit_entry", {}, {{"audit_entry v", "v.sequence"}}},
      {"request_key", {}, {{"request_key v", "v.caller, v.key"}}},
      {"source_reader", {}, {{"source_reader v", "v.reader"}}},
      {"source_row", {}, {{source_rows, "v.source, v.row_id"}}},
      {"claim", {}, {{claims, "v.number"}}},
      {"fanout_list", {}, {{"fanout_list v", "v.list, v.part"}}},
      {"fanout", {}, {{notes, "v.event"}}},
      {"tenant_stats", {}, {{tenant_spans, "v.span, v.tenant"}}},
      {"webhook_stats",
       count_spans,
       {{closed_spans, "v.span, v.lane, v.tenant"}, {open_spans, "v.lane"}}},
      {"waiting", count_waiting, {{waiting_deliveries, "v.sequence"}}},
      {"delivery", count_settled, {{settled_deliveries, "v.sequence"}}},
      {"event", {}, {{events, "v.sequence"}}},
  };
  return all;
}

constexpr auto without_copy = std::to_array<std::string_view>(
    {"tenant", "event_type", "lane", "straggler", "removed", "store_state"});

}  // namespace

const CopiedRows* find_copied_rows(std::string_view table) {
  const auto found = std::ranges::find(all_copied_rows(), table, &CopiedRows::table);
  return found == all_copied_rows().end() ? nullptr : &*found;
}

std::span<const std::string_view> tables_without_copy() { return without_copy; }

}  // namespace postrider::sqlite
