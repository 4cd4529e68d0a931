#include "engine/admin/publish_quota.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace postrider {
namespace {

constexpr Millis minute{60'000};

/// The burst is the quota of a whole minute.
RateLimit limit_of(std::uint32_t per_minute) {
  return {.count = per_minute, .period = minute, .burst = per_minute};
}

}  // namespace

PublishQuota::Bucket& PublishQuota::bucket_of(const TenantId& id, std::uint32_t per_minute,
                                              MonoTime now) {
  const auto [place, fresh] =
      buckets_.try_emplace(id, Bucket{per_minute, TokenBucket{limit_of(per_minute), now}});
  Bucket& bucket = place->second;
  if (bucket.per_minute != per_minute) {
    bucket.tokens.change(limit_of(per_minute), now);
    bucket.per_minute = per_minute;
  }
  return bucket;
}

QuotaWait PublishQuota::try_take(const AccessSnapshot& access, const EventCounts& counts,
                                 MonoTime now) {
  Millis wait{0};
  for (const auto& [tenant_id, count] : counts) {
    const std::optional<std::uint32_t> per_minute = access.limits_of(tenant_id).events_per_minute;
    if (!per_minute) {
      continue;
    }
    if (count > *per_minute) {
      return Millis::max();
    }
    const double missing = count - bucket_of(tenant_id, *per_minute, now).tokens.tokens(now);
    const double each_ms = static_cast<double>(minute.count()) / *per_minute;
    if (missing > 0) {
      wait = std::max(wait, Millis{static_cast<std::int64_t>(std::ceil(missing * each_ms))});
    }
  }
  if (wait > Millis{0}) {
    return wait;
  }
  for (const auto& [tenant_id, count] : counts) {
    const auto bucket = buckets_.find(tenant_id);
    if (bucket == buckets_.end() || !access.limits_of(tenant_id).events_per_minute) {
      continue;
    }
    for (std::uint32_t taken = 0; taken < count; ++taken) {
      // Rounding in tokens() may report the last token slightly early. That is good enough here.
      [[maybe_unused]] const bool took = bucket->second.tokens.try_take(now);
    }
  }
  return std::nullopt;
}

}  // namespace postrider
