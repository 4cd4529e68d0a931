// Reads statistics over time. They are kept as sums, which are written in the same transaction as
// what they count; no call reads single deliveries.
//
// The specification is tests/contract/stats_contract.cc. Calls block; one instance per reader
// thread, with the same view of the store as History.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/delivery_tally.h"
#include "core/model/event.h"

namespace postrider {

/// The resolution: the store keeps one sum per span.
constexpr Millis stats_span{300'000};

/// The span that contains `time`. Publishes are counted at the event's creation, attempts and
/// outcomes at their settlement.
[[nodiscard]] constexpr std::int64_t stats_span_of(WallTime time) {
  return std::chrono::floor<std::chrono::duration<std::int64_t, std::ratio<300>>>(
             time.time_since_epoch())
      .count();
}
[[nodiscard]] constexpr WallTime stats_span_start(std::int64_t span) {
  return WallTime{stats_span * span};
}

/// Whole spans: `from` and `to` are rounded outwards.
struct StatsFilter {
  WallTime from;
  WallTime to;  // Exclusive.
  std::optional<WebhookId> webhook_id;
  std::optional<TenantId> tenant_id;
};

struct SpanTally {
  WallTime start;
  DeliveryTally tally;

  bool operator==(const SpanTally&) const = default;
};

struct WebhookTally {
  WebhookId webhook_id;
  DeliveryTally tally;

  bool operator==(const WebhookTally&) const = default;
};

/// Most attempts first, then by id.
inline void sort_by_volume(std::vector<WebhookTally>& webhooks) {
  std::ranges::sort(webhooks, {}, [](const WebhookTally& each) {
    return std::pair{~each.tally.attempts, each.webhook_id};  // The complement: most first.
  });
}

/// The lowest success rate of deliveries first, then the lowest of attempts, then by volume. While
/// no delivery of a webhook has settled, the rate of its attempts takes the place of both. Webhooks
/// without an attempt come last.
inline void sort_worst_first(std::vector<WebhookTally>& webhooks) {
  sort_by_volume(webhooks);
  std::ranges::stable_sort(webhooks, {}, [](const WebhookTally& each) {
    const double attempts = each.tally.attempt_success_rate().value_or(2);  // The last.
    return std::pair{each.tally.delivery_success_rate().value_or(attempts), attempts};
  });
}

class Stats {
 public:
  virtual ~Stats() = default;

  /// One sum per `bucket` (a multiple of stats_span, aligned to 1970), oldest first. Empty buckets
  /// are left out.
  [[nodiscard]] virtual Result<std::vector<SpanTally>> over_time(const StatsFilter& filter,
                                                                 Millis bucket) = 0;

  /// Every webhook with a non-zero sum, most attempts first, then by id.
  [[nodiscard]] virtual Result<std::vector<WebhookTally>> by_webhook(const StatsFilter& filter) = 0;

 protected:
  Stats() = default;
  Stats(const Stats&) = default;
  Stats& operator=(const Stats&) = default;
};

}  // namespace postrider
