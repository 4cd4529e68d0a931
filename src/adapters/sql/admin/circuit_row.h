// Reads a row of the table of circuits.
#pragma once

#include <cstdint>

#include "core/policy/breaker.h"

#include "adapters/sql/statement.h"

namespace postrider::sql {

// For read_circuit, after the id of the webhook.
#define POSTRIDER_CIRCUIT_COLUMNS                                             \
  "webhook_id, state, openings_in_row, changed_at, open_until, forced_until," \
  " forced_open, failing_since, counting_since, opened_at, times_opened"

[[nodiscard]] inline CircuitRecord read_circuit(const Query& query) {
  return {.state = query.as<CircuitState>(1),
          .openings_in_row = query.as<std::uint32_t>(2),
          .changed_at = query.time(3),
          .open_until = query.time_or_null(4),
          .forced_until = query.time_or_null(5),
          .forced_open = query.integer(6) != 0,
          .failing_since = query.time_or_null(7),
          .counting_since = query.time(8),
          .opened_at = query.time_or_null(9),
          .times_opened = query.as<std::uint32_t>(10)};
}

}  // namespace postrider::sql
