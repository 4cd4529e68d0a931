// A PublishQuota that several threads share.
#pragma once

#include <mutex>

#include "engine/admin/publish_quota.h"

namespace postrider {

/// Any thread.
class SharedPublishQuota {
 public:
  [[nodiscard]] QuotaWait try_take(const AccessSnapshot& access, const EventCounts& counts,
                                   MonoTime now) {
    const std::lock_guard lock{mutex_};
    return quota_.try_take(access, counts, now);
  }

 private:
  std::mutex mutex_;
  PublishQuota quota_;
};

}  // namespace postrider
