// Reads deliveries, events and attempts from query rows, for the writer and for readers.
#pragma once

#include <string_view>

#include "core/model/delivery.h"
#include "core/model/event.h"
#include "ports/history.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(DeliveryState::pending) == 0);
static_assert(static_cast<int>(DeliveryState::retrying) == 1);
static_assert(static_cast<int>(DeliveryState::succeeded) == 2);
static_assert(static_cast<int>(DeliveryState::dead_letter) == 3);
static_assert(static_cast<int>(DeliveryState::cancelled) == 4);
static_assert(static_cast<int>(Priority::high) == 0 && static_cast<int>(Priority::low) == 2);
static_assert(static_cast<int>(Trigger::scheduled) == 0 && static_cast<int>(Trigger::test) == 3);
static_assert(static_cast<int>(FailureCategory::timeout) == 0 &&
              static_cast<int>(FailureCategory::protocol) == 10);
static_assert(static_cast<int>(Classification::permanent) == 0);

/// Columns of the table delivery as `d`.
#define POSTRIDER_DELIVERY_COLUMNS                                                      \
  "d.sequence, d.id, (SELECT id FROM event WHERE sequence = d.event),"                  \
  " (SELECT webhook_id FROM lane WHERE lane = d.lane),"                                 \
  " (SELECT name FROM event_type WHERE type = d.type),"                                 \
  " d.priority, d.state, d.trigger, d.due, d.attempt_count, d.budget_used, d.revivals," \
  " d.operation IS NOT NULL, d.trace"

#define POSTRIDER_LAST_ATTEMPT(column)                         \
  "(SELECT z." column                                          \
  " FROM attempt z WHERE z.delivery = d.sequence AND z.number" \
  " = d.attempt_count)"

#define POSTRIDER_RECORD_COLUMNS                                                       \
  POSTRIDER_DELIVERY_COLUMNS                                                           \
  ", (SELECT name FROM tenant WHERE tenant = d.tenant), d.created_at, d.updated_at,"   \
  " d.completed_at, d.last_failure, d.last_http_status, d.dead_classification, "       \
  "d.dead_reason, " POSTRIDER_LAST_ATTEMPT("executed_at") ", " POSTRIDER_LAST_ATTEMPT( \
      "duration_us") ", " POSTRIDER_LAST_ATTEMPT("detail")

/// Columns of the table event as `e`.
#define POSTRIDER_EVENT_COLUMNS                                                            \
  "e.sequence, e.id, (SELECT name FROM tenant WHERE tenant = e.tenant),"                   \
  " (SELECT name FROM event_type WHERE type = e.type), e.priority, e.timestamp,"           \
  " e.created_at, e.idempotency_key, e.resource_id, e.source, e.ordering_key, e.metadata," \
  " e.data, e.source_id, e.trace, e.trace_state"

/// Columns of the table attempt.
#define POSTRIDER_ATTEMPT_COLUMNS                                               \
  "id, number, trigger, scheduled_at, executed_at, duration_us, next_retry_at," \
  " failure_category, http_status, detail"

/// The same columns of the table as `a`, and those of the table delivery as `d`.
#define POSTRIDER_LISTED_ATTEMPT_COLUMNS                                             \
  "a.id, a.number, a.trigger, a.scheduled_at, a.executed_at, a.duration_us,"         \
  " a.next_retry_at, a.failure_category, a.http_status, a.detail, d.sequence, d.id," \
  " (SELECT id FROM event WHERE sequence = d.event),"                                \
  " (SELECT webhook_id FROM lane WHERE lane = d.lane),"                              \
  " (SELECT name FROM tenant WHERE tenant = d.tenant),"                              \
  " (SELECT name FROM event_type WHERE type = d.type)"

/// Each reads the current row of `query`, which starts with the columns above.
[[nodiscard]] Delivery read_delivery(const Query& query);
[[nodiscard]] Event read_event(const Query& query);
/// These fail with corrupt.
[[nodiscard]] Result<DeliveryRecord> read_record(const Query& query);
[[nodiscard]] Result<Attempt> read_attempt(const Query& query);
[[nodiscard]] Result<AttemptRecord> read_listed_attempt(const Query& query);
/// The delivery's sequence in a row of listed attempts.
constexpr int listed_attempt_delivery_column = 10;

}  // namespace postrider::sqlite
