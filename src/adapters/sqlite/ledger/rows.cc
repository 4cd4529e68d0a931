#include "adapters/sqlite/ledger/rows.h"

#include <string>
#include <utility>

#include "core/stored/attempt_detail.h"
#include "core/stored/trace_bytes.h"

namespace postrider::sqlite {

Delivery read_delivery(const Query& query) {
  return {.id = query.id<DeliveryId>(1),
          .event_id = query.id<EventId>(2),
          .webhook_id = query.id<WebhookId>(3),
          .sequence = query.integer(0),
          .event_type = query.text(4),
          .priority = query.as<Priority>(5),
          .state = query.as<DeliveryState>(6),
          .trigger = query.as<Trigger>(7),
          .due = query.time(8),
          .attempt_count = query.as<std::uint32_t>(9),
          .budget_used = query.as<std::uint32_t>(10),
          .revivals = query.as<std::uint32_t>(11),
          .in_operation = query.integer(12) != 0,
          .trace = stored::unpack_mark(query.bytes(13))};
}

Result<DeliveryRecord> read_record(const Query& query) {
  DeliveryRecord record{.delivery = read_delivery(query),
                        .tenant_id = query.text(14),
                        .created_at = query.time(15),
                        .updated_at = query.time(16),
                        .completed_at = query.time_or_null(17),
                        .dead = {},
                        .last_failure = query.as_or_null<FailureCategory>(18),
                        .last_http_status = query.as_or_null<std::uint16_t>(19)};
  if (!query.is_null(20)) {
    record.dead = DeadReason{query.as<Classification>(20), query.text(21)};
  }
  if (!query.is_null(22)) {
    POSTRIDER_TRY(std::string error_message, stored::unpack_error_message(query.bytes(24)));
    record.last_attempt = {.executed_at = query.time(22),
                           .duration = Micros{query.integer(23)},
                           .error_message = std::move(error_message)};
  }
  return record;
}

Event read_event(const Query& query) {
  return {.id = query.id<EventId>(1),
          .tenant_id = query.text(2),
          .type = query.text(3),
          .data = query.text(12),
          .idempotency_key = query.text(7),
          .resource_id = query.text_or_null(8),
          .source = query.text_or_null(9),
          .source_id = query.text_or_null(13),
          .ordering_key = query.text_or_null(10),
          .metadata = query.text(11),
          .priority = query.as<Priority>(4),
          .timestamp = query.time(5),
          .created_at = query.time(6),
          .sequence = query.integer(0),
          .trace = stored::unpack_trace(query.bytes(14), query.bytes(15))};
}

Result<Attempt> read_attempt(const Query& query) {
  Attempt attempt;
  attempt.id = query.id<AttemptId>(0);
  attempt.number = query.as<std::uint32_t>(1);
  attempt.trigger = query.as<Trigger>(2);
  attempt.scheduled_at = query.time(3);
  attempt.outcome.executed_at = query.time(4);
  attempt.outcome.duration = Micros{query.integer(5)};
  attempt.next_retry_at = query.time_or_null(6);
  attempt.failure_category = query.as_or_null<FailureCategory>(7);
  attempt.outcome.http_status = query.as_or_null<std::uint16_t>(8);
  POSTRIDER_CHECK(stored::unpack_detail(query.bytes(9), attempt.outcome));
  return attempt;
}

Result<AttemptRecord> read_listed_attempt(const Query& query) {
  POSTRIDER_TRY(Attempt attempt, read_attempt(query));
  return AttemptRecord{.attempt = std::move(attempt),
                       .delivery_id = query.id<DeliveryId>(11),
                       .event_id = query.id<EventId>(12),
                       .webhook_id = query.id<WebhookId>(13),
                       .tenant_id = query.text(14),
                       .event_type = query.text(15)};
}

}  // namespace postrider::sqlite
