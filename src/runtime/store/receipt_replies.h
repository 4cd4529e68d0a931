// What the lanes must hear of a committed batch, beside its publishes and settlements.
#pragma once

#include "ports/ledger.h"

#include "runtime/store/store_thread.h"

namespace postrider {

/// Deliveries that are in line again or anew, and those that are not any more.
void notify_lanes(const BatchReceipt& receipt, RepliesByShard& replies);

/// Counts what the batch did to the dead letters and to what waits.
void count_changes(const BatchReceipt& receipt, Metrics& metrics);

}  // namespace postrider
