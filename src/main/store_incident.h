// Records what opening the store found: data loss that the operator accepted, or a restored backup.
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/store.h"

namespace postrider {

/// Logs the incident and adds it to the audit log. Accepted data loss also raises an alert with the
/// id `alert_id`; opening a complete store resolves it. Call before the store thread runs.
[[nodiscard]] Result<void> record_incident(Store& store, AlertId alert_id, WallTime now);

}  // namespace postrider
