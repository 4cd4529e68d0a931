// Reads deliveries and events from query rows, for the writer and for readers.
#pragma once

#include "core/model/delivery.h"
#include "core/model/event.h"

#include "adapters/postgres/store/database/rows.h"

namespace postrider::postgres {

// These numbers are stored in the database and must never change.
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

/// Columns of the tables waiting and delivery as `d`.
#define POSTRIDER_DELIVERY_COLUMNS                                              \
  "d.sequence, d.id, d.event_id, d.webhook_id, d.type, d.priority, d.state,"    \
  " d.trigger, d.due, d.attempt_count, d.budget_used, d.revivals, d.operation," \
  " d.trace"
/// The number of these columns: where others follow.
constexpr int delivery_column_count = 14;
constexpr int operation_column = 12;

/// Columns of the table event as `e`.
#define POSTRIDER_EVENT_COLUMNS                                                   \
  "e.sequence, e.id, e.tenant_id, e.type, e.priority, e.timestamp, e.created_at," \
  " e.idempotency_key, e.resource_id, e.source, e.ordering_key, e.metadata,"      \
  " e.data, e.source_id, e.trace, e.trace_state"
constexpr int event_column_count = 16;

/// Read the columns above; `first` is the index of the first one.
[[nodiscard]] Delivery read_delivery(const Rows& rows, int row, int first = 0);
[[nodiscard]] Event read_event(const Rows& rows, int row, int first = 0);

}  // namespace postrider::postgres
