// Writes what a batch does to the deliveries that it names, and their attempts. Store thread only.
#pragma once

#include "core/base/result.h"

#include "adapters/postgres/store/database/joined_statement.h"
#include "adapters/postgres/store/ledger/delivery_changes.h"
#include "adapters/postgres/store/ledger/request_shapes.h"
#include "adapters/postgres/store/ledger/sequences.h"

namespace postrider::postgres {

/// Adds what writes the changed deliveries. A delivery that has become final moves from the table
/// waiting to the table delivery, a revived one back.
void add_changed(JoinedStatement& joined, const std::vector<NamedDelivery>& deliveries);

/// Adds the insertion of the attempts. Chooses the shapes that they refer to, which must be queued
/// afterwards.
void add_attempts(JoinedStatement& joined, const DeliveryChanges& changes, RequestShapes& shapes,
                  Sequences& sequences);

/// Makes the rows of these events unsettled: see ports/source_rows.h.
void queue_unsettling(Session& session, const std::set<EventId>& events);

}  // namespace postrider::postgres
