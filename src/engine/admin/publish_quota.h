// Limits how many events each tenant may publish per minute (TenantLimits::events_per_minute).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/base/time.h"
#include "core/model/event.h"
#include "core/policy/token_bucket.h"
#include "engine/admin/access_snapshot.h"

namespace postrider {

/// Number of events by tenant.
using EventCounts = std::map<TenantId, std::uint32_t>;

/// How long a publisher over its quota must wait. nullopt: it need not wait. Millis::max(): the
/// request is larger than the quota and can never succeed.
using QuotaWait = std::optional<Millis>;

/// Single-threaded; runtime/limits/shared_publish_quota.h is for several threads.
class PublishQuota {
 public:
  /// Takes one token per event from the bucket of every tenant, or none at all.
  [[nodiscard]] QuotaWait try_take(const AccessSnapshot& access, const EventCounts& counts,
                                   MonoTime now);

 private:
  struct Bucket {
    std::uint32_t per_minute;
    TokenBucket tokens;
  };
  [[nodiscard]] Bucket& bucket_of(const TenantId& id, std::uint32_t per_minute, MonoTime now);

  std::unordered_map<TenantId, Bucket> buckets_;  // Only tenants with a quota.
};

}  // namespace postrider
