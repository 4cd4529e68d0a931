#include "adapters/postgres/store/history/record_rows.h"

#include <cstdint>
#include <string>
#include <utility>

#include "core/stored/attempt_detail.h"

namespace postrider::postgres {

Result<DeliveryRecord> read_record(const Rows& rows, int row, int first) {
  DeliveryRecord record{.delivery = read_delivery(rows, row, first),
                        .tenant_id = rows.text(row, first + 14),
                        .created_at = rows.time(row, first + 15),
                        .updated_at = rows.time(row, first + 16),
                        .completed_at = rows.time_or_null(row, first + 17),
                        .dead = {},
                        .last_failure = rows.as_or_null<FailureCategory>(row, first + 18),
                        .last_http_status = rows.as_or_null<std::uint16_t>(row, first + 19)};
  if (!rows.is_null(row, first + 20)) {
    record.dead = DeadReason{rows.as<Classification>(row, first + 20), rows.text(row, first + 21)};
  }
  if (!rows.is_null(row, first + 22)) {
    POSTRIDER_TRY(std::string error_message,
                  stored::unpack_error_message(rows.bytes(row, first + 24)));
    record.last_attempt = {.executed_at = rows.time(row, first + 22),
                           .duration = Micros{rows.integer(row, first + 23)},
                           .error_message = std::move(error_message)};
  }
  return record;
}

Result<Attempt> read_attempt(const Rows& rows, int row, int first) {
  Attempt attempt;
  attempt.id = rows.id<AttemptId>(row, first);
  attempt.number = rows.as<std::uint32_t>(row, first + 1);
  attempt.trigger = rows.as<Trigger>(row, first + 2);
  attempt.scheduled_at = rows.time(row, first + 3);
  attempt.outcome.executed_at = rows.time(row, first + 4);
  attempt.outcome.duration = Micros{rows.integer(row, first + 5)};
  attempt.next_retry_at = rows.time_or_null(row, first + 6);
  attempt.failure_category = rows.as_or_null<FailureCategory>(row, first + 7);
  attempt.outcome.http_status = rows.as_or_null<std::uint16_t>(row, first + 8);
  POSTRIDER_CHECK(stored::unpack_detail(rows.bytes(row, first + 9), attempt.outcome));
  return attempt;
}

}  // namespace postrider::postgres
