#include <map>
#include <mutex>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryStats final : public Stats {
 public:
  explicit MemoryStats(MemoryStore& store) : store_(store) {}

  Result<std::vector<SpanTally>> over_time(const StatsFilter& filter, Millis bucket) override {
    const std::lock_guard guard{store_.mutex};
    std::map<WallTime, DeliveryTally> buckets;
    const auto take = [&](std::int64_t span, const DeliveryTally& tally) {
      const Millis start = stats_span_start(span).time_since_epoch();
      const auto past = (start % bucket + bucket) % bucket;
      buckets[WallTime{start - past}].add(tally);
    };
    if (filter.webhook_id) {
      each_webhook(filter,
                   [&](std::int64_t span, WebhookId, const auto& tally) { take(span, tally); });
    } else {
      for (const auto& [key, tally] : store_.tenant_tallies) {
        if (within(filter, key.first) && is_wanted(filter, key.second)) {
          take(key.first, tally);
        }
      }
    }
    std::vector<SpanTally> listed;
    listed.reserve(buckets.size());
    for (const auto& [start, tally] : buckets) {
      listed.push_back({start, tally});
    }
    return listed;
  }

  Result<std::vector<WebhookTally>> by_webhook(const StatsFilter& filter) override {
    const std::lock_guard guard{store_.mutex};
    std::map<WebhookId, DeliveryTally> sums;
    each_webhook(filter,
                 [&](std::int64_t, WebhookId id, const auto& tally) { sums[id].add(tally); });
    std::vector<WebhookTally> webhooks;
    webhooks.reserve(sums.size());
    for (const auto& [id, tally] : sums) {
      webhooks.push_back({id, tally});
    }
    sort_by_volume(webhooks);
    return webhooks;
  }

 private:
  static bool within(const StatsFilter& filter, std::int64_t span) {
    const WallTime start = stats_span_start(span);
    return filter.from < start + stats_span && start < filter.to;
  }

  static bool is_wanted(const StatsFilter& filter, const TenantId& tenant_id) {
    return !filter.tenant_id || *filter.tenant_id == tenant_id;
  }

  template <class Take>
  void each_webhook(const StatsFilter& filter, Take take) const {
    for (const auto& [key, tally] : store_.webhook_tallies) {
      const auto& [span, webhook_id, tenant_id] = key;
      const bool asked = !filter.webhook_id || *filter.webhook_id == webhook_id;
      if (asked && within(filter, span) && is_wanted(filter, tenant_id)) {
        take(span, webhook_id, tally);
      }
    }
  }

  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<Stats> make_memory_stats(MemoryStore& store) {
  return std::make_unique<MemoryStats>(store);
}

}  // namespace postrider
