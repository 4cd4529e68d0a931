// Counts what became of the deliveries of an operation, and decides when it has ended. Pure.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/delivery.h"
#include "core/model/operation.h"

namespace postrider {

/// What one transaction adds to the outcomes of an operation.
struct OutcomeChange {
  std::uint64_t succeeded = 0;
  std::uint64_t dead_again = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t revised = 0;      // Were counted as cancelled, but have succeeded.
  WallTime at = WallTime::min();  // Of the last one.

  /// A waiting delivery became final.
  void add(DeliveryState final_state, WallTime now);

  bool operator==(const OutcomeChange&) const = default;
};
using OutcomeChanges = std::map<OperationId, OutcomeChange>;

[[nodiscard]] Operation add_outcomes(Operation operation, const OutcomeChange& change);

/// Ends an operation that has requeued everything, once nothing of it waits any more. One that
/// repeats stays scheduled.
[[nodiscard]] Operation end_if_settled(Operation operation, WallTime now);

}  // namespace postrider
