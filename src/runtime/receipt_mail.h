// What the lanes must hear of a committed batch, beside its publishes and settlements.
#pragma once

#include "ports/ledger.h"

#include "runtime/store_thread.h"

namespace postrider {

/// Deliveries that are in line again or anew, and those that are not any more.
void tell_lanes(const BatchReceipt& receipt, Mails& mails);

/// Counts what the batch did to the dead letters and to what waits.
void count_changes(const BatchReceipt& receipt, Metrics& metrics);

}  // namespace postrider
