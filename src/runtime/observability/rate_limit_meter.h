// The metrics of the webhooks' rate limits: webhook_rate_limit_tokens_available and
// webhook_rate_limit_hits_total.
//
// Tokens are earned with time, so the buckets themselves are kept and read when the metrics page is
// requested. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/policy/token_bucket.h"
#include "engine/shard/shard_view.h"
#include "ports/metric_sample.h"

namespace postrider {

class RateLimitMeter {
 public:
  void record(std::span<const RateLimitUse> uses);
  void forget(WebhookId webhook_id);

  /// Tokens: of the webhooks with the fewest, the others together. Hits: of the webhooks that were
  /// limited first, the others together; a counter must not move to another series.
  [[nodiscard]] std::vector<MetricSample> samples(MonoTime now) const;

 private:
  void add_tokens(MonoTime now, std::vector<MetricSample>& samples) const;
  void add_hits(std::vector<MetricSample>& samples) const;

  mutable std::mutex mutex_;
  std::unordered_map<WebhookId, TokenBucket> buckets_;
  std::map<WebhookId, std::uint64_t> hits_;  // At most label_values_max.
  std::uint64_t other_hits_ = 0;
};

}  // namespace postrider
