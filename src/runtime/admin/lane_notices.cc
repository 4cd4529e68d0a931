#include "runtime/admin/lane_notices.h"

#include <utility>

#include "runtime/delivery/placement.h"

namespace postrider {

void notify_lane(RepliesByShard& replies, WebhookId id, Input input) {
  replies[worker_of(id, replies.size())].inputs.push_back(std::move(input));
}

void notify_suspension(RepliesByShard& replies, const AccessSnapshot& access, const TenantId& id) {
  for (ShardReplies& shard : replies) {
    shard.inputs.emplace_back(
        TenantSuspension{.tenant_id = id, .suspended = access.is_suspended(id)});
  }
}

void notify_limits(RepliesByShard& replies, const AccessSnapshot& access, const TenantId& id) {
  for (ShardReplies& shard : replies) {
    shard.inputs.emplace_back(TenantLimited{.tenant_id = id, .limits = access.limits_of(id)});
  }
}

}  // namespace postrider
