// What is known about a publish request that is tried again because the catalogue has changed.
#pragma once

#include "engine/admin/publish_quota.h"

namespace postrider::api {

/// Of one request, for all its tries. One io thread.
struct PublishTries {
  /// The snapshots include everything that any server had answered before the request: a refusal is
  /// final.
  bool is_current = false;
  bool has_refused = false;  // The current try has refused an event, see is_due_to_catalog().
  EventCounts charged;       // Taken from the quotas of tenants, by all tries.
  EventCounts counted;       // Those that the current try has taken, or found taken.
};

}  // namespace postrider::api
