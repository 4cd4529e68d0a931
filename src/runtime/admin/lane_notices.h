// What the lanes must learn of an administrative change.
#pragma once

#include "engine/admin/access_snapshot.h"
#include "engine/shard/messages.h"

#include "runtime/store/shard_replies.h"

namespace postrider {

void notify_lane(RepliesByShard& replies, WebhookId id, Input input);

/// Tells every shard, because a tenant may have lanes in any of them.
void notify_suspension(RepliesByShard& replies, const AccessSnapshot& access, const TenantId& id);

/// Tells every shard the limits of the tenant.
void notify_limits(RepliesByShard& replies, const AccessSnapshot& access, const TenantId& id);

}  // namespace postrider
