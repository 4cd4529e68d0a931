// How many events a tenant may still publish this minute, in this process.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/base/time.h"
#include "core/policy/token_bucket.h"

#include "runtime/admin/access_snapshot.h"

namespace postrider {

/// How many events of which tenant.
using EventCounts = std::map<TenantId, std::uint32_t>;

/// What a publisher over its quota is told to wait; Millis::max(): there will never be enough.
using QuotaWait = std::optional<Millis>;

/// Any thread.
class PublishQuota {
 public:
  /// Takes a token per event from every tenant's bucket, or none at all. nullopt: taken.
  [[nodiscard]] QuotaWait try_take(const AccessSnapshot& access, const EventCounts& counts,
                                   MonoTime now);

 private:
  struct Bucket {
    std::uint32_t per_minute;
    TokenBucket tokens;
  };
  [[nodiscard]] Bucket& bucket_of(const TenantId& id, std::uint32_t per_minute, MonoTime now);

  std::mutex mutex_;
  std::unordered_map<TenantId, Bucket> buckets_;  // Of tenants with a quota: few.
};

}  // namespace postrider
