#include "adapters/postgres/store/ledger/rows.h"

#include "core/stored/trace_bytes.h"

namespace postrider::postgres {

Delivery read_delivery(const Rows& rows, int row, int first) {
  return {.id = rows.id<DeliveryId>(row, first + 1),
          .event_id = rows.id<EventId>(row, first + 2),
          .webhook_id = rows.id<WebhookId>(row, first + 3),
          .sequence = rows.integer(row, first),
          .event_type = rows.text(row, first + 4),
          .priority = rows.as<Priority>(row, first + 5),
          .state = rows.as<DeliveryState>(row, first + 6),
          .trigger = rows.as<Trigger>(row, first + 7),
          .due = rows.time(row, first + 8),
          .attempt_count = rows.as<std::uint32_t>(row, first + 9),
          .budget_used = rows.as<std::uint32_t>(row, first + 10),
          .revivals = rows.as<std::uint32_t>(row, first + 11),
          .in_operation = !rows.is_null(row, first + operation_column),
          .trace = stored::unpack_mark(rows.bytes(row, first + 13))};
}

Event read_event(const Rows& rows, int row, int first) {
  return {.id = rows.id<EventId>(row, first + 1),
          .tenant_id = rows.text(row, first + 2),
          .type = rows.text(row, first + 3),
          .data = rows.text(row, first + 12),
          .idempotency_key = rows.text(row, first + 7),
          .resource_id = rows.text_or_null(row, first + 8),
          .source = rows.text_or_null(row, first + 9),
          .source_id = rows.text_or_null(row, first + 13),
          .ordering_key = rows.text_or_null(row, first + 10),
          .metadata = rows.text(row, first + 11),
          .priority = rows.as<Priority>(row, first + 4),
          .timestamp = rows.time(row, first + 5),
          .created_at = rows.time(row, first + 6),
          .sequence = rows.integer(row, first),
          .trace = stored::unpack_trace(rows.bytes(row, first + 14), rows.text(row, first + 15))};
}

}  // namespace postrider::postgres
