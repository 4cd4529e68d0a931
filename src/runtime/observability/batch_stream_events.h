// What a committed batch means to those who listen.
#pragma once

#include <vector>

#include "engine/intake/directory.h"
#include "ports/ledger.h"

#include "runtime/observability/stream_hub.h"

namespace postrider {

/// Settlements, and what people revived and cancelled. Of a webhook that is not in the directory
/// any more nothing is told: whose it was is not known, and news must not reach the wrong one
/// (P11).
[[nodiscard]] std::vector<StreamEvent> stream_events_of(const Batch& batch,
                                                        const BatchReceipt& receipt,
                                                        const Directory& directory, WallTime now);

}  // namespace postrider
